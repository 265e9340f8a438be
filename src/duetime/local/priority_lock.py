"""A lock that lets its waiters through in turn: those in a hurry two to one before the others, each kind as it came.

Python's own lock goes to whoever asks first after it was freed, and a thread that makes one call after the other is
mostly first. A claim whose time has come would wait for a whole sweep, where on AWS neither waits for the other.
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
    """One thread at a time. A thread inside may enter again."""

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
        """What this thread enters for within the block is due now."""
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
        waiter.turn.acquire()  # freed by whoever leaves: by then I am inside

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
