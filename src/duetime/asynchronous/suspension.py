"""Runs synchronous code under asyncio: wherever it waits for a response, the event loop continues.

The code runs in a greenlet, in the event loop's own thread. `wait_for` suspends it until an awaitable is
done. So `AsyncScheduler` runs the methods of `Scheduler`, and there is one implementation. It needs the extra
``duetime[async]``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

from duetime import clock

T = TypeVar("T")


class _Suspendable(greenlet):  # type: ignore[misc]
    """A greenlet whose parent is the coroutine that drives it; both have the same context variables."""

    def __init__(self, function: Callable[[], Any]) -> None:
        driver = getcurrent()
        super().__init__(function, driver)
        self.gr_context = driver.gr_context


class _AwaitedClock(clock.SystemClock):
    """The machine's clock; the event loop continues while it waits."""

    def wait_until(self, instant: datetime) -> None:
        wait_for(asyncio.sleep(max(0.0, (instant - self.now()).total_seconds())))


def wait_for(awaitable: Awaitable[T]) -> T:
    """Suspend the calling synchronous code until the awaitable is done; return its result.

    Raises:
        RuntimeError: the caller does not run under `run`.
    """
    current = getcurrent()
    if isinstance(current, _Suspendable):
        result: T = current.parent.switch(awaitable)
        return result
    if isinstance(awaitable, Coroutine):
        awaitable.close()
    raise RuntimeError("an asynchronous client is called outside of AsyncScheduler; await its methods")


async def run(function: Callable[[], T]) -> T:
    """Run synchronous code that calls `wait_for`, and return its result."""
    code = _Suspendable(partial(_with_pauses, function))
    step = code.switch()
    while not code.dead:
        try:
            value = await step
        except BaseException as error:  # noqa: BLE001 - also a cancellation, which the code must see
            step = code.throw(error)
        else:
            step = code.switch(value)
    result: T = step
    return result


def _with_pauses(function: Callable[[], T]) -> T:
    before = clock.PAUSES.set(_AwaitedClock())
    try:
        return function()
    finally:
        clock.PAUSES.reset(before)
