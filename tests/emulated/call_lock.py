"""The lock of moto: one call of an AWS API at a time.

moto's services are plain Python objects. A conditional update there is a read, a comparison and a write.
Two threads could both find a row pending and both claim it, which DynamoDB never allows. Therefore one lock
guards all of moto. It is held for one call only, so a long poll is made a short one.

Python's own lock has no order, and a thread that makes one call after another mostly wins. A due claim
would wait for a complete sweep, although on AWS neither waits for the other. This lock serves its waiters
in order; urgent ones get two turns for one of the others.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, TypeVar

T = TypeVar("T")

RECEIVE = "AmazonSQS.ReceiveMessage"
_LONG_POLL = re.compile(rb'("WaitTimeSeconds"\s*:)\s*\d+')
_URGENT_IN_A_ROW = 2


@dataclass(frozen=True, slots=True)
class AwsCall:
    """The parts of an AWS API call that the local cloud reads.

    Attributes:
        target: ``AmazonSQS.SendMessage``; empty for services that name the operation in the path.
        method: the HTTP method.
        path: the path, with the query if there is one.
        body: the body.
    """

    target: str
    method: str
    path: str
    body: bytes


Listener = Callable[[AwsCall], None]


class _Waiter(NamedTuple):
    thread: int
    turn: threading.Lock


class CallLock:
    """A reentrant lock with priorities, which calls listeners after each AWS call."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._recorder: Listener | None = None
        self._changing = threading.Lock()
        self._urgent: deque[_Waiter] = deque()
        self._others: deque[_Waiter] = deque()
        self._in_a_row = 0
        self._owner: int | None = None
        self._depth = 0
        self._this_thread = threading.local()

    def listen(self, listener: Listener) -> None:
        """Call `listener` after each call, in the thread of the caller; it must be quick."""
        self._listeners.append(listener)

    def record(self, recorder: Listener | None) -> None:
        """Call `recorder` after each call, before its caller has the answer and before the next call."""
        self._recorder = recorder

    def call(self, call: AwsCall, make: Callable[[], T]) -> T:
        """Make a call while no other thread does."""
        with self:
            try:
                answer = make()
            finally:
                if self._recorder is not None:
                    self._recorder(call)
        for listener in self._listeners:
            listener(call)
        return answer

    @property
    def waiting(self) -> int:
        """The number of threads that wait for the lock."""
        return len(self._urgent) + len(self._others)

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Prefer the calls of this thread within the block."""
        self._this_thread.is_urgent = True
        try:
            yield
        finally:
            self._this_thread.is_urgent = False

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._changing:
            if self._owner in {None, me}:
                self._owner, self._depth = me, self._depth + 1
                return
            waiter = _Waiter(me, threading.Lock())
            waiter.turn.acquire()
            waiting = self._urgent if getattr(self._this_thread, "is_urgent", False) else self._others
            waiting.append(waiter)
        waiter.turn.acquire()  # the thread that leaves releases it and makes this one the owner

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._changing:
            self._depth -= 1
            if not self._depth:
                self._pass_on()

    def _pass_on(self) -> None:
        if not self.waiting:
            self._owner = None
            return
        is_urgent = bool(self._urgent) and (self._in_a_row < _URGENT_IN_A_ROW or not self._others)
        self._in_a_row = self._in_a_row + 1 if is_urgent else 0
        waiter = (self._urgent if is_urgent else self._others).popleft()
        self._owner, self._depth = waiter.thread, 1
        waiter.turn.release()


def without_long_poll(target: str, body: bytes) -> bytes:
    """Return the body of a call without SQS' long poll, at the same length."""
    if target != RECEIVE:
        return body
    return _LONG_POLL.sub(lambda found: found[1].ljust(len(found[0]) - 1) + b"0", body)
