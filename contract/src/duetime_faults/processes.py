"""The processes of a simulated cloud: each has a clock, may pause, and may crash at any call.

A process runs in a stepped thread: it runs only while its caller waits for it, so no two run at once. The
caller alone decides the order. A simulation can suspend one process, resume another, and repeat both exactly.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count

from duetime.clock import Clock
from duetime.model.run import WorkerDied
from duetime.testing.journey import SimulationStuck
from duetime_faults.dice import Dice


class SteppedThread:
    """Runs `do` in steps: `resume` continues to the next `park` or to the end."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do
        self._thread_in_use: _PooledThread | None = None
        self.is_over = False
        self.error: BaseException | None = None

    def resume(self) -> None:
        """Continue, and return when it has parked or ended. The caller calls it."""
        if self._thread_in_use is None:
            try:
                self._thread_in_use = _idle.pop()
            except IndexError:
                self._thread_in_use = _PooledThread()
            self._thread_in_use.thread = self
        self._thread_in_use.go_on()
        if self.is_over:
            _idle.append(self._thread_in_use)

    def park(self) -> None:
        """Wait for the next `resume`. The thread itself calls it."""
        if self._thread_in_use is not None:
            self._thread_in_use.stand_still()

    def live(self) -> None:
        """Run `do` and store its error."""
        try:
            self._do()
        except BaseException as error:  # noqa: BLE001 - the caller handles it
            self.error = error
        self.is_over = True


class _PooledThread(threading.Thread):
    """A thread that runs one stepped thread after another."""

    def __init__(self) -> None:
        super().__init__(name="duetime-simulated", daemon=True)
        self.thread: SteppedThread | None = None
        self._go, self._stopped = _closed(), _closed()
        self.start()

    def go_on(self) -> None:
        """Let it work until it parks. The caller calls it.

        Raises:
            SimulationStuck: it has stood still in one place, as for a lock that a parked one holds.
        """
        self._go.release()
        stood_at = None
        while not self._stopped.acquire(timeout=LOOK):
            frame = sys._current_frames()[self.ident or 0]  # noqa: SLF001 - Python's only way
            if stood_at == (id(frame), frame.f_lasti) and frame.f_trace is None:  # a debugger traces it
                raise SimulationStuck(
                    f"a process has stood still for {LOOK:g} seconds. It may wait for a lock that a suspended"
                    " process holds: release locks before you call duetime. It stands at\n"
                    f"{''.join(traceback.format_stack(frame)[-3:])}"
                )
            stood_at = id(frame), frame.f_lasti

    def stand_still(self) -> None:
        """Wait until it may continue. The thread itself calls it."""
        self._stopped.release()
        self._go.acquire()

    def run(self) -> None:
        self._go.acquire()
        while True:
            thread, self.thread = self.thread, None
            if thread is not None:
                thread.live()
            del thread  # release its objects while idle
            self.stand_still()


_idle: list[_PooledThread] = []
LOOK = 60.0
"""Seconds of the machine's time between two looks at a process that neither parks nor ends."""


def _closed() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


_NONE = timedelta(0)

Over = Callable[[BaseException | None], None]
"""Receives the error of a finished process, or None."""


Judge = Callable[[str, str, BaseException | None], bool]
"""Returns whether a process succeeded; receives its name, the action, and its error."""


class Crashed(WorkerDied):
    """The process has crashed; handlers must not catch it, so it is no ``Exception``."""


class TimedOut(Crashed):
    """Lambda has ended the process at its time-out."""


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
    ends_at: datetime | None = None
    """When Lambda ends it, by the common clock."""


@dataclass(eq=False, slots=True)
class _Running:
    process: Process
    thread: SteppedThread
    over: Over
    resumes_at: datetime
    is_thread: bool = False
    """It is a thread of a process that waits for it."""
    waits: bool = False
    """It resumes when its threads have ended."""


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

    def at_once(self, steps: Sequence[Callable[[], None]]) -> None:
        """Run steps at the same time, as threads of the running process, and wait for all.

        Raises:
            WorkerDied: one ended the process, and with it the others.
        """
        parent = self._now
        if parent is None:
            raise RuntimeError("only a process has threads")
        left, died = len(steps), list[BaseException]()

        def over(error: BaseException | None) -> None:
            nonlocal left
            left -= 1
            if error is not None:
                parent.process.is_dead = True
                died.append(error)
            if left == 0 and parent.waits:
                parent.waits = False
                self._resume(parent)

        for step in steps:
            thread = SteppedThread(partial(copy_context().run, step))
            self._resume(_Running(parent.process, thread, over, self.clock.now(), is_thread=True))
        if left > 0:
            parent.waits = True
            parent.thread.park()
        if died:
            raise died[0]

    def wait_until(self, at: datetime) -> None:
        """Suspend the running process until `at`, while others go on.

        Raises:
            Crashed: it crashed meanwhile.
        """
        running = self._now
        if running is None:
            self.clock.wait_until(at)
        elif at > self.clock.now():
            ends_at = running.process.ends_at or at
            running.resumes_at = min(at, ends_at)
            running.thread.park()
            if ends_at < at and not running.process.is_dead:
                running.process.is_dead = True
                raise TimedOut
        if self.current.is_dead:
            raise Crashed

    def pause(self, span: timedelta) -> None:
        """Pause the running process with all its threads."""
        until = self.clock.now() + span
        until = min(until, self.current.ends_at or until)
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
            running.process.is_dead = True
            if not running.is_thread:
                running.over = lambda _: None
            self._resume(running)

    def _resume(self, running: _Running) -> None:
        before, self._now = self._now, running
        try:
            running.thread.resume()
        finally:
            self._now = before
        if running.thread.is_over:
            running.over(running.thread.error)
        elif not running.waits:
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
        now, offset = self.processes.clock.now(), (self.named or self.processes.current).offset
        return now + offset if offset else now

    def wait_until(self, instant: datetime) -> None:
        """Suspend the running process until `at`, while others go on.

        Raises:
            Crashed: it crashed meanwhile.
        """
        self.processes.wait_until(instant - (self.named or self.processes.current).offset)

    def elapsed(self) -> float:
        """Return the simulation's time in seconds; a process's offset is no part of it."""
        return self.processes.clock.now().timestamp()


WORK = "work"


class Workers:
    """Assigns worker numbers; each number has a clock of its own."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._free: dict[str, list[int]] = {}
        self._busy: dict[str, int] = {}
        self._skews: dict[tuple[str, int], timedelta] = {}
        self._receives: Counter[str] = Counter()

    @property
    def busy(self) -> int:
        """The number of working workers of all queues."""
        return sum(self._busy.values())

    def busy_in(self, queue: str) -> int:
        """Return the number of working workers of one queue."""
        return self._busy.get(queue, 0)

    def receives(self, receipt: str) -> int:
        """Count a receive of a message; return the total."""
        self._receives[receipt] += 1
        return self._receives[receipt]

    def hire(self, queue: str) -> int:
        """Return the lowest idle number."""
        free = self._free.setdefault(queue, [])
        self._busy[queue] = self.busy_in(queue) + 1
        if not free:
            heappush(free, 1 + sum(name == queue for name, _ in self._skews))
            self._skews[queue, free[0]] = self._dice.skew()
        return heappop(free)

    def process(self, queue: str, number: int, *, is_system: bool) -> Process:
        """Return a new process of that worker."""
        return Process(f"{queue if is_system else WORK}-{number}", self._skews[queue, number])

    def let_go(self, queue: str, number: int) -> None:
        """Make a worker idle."""
        self._busy[queue] -= 1
        heappush(self._free[queue], number)
