"""What the result of a handler's call means. `executed` states that the handler's body ran to its end.

=======================================  ================================================================
the call returns                         the run
=======================================  ================================================================
None, or a value                         has ended; the value is ignored
a hand-over                              hands its action over
an awaitable, or a thread pool's future  goes on until that has ended, up to the time-out
a generator, `map`, or context manager   fails for good: nothing would do the work
a function, or an object to be called    fails for good, likewise
a container of awaitables or of these    fails for good, likewise; a future in it that has failed raises
=======================================  ================================================================

An async handler that swallows its cancellation at the time-out has timed out all the same.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import (
    AsyncGenerator,
    Callable,
    Coroutine,
    Generator,
    ItemsView,
    Iterable,
    KeysView,
    ValuesView,
)
from types import MappingProxyType, SimpleNamespace
from typing import Any

from duetime.model.hand_over import HandedOver
from duetime.model.run import Run, RunTimedOut
from duetime.retry import Fatal

_LAZY = (Generator, AsyncGenerator, map, filter, zip, enumerate, reversed, type(iter(int, 1)))
_MANY = (list, tuple, set, frozenset, deque, KeysView, ValuesView, ItemsView)
_MOST_PARTS = 1_000  # are looked at, and those in the last of them, the outer ones first

RunCoroutine = Callable[[Coroutine[Any, Any, None]], object]
"""Runs a coroutine that raises nothing, and returns when it has ended."""


def result_of(result: object, run: Run, run_coroutine: RunCoroutine | None, where: str) -> HandedOver | None:
    """Return the hand-over that a call's result is; None if the handler's body has run to its end.

    Args:
        result: what the function returned.
        run: the facts of the attempt.
        run_coroutine: runs an async handler; by default on a new event loop.
        where: where the handler is defined.

    Raises:
        Fatal: its work has not been done, and never would be.
        RunTimedOut: the time-out came before the end of an awaitable.
    """
    if result is None:
        return None
    if _is_awaitable(result):
        result = _ended(result, run, run_coroutine, where)
    else:
        _check(result, where)
    return result if isinstance(result, HandedOver) else None


def _is_awaitable(value: object) -> bool:
    from concurrent.futures import Future  # noqa: PLC0415 - most handlers return nothing

    return inspect.isawaitable(value) or isinstance(value, Future)


def _check(result: object, where: str) -> None:
    """Raise if a part of a result, at any depth, does its work later, or is a future that has failed."""
    parts = [result]
    for part in parts:  # which grow meanwhile
        if _is_undone(part):
            raise Fatal(
                f"{where} returned {type(result).__name__!r}, which does its work when it is awaited, called,"
                " read or entered, and nothing does that. Let the handler do its work itself, and return"
                " nothing"
            )
        if len(parts) < _MOST_PARTS:
            parts += list(_within(part))[:_MOST_PARTS]


def _within(part: Any) -> Iterable[object]:
    many = vars(part) if isinstance(part, SimpleNamespace) else part
    if isinstance(many, dict | MappingProxyType):
        return many.items()
    if isinstance(many, _MANY):
        return many
    return [part.result()] if _is_awaitable(part) else ()  # of a future that is done


def _is_undone(part: object) -> bool:
    """Return whether a value does its work later: when it is awaited, called, read or entered.

    An iterator such as a cursor or an open file has done its work. A class is a value.
    """
    return (
        (_is_awaitable(part) and not getattr(part, "done", bool)())  # only a future has `done`
        or (callable(part) and not isinstance(part, type))
        or isinstance(part, _LAZY)
        or type(part).__module__ in {"itertools", "contextlib"}
    )


def _ended(result: Any, run: Run, run_coroutine: RunCoroutine | None, where: str) -> object:
    """Return what an awaitable returns in the end; a coroutine that returns another is followed.

    Its parts are checked before the event loop ends, which cancels the tasks among them.
    """
    import asyncio  # noqa: PLC0415 - only for async handlers

    left, raised, returned = (run.deadline - run.now()).total_seconds(), list[BaseException](), list[object]()

    async def caught() -> None:
        """Keep the exception away from the event loop, which calls its ``repr()``, and exits for some."""
        try:
            async with asyncio.timeout(left) as limit:
                returned.append(await _last(result))
            if limit.expired():
                raise TimeoutError  # noqa: TRY301 - as if it had not been swallowed
            _check(returned[0], where)
        except BaseException as error:  # noqa: BLE001 - raised again outside of the loop
            timed_out = isinstance(error, TimeoutError) and limit.expired()
            raised.append(RunTimedOut(run.deadline) if timed_out else error)

    is_of_idle_loop = asyncio.isfuture(result) and not result.get_loop().is_running()
    run_it = result.get_loop().run_until_complete if is_of_idle_loop else run_coroutine or asyncio.run
    run_it(caught())
    if raised:
        raise raised[0]
    return returned[0]


async def _last(result: Any) -> object:
    import asyncio  # noqa: PLC0415 - loaded already

    while _is_awaitable(result):
        loop = result.get_loop() if asyncio.isfuture(result) else None
        if loop not in {None, asyncio.get_running_loop()} and loop.is_running():
            result = asyncio.run_coroutine_threadsafe(_last(result), loop)
        result = await (result if inspect.isawaitable(result) else asyncio.wrap_future(result))
    return result
