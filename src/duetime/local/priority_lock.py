"""A lock that serves its waiters in order; hurried ones get two turns for one of the others.

Python's own lock has no order, and a thread that makes one call after another mostly wins. A due claim
would wait for a complete sweep, although on AWS neither waits for the other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple

_HURRIED_IN_A_ROW = 2


class _Waiter(NamedTuple):
    thread: int
    turn: threading.Lock


class PriorityLock:
    """A reentrant lock with priorities."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._hurried: deque[_Waiter] = deque()
        self._others: deque[_Waiter] = deque()
        self._in_a_row = 0
        self._inside: int | None = None
        self._depth = 0
        self._this_thread = threading.local()

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Prefer this thread within the block."""
        self._this_thread.hurries = True
        try:
            yield
        finally:
            self._this_thread.hurries = False

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._changing:
            if self._inside in {None, me}:
                self._inside, self._depth = me, self._depth + 1
                return
            waiter = _Waiter(me, threading.Lock())
            waiter.turn.acquire()
            waiting = self._hurried if getattr(self._this_thread, "hurries", False) else self._others
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
                self._let_next_in()

    def _let_next_in(self) -> None:
        if not self._hurried and not self._others:
            self._inside = None
            return
        hurried = bool(self._hurried) and (self._in_a_row < _HURRIED_IN_A_ROW or not self._others)
        self._in_a_row = self._in_a_row + 1 if hurried else 0
        next_one = (self._hurried if hurried else self._others).popleft()
        self._inside, self._depth = next_one.thread, 1
        next_one.turn.release()
