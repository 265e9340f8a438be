"""The processes of a simulated cloud: each has a clock of its own, may stand still, and may die at any call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import count

from duetime.clock import Clock
from duetime.testing.strands import SteppedThread

_NONE = timedelta(0)

Over = Callable[[BaseException | None], None]
"""Told when a process has done its work: with what it raised, or with None."""


Judge = Callable[[str, str, BaseException | None], bool]
"""Says whether a process did what it had to: given who it was, which action it was about, and what it raised."""


class Crashed(BaseException):
    """The process has died: no code of it may notice, so it is no ``Exception``."""


@dataclass(eq=False, slots=True)
class Process:
    """One process of a function, or a caller's."""

    name: str
    offset: timedelta = _NONE
    """How far its clock is ahead."""
    meets_faults: bool = True
    is_dead: bool = False
    stands_until: datetime | None = None
    """It was paused: nothing of it goes on before."""


@dataclass(eq=False, slots=True)
class _Running:
    process: Process
    strand: SteppedThread
    over: Over
    resumes_at: datetime


@dataclass(eq=False, slots=True)
class Processes:
    """Runs processes, one at any moment, by the clock that everybody's clock goes by."""

    clock: Clock
    outside: Process = field(default_factory=lambda: Process("caller", meets_faults=False))
    """Whoever drives the simulation: a test's own code."""
    _now: _Running | None = None
    _parked: list[tuple[datetime, int, _Running]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)

    acting: Process | None = None
    """A caller whose call of a back end is under way."""

    @property
    def current(self) -> Process:
        """Whose code is running."""
        if self.acting is not None:
            return self.acting
        return self._now.process if self._now else self.outside

    def start(self, process: Process, do: Callable[[], object], over: Over) -> None:
        """Have a process do something, up to where it first waits."""
        self._resume(_Running(process, SteppedThread(do), over, self.clock.now()))

    def wait_until(self, at: datetime) -> None:
        """Let the process that is running stand still until `at`, while others go on; at once when that has passed.

        Raises:
            Crashed: it has died meanwhile.
        """
        running = self._now
        if running is None:
            self.clock.wait_until(at)
        elif at > self.clock.now():
            running.resumes_at = at
            running.strand.park()
        if self.current.is_dead:
            raise Crashed

    def pause(self, span: timedelta) -> None:
        """Let the process that is running, with all that it does, stand still for a while."""
        until = self.clock.now() + span
        self.current.stands_until = until
        self.wait_until(until)

    def next_at(self) -> datetime | None:
        """When the next process goes on."""
        return self._parked[0][0] if self._parked else None

    def resume_due(self) -> None:
        """Have all go on whose time has come."""
        while self._parked and self._parked[0][0] <= self.clock.now():
            running = heappop(self._parked)[2]
            stands_until = running.process.stands_until
            if stands_until is not None and stands_until > self.clock.now():
                self._park(running, stands_until)
            else:
                self._resume(running)

    def end(self) -> None:
        """Let everything die that has not ended."""
        while self._parked:
            running = heappop(self._parked)[2]
            running.process.is_dead, running.over = True, lambda _: None
            self._resume(running)

    def _resume(self, running: _Running) -> None:
        before, self._now = self._now, running
        try:
            running.strand.resume()
        finally:
            self._now = before
        if running.strand.is_over:
            running.over(running.strand.error)
        else:
            self._park(running, running.resumes_at)

    def _park(self, running: _Running, at: datetime) -> None:
        heappush(self._parked, (at, next(self._numbers), running))


@dataclass(frozen=True, slots=True)
class ProcessClock:
    """The clock of a process: of the one that is running, unless one is named."""

    processes: Processes
    named: Process | None = None

    def now(self) -> datetime:
        """See `duetime.clock.Clock`, here and below."""
        return self.processes.clock.now() + (self.named or self.processes.current).offset

    def wait_until(self, instant: datetime) -> None:  # noqa: D102
        self.processes.wait_until(instant - (self.named or self.processes.current).offset)
