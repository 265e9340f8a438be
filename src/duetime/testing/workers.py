"""The workers of a simulated cloud: one process for each running delivery."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from heapq import heappop, heappush

from duetime.testing.faults import Dice
from duetime.testing.processes import Process

WORK = "work"


class Workers:
    """Assigns worker numbers; each number has a clock of its own."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._free: dict[str, list[int]] = {}
        self._skews: dict[tuple[str, int], timedelta] = {}
        self._receives: Counter[str] = Counter()

    def receives(self, receipt: str) -> int:
        """Count a receive of a message; return the total."""
        self._receives[receipt] += 1
        return self._receives[receipt]

    def hire(self, queue: str) -> int:
        """Return the lowest idle number."""
        free = self._free.setdefault(queue, [])
        if not free:
            heappush(free, 1 + sum(name == queue for name, _ in self._skews))
            self._skews[queue, free[0]] = self._dice.skew()
        return heappop(free)

    def process(self, queue: str, number: int, *, is_system: bool) -> Process:
        """Return a new process of that worker."""
        return Process(f"{queue if is_system else WORK}-{number}", self._skews[queue, number])

    def let_go(self, queue: str, number: int) -> None:
        """Make a worker idle."""
        heappush(self._free[queue], number)
