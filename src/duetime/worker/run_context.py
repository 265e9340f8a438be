"""The context of one run: empty, but for its span. Nothing of a caller or of another run reaches it.

It holds the context variables, and so the context of ``decimal``. Powertools keeps the keys of a logger
in its formatter, which all runs of a process share; within a run, the formatter has keys of that run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import Context, ContextVar
from importlib import import_module
from typing import Any, TypeVar

from duetime.telemetry.spans import TraceSpan

T = TypeVar("T")

_POWERTOOLS = "aws_lambda_powertools.logging.formatter"
_keys_of_run: ContextVar[dict[Any, dict[str, Any]] | None] = ContextVar("log keys of the run", default=None)


def isolated(call: Callable[[], T], span: TraceSpan) -> T:
    """Call a function in a context of its own, below a span; return what it returns."""
    return Context().run(_begin, call, span)


def _begin(call: Callable[[], T], span: TraceSpan) -> T:
    if _POWERTOOLS in sys.modules:  # perhaps of an import that another thread has begun: that is waited for
        import_module(_POWERTOOLS).LambdaPowertoolsFormatter.log_format = _LogFormat()
        _keys_of_run.set({})
    with span.current():
        return call()


class _LogFormat:
    """Replaces a formatter's ``log_format``: a run changes a copy of its own."""

    def __get__(self, formatter: Any, _owner: object = None) -> Any:
        if formatter is None:
            return self
        keys, of_run = vars(formatter)["log_format"], _keys_of_run.get()
        return keys if of_run is None else of_run.setdefault(formatter, dict(keys))

    def __set__(self, formatter: Any, keys: dict[str, Any]) -> None:
        of_run = _keys_of_run.get()
        if of_run is None:
            vars(formatter)["log_format"] = keys
        else:  # also of a logger that the run makes
            vars(formatter).setdefault("log_format", dict(keys))
            of_run[formatter] = keys
