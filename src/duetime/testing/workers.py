"""The workers of a simulated cloud: one process for each delivery that is worked on, and as many as it takes."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from heapq import heappop, heappush

from duetime.testing.faults import Dice
from duetime.testing.processes import Process

WORK = "work"


class Workers:
    """Hands out numbers of workers; each number has a clock of its own."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._free: dict[str, list[int]] = {}
        self._skews: dict[tuple[str, int], timedelta] = {}
        self._receives: Counter[str] = Counter()

    def receives(self, receipt: str) -> int:
        """How often a message has been received, with this time."""
        self._receives[receipt] += 1
        return self._receives[receipt]

    def hire(self, queue: str) -> int:
        """The lowest number that has nothing to do."""
        free = self._free.setdefault(queue, [])
        if not free:
            heappush(free, 1 + sum(each == queue for each, _ in self._skews))
            self._skews[queue, free[0]] = self._dice.skew()
        return heappop(free)

    def process(self, queue: str, number: int, *, is_system: bool) -> Process:
        """A fresh process of that worker."""
        return Process(f"{queue if is_system else WORK}-{number}", self._skews[queue, number])

    def let_go(self, queue: str, number: int) -> None:
        """It has nothing more to do."""
        heappush(self._free[queue], number)
