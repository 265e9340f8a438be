"""Structured logs of a Lambda's process: Powertools' JSON, with exceptions of 500 characters at most.

The exception of a handler may contain anything, such as the complete response of another service. This module
imports no user code.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from duetime.errors import truncate

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
_DEEPEST = 10
"""The most exceptions of a chain that are logged, outermost first."""


class LogLines(LambdaPowertoolsFormatter):
    """Formats log records."""

    def __init__(self) -> None:
        super().__init__(
            log_record_order=["timestamp", "level", "message", "action"],
            serialize_stacktrace=False,  # the same traceback once more, with the whole message
        )

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's word
        """Return the tracebacks of the exception and its causes, with truncated messages."""
        return "\n".join(reversed(list(_tracebacks(ei[1]))))

    def serialize(self, log: Any) -> str:
        """Return the line, with truncated notes of the exception."""
        if notes := log.get("exception_notes"):
            log["exception_notes"] = [truncate(note) for note in notes]
        return super().serialize(log)


def _tracebacks(link: BaseException | None) -> Iterator[str]:
    joined = ""
    for _ in range(_DEEPEST):
        if link is None:
            return
        stack = "".join(traceback.format_tb(link.__traceback__))
        text = truncate(link)
        word = truncate(f"{type(link).__name__}: {text}" if text else type(link).__name__)
        yield f"Traceback (most recent call last):\n{stack}{word}{joined}"
        cause = link.__cause__
        joined = _LED_TO if cause is not None else _WHILE
        link = cause if cause is not None or link.__suppress_context__ else link.__context__


_LED_TO = "\n\nThe above exception was the direct cause of the following exception:\n"
_WHILE = "\n\nDuring handling of the above exception, another exception occurred:\n"


def write_json_logs(level: int = logging.INFO) -> None:
    """Write the records of the logger ``duetime`` to standard output, one JSON object a line."""
    from duetime.lambdas.logs import LogLines  # noqa: PLC0415 - only a Lambda's process writes so

    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(LogLines())
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [output], False
    root.setLevel(level)
