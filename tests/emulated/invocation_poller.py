"""Simulates Lambda's asynchronous invocation, which EventBridge Scheduler uses.

An invocation is queued and returns at once. A failed function is retried twice, after one and two minutes.
Then the event goes to the dead letters.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from duetime.clock import Clock
from tests.emulated.dead_letters import DeadLetters
from tests.emulated.functions import LocalFunctions
from tests.emulated.poller import Poller, Runs

RETRY_WAITS = (timedelta(minutes=1), timedelta(minutes=2))
_AT_ONCE = 10
_LOOK_ANYWAY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, order=True)
class _Queued:
    at: datetime
    number: int
    function: str = field(compare=False)
    event: Mapping[str, Any] = field(compare=False)
    tries: int = field(compare=False, default=0)


class InvocationPoller(Poller):
    """Invokes functions with queued events, several at once."""

    def __init__(
        self,
        functions: LocalFunctions,
        dead_letters: DeadLetters,
        clock: Clock,
        *,
        retry_waits: Sequence[timedelta] = RETRY_WAITS,
    ) -> None:
        super().__init__("invocations", clock)
        self._functions, self._dead_letters = functions, dead_letters
        self._runs = Runs("invocation", _AT_ONCE, clock)
        self._retry_waits = retry_waits
        self._queued: list[_Queued] = []
        self._numbers = itertools.count()
        self._changing = threading.Lock()

    def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        """Queue an event for a function's ARN; without such a function it goes to the dead letters."""
        if function not in self._functions:
            self._dead_letters.of_delivery(event, function)
            return
        self._queue(_Queued(self.clock.now(), next(self._numbers), function, event))

    def turn(self) -> timedelta:
        """Start due invocations while there is room."""
        while self._runs.room and (queued := self._next()):
            self._runs.start(partial(self._run, queued), self.alarm.ring)
        return _LOOK_ANYWAY

    def finish(self, longest: timedelta) -> int:
        """Wait after a stop for running invocations, at most `longest`; return how many have not ended."""
        return self._runs.wait(longest)

    def _next(self) -> _Queued | None:
        with self._changing:
            if self._queued and self._queued[0].at <= self.clock.now():
                return heapq.heappop(self._queued)
        return None

    def _queue(self, queued: _Queued) -> None:
        with self._changing:
            heapq.heappush(self._queued, queued)
        self.alarm.set_for(queued.at)

    def _run(self, queued: _Queued) -> None:
        outcome = self._functions.invoke(queued.function, queued.event)
        if outcome.error is None:
            return
        if queued.tries < len(self._retry_waits):
            at = self.clock.now() + self._retry_waits[queued.tries]
            self._queue(replace(queued, at=at, tries=queued.tries + 1))
        else:
            self._dead_letters.of_invocation(queued.event, queued.function, outcome.error)
