"""Methods that an object forwards to one of its collaborators."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def delegate(attribute: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a method that calls the method of the same name of the collaborator in `attribute`."""
    found = attrgetter(f"{attribute}.{method.__name__}")

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = found(self)(*args, **kwargs)
        return result

    return call
