"""Asynchronous forms of a class's methods."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class Awaited(Generic[S]):
    """An object whose methods are those of a synchronous one, awaited."""

    def __init__(self, synchronous: S) -> None:
        self._synchronous = synchronous


def awaited(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[Awaited[S], P], Coroutine[Any, Any, T]]:
    """Return the asynchronous form of a method: the same arguments, result and exceptions."""

    @wraps(method)
    async def call(self: Awaited[S], /, *args: P.args, **kwargs: P.kwargs) -> T:
        from duetime.asynchronous.suspension import run  # noqa: PLC0415 - it needs the extra

        return await run(partial(method, self._synchronous, *args, **kwargs))

    return call
