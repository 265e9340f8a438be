"""Late requests of a simulated cloud: writes that arrive after their caller gave up or repeated them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import count

from duetime.errors import DuetimeError
from duetime.model.action import Action
from duetime.testing.journey import Journal
from duetime_faults.dice import Dice
from duetime_faults.processes import Process, Processes

LATEST = timedelta(minutes=10)
"""The longest time that a request takes."""


@dataclass(frozen=True, slots=True)
class LateRequest:
    """A request under way: who sent it, its method, the action or job, and its write."""

    caller: Process
    what: str
    about: str
    write: Callable[[], object]
    row: Action | None = None
    """The row of an operator's write, as it was when the request was sent."""


@dataclass(eq=False, slots=True)
class LateRequests:
    """Requests under way, each with its time of arrival. Their responses have no receiver."""

    dice: Dice
    processes: Processes
    story: Journal
    arriving: LateRequest | None = None
    """The request that is applied now."""
    _waiting: list[tuple[datetime, int, LateRequest]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)

    def send(self, request: LateRequest) -> None:
        """Let a request arrive after seconds or minutes."""
        arrives_at = self.processes.clock.now() + self.dice.span(LATEST)
        heappush(self._waiting, (arrives_at, next(self._numbers), request))

    def next_at(self) -> datetime | None:
        """Return when the next request arrives."""
        return self._waiting[0][0] if self._waiting else None

    def arrive(self) -> None:
        """Apply the requests that arrive now."""
        while self._waiting and self._waiting[0][0] <= self.processes.clock.now():
            self._apply(heappop(self._waiting)[2])

    def _apply(self, request: LateRequest) -> None:
        self.story.record(request.caller.name, request.about, f"✗ its late {request.what} arrives")
        self.processes.acting, self.arriving = request.caller, request
        try:
            with suppress(DuetimeError):
                request.write()
        finally:
            self.processes.acting = self.arriving = None
