"""Invokes functions of a simulated cloud as EventBridge and Lambda do: late, twice or never, with retries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count

from duetime.testing.faults import DeadLetter
from duetime.testing.journey import Journal
from duetime_faults.dice import Dice
from duetime_faults.processes import Judge, Process, Processes

RETRIES = {"dispatch": 2, "event": 2, "sweep": 0, "catch-up": 1}
"""The retries of a failed invocation, by function, as the CDK constructs set them."""

TIME_OUTS = {
    "dispatch": timedelta(seconds=30),
    "event": timedelta(seconds=30),
    "sweep": timedelta(seconds=55),
    "catch-up": timedelta(minutes=15),
    "arm": timedelta(seconds=60),
    "publish": timedelta(seconds=60),
    "notify": timedelta(minutes=3),
}
"""The time-outs of the functions, as the CDK constructs set them."""

LATEST = timedelta(minutes=5)
_RETRY_AFTER = timedelta(minutes=1)


Done = Callable[[str, datetime, BaseException | None], None]
"""Receives the function, the start of a call that has ended, and its error."""


@dataclass(eq=False, slots=True)
class FunctionCall:
    """An asynchronous invocation of a function."""

    function: str
    do: Callable[[], object]
    done: Done
    retries_left: int


class FunctionCalls:
    """Makes calls in processes of their own."""

    def __init__(self, dice: Dice, processes: Processes, story: Journal, judge: Judge) -> None:
        self._dice, self._processes, self._story, self._judge = dice, processes, story, judge
        self._waiting: list[tuple[datetime, int, FunctionCall]] = []
        self._numbers = count()
        self.dead_letters: list[DeadLetter] = []

    def next_at(self) -> datetime | None:
        """Return the time of the next call."""
        return self._waiting[0][0] if self._waiting else None

    def invoke(self, function: str, do: Callable[[], object], done: Done) -> None:
        """Call a function, unless a fault loses its wake; events are never lost."""
        if function != "event" and self._dice.hits(self._dice.faults.drop):
            self._record(f"✗ a wake of {function} is lost")
            return
        self._come(FunctionCall(function, do, done, RETRIES[function]))
        if self._dice.hits(self._dice.faults.double):
            self._record(f"✗ a wake of {function} is doubled")
            self._come(FunctionCall(function, do, done, RETRIES[function]))

    def make_due(self) -> None:
        """Make the calls that are due."""
        while self._waiting and self._waiting[0][0] <= self._processes.clock.now():
            self._make(heappop(self._waiting)[2])

    def give_up(self, function: str, about: str = "") -> None:
        """Store a dead letter."""
        self._story.record(function, about, "is given up: a dead letter")
        self.dead_letters.append(DeadLetter(self._processes.clock.now(), function, about))

    def _come(self, call: FunctionCall) -> None:
        if self._dice.hits(self._dice.faults.delay):
            late = self._dice.span(LATEST)
            self._record(f"✗ a wake of {call.function} is {late.total_seconds():.3f} s late")
            self._add(late, call)
        else:
            self._make(call)

    def _add(self, late: timedelta, call: FunctionCall) -> None:
        heappush(self._waiting, (self._processes.clock.now() + late, next(self._numbers), call))

    def _make(self, call: FunctionCall) -> None:
        over = partial(self._over, call, self._processes.clock.now())
        self._processes.start(self.process(call.function), call.do, over)

    def process(self, function: str) -> Process:
        """Return a new process of a function, which Lambda ends at its time-out."""
        ends_at = self._processes.clock.now() + TIME_OUTS[function]
        return Process(function, self._dice.skew(), ends_at=ends_at)

    def _over(self, call: FunctionCall, began_at: datetime, error: BaseException | None) -> None:
        is_success = self._judge(call.function, "", error)
        call.done(call.function, began_at, error)
        if is_success:
            return
        if call.retries_left:
            call.retries_left -= 1
            self._add(_RETRY_AFTER, call)
        else:
            self.give_up(call.function)

    def _record(self, what: str) -> None:
        self._story.record("wake", "", what)
