"""Make many independent calls at once: in threads, or one by one over a client that is not ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import Protocol, TypeVar

T = TypeVar("T")

MOST = 16
"""Calls at once: half of the connections that a client holds open."""


class AtOnce(Protocol):
    """Calls a function with each item. After an error it begins no further call, and raises the error."""

    def __call__(self, call: Callable[[T], object], items: Iterable[T]) -> None:
        """Call `call` with each of `items`."""


def one_by_one(call: Callable[[T], object], items: Iterable[T]) -> None:
    """Call `call` with each item, in order."""
    for item in items:
        call(item)


def in_threads(call: Callable[[T], object], items: Iterable[T]) -> None:
    """Call `call` in at most `MOST` threads, each with the caller's context variables."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only bulk calls load it

    with ThreadPoolExecutor(MOST, thread_name_prefix="duetime") as pool:
        results = [pool.submit(copy_context().run, call, item) for item in items]
        try:
            for result in results:
                result.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
