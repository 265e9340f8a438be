"""The processes of a simulated cloud: each has a clock, may pause, and may crash at any call."""

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
"""Receives the error of a finished process, or None."""


Judge = Callable[[str, str, BaseException | None], bool]
"""Returns whether a process succeeded; receives its name, the action, and its error."""


class Crashed(BaseException):
    """The process has crashed; handlers must not catch it, so it is no ``Exception``."""


@dataclass(eq=False, slots=True)
class Process:
    """One process of a function or caller."""

    name: str
    offset: timedelta = _NONE
    """The offset of its clock."""
    meets_faults: bool = True
    is_dead: bool = False
    paused_until: datetime | None = None
    """The end of its pause."""


@dataclass(eq=False, slots=True)
class _Running:
    process: Process
    strand: SteppedThread
    over: Over
    resumes_at: datetime


@dataclass(eq=False, slots=True)
class Processes:
    """Runs processes one at a time, by a common clock."""

    clock: Clock
    outside: Process = field(default_factory=lambda: Process("caller", meets_faults=False))
    """The test that drives the simulation."""
    _now: _Running | None = None
    _parked: list[tuple[datetime, int, _Running]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)

    acting: Process | None = None
    """The caller whose call of a back end is running."""

    @property
    def current(self) -> Process:
        """The running process."""
        if self.acting is not None:
            return self.acting
        return self._now.process if self._now else self.outside

    def start(self, process: Process, do: Callable[[], object], over: Over) -> None:
        """Start work in a process, up to its first wait."""
        self._resume(_Running(process, SteppedThread(do), over, self.clock.now()))

    def wait_until(self, at: datetime) -> None:
        """Suspend the running process until `at`, while others go on.

        Raises:
            Crashed: it crashed meanwhile.
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
        """Pause the running process with all its threads."""
        until = self.clock.now() + span
        self.current.paused_until = until
        self.wait_until(until)

    def next_at(self) -> datetime | None:
        """Return when the next process resumes."""
        return self._parked[0][0] if self._parked else None

    def resume_due(self) -> None:
        """Resume the processes that are due."""
        while self._parked and self._parked[0][0] <= self.clock.now():
            running = heappop(self._parked)[2]
            paused_until = running.process.paused_until
            if paused_until is not None and paused_until > self.clock.now():
                self._park(running, paused_until)
            else:
                self._resume(running)

    def end(self) -> None:
        """Crash all processes that have not ended."""
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
    """The clock of the running process, or of a named one."""

    processes: Processes
    named: Process | None = None

    def now(self) -> datetime:
        """See `duetime.clock.Clock`, here and below."""
        return self.processes.clock.now() + (self.named or self.processes.current).offset

    def wait_until(self, instant: datetime) -> None:  # noqa: D102
        self.processes.wait_until(instant - (self.named or self.processes.current).offset)
