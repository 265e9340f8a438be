"""Tests of many cases that differ in their values alone, as one test."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[..., Any]:
    """Run the test for each case in turn, as `parametrize` does, but as one test; its error names the case.

    Ten thousand tests cost half a minute even if they do nothing. The cases share the test's fixtures.
    """
    names = tuple(names.replace(" ", "").split(",")) if isinstance(names, str) else names
    cases = [*cases]
    assert cases, names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(*itself: Any, **fixtures: Any) -> None:
            for case in cases:
                values = case if len(names) > 1 else (case,)
                try:
                    test(*itself, **fixtures, **dict(zip(names, values, strict=True)))
                except BaseException as error:
                    error.add_note(f"in the case {dict(zip(names, values, strict=True))!r}")
                    raise

        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in names]
        assert len(others) + len(names) == len(signature.parameters), names
        run.__signature__ = signature.replace(parameters=others)
        return run

    return decorate
