"""A property that is computed at its first use, without a lock. Imports nothing of duetime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class lazy_property(Generic[_T]):  # noqa: N801 - a decorator, used as `property` is
    """Compute an attribute at its first use and keep it in the instance.

    `functools.cached_property` of Python 3.11 holds one lock for all instances of a class while it computes.
    One read that hangs would stop every thread. Here, threads that come at once may each compute the value;
    all of them get the first one that was stored.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy_property[_T] | _T:
        """Return the stored value, or compute it; later reads find it in the instance, without this call."""
        if instance is None:
            return self
        value: _T = vars(instance).setdefault(self._name, self._compute(instance))
        return value
