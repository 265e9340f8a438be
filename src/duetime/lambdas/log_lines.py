"""The form of a log line: Powertools' JSON, with no message of an exception beyond 500 characters.

A handler's exception may say anything, such as a whole answer of another service.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from duetime.errors import truncate

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
_DEEPEST = 10
"""The logged exceptions of a chain, outermost first."""


class LogLines(LambdaPowertoolsFormatter):
    """Formats records of what happened."""

    def __init__(self) -> None:
        super().__init__(
            log_record_order=["timestamp", "level", "message", "action"],
            serialize_stacktrace=False,  # the same traceback once more, with the whole message
        )

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's word
        """The traceback, and those of the exceptions that led to it, each with its message cut."""
        error = ei[1]
        if error is None:
            return ""
        return "\n".join(reversed(list(_traced(error))))

    def serialize(self, log: Any) -> str:
        """The line; what was noted on an exception is cut, too."""
        if notes := log.get("exception_notes"):
            log["exception_notes"] = [truncate(note) for note in notes]
        return super().serialize(log)


def _traced(error: BaseException) -> Iterator[str]:
    """The outermost exception first, each with the words that join it to the one before it."""
    link: BaseException | None = error
    joined = ""
    for _ in range(_DEEPEST):
        if link is None:
            return
        yield _lines_of(link) + joined
        cause = link.__cause__
        joined = _LED_TO if cause is not None else _WHILE
        link = cause if cause is not None or link.__suppress_context__ else link.__context__


_LED_TO = "\n\nThe above exception was the direct cause of the following exception:\n"
_WHILE = "\n\nDuring handling of the above exception, another exception occurred:\n"


def _lines_of(error: BaseException) -> str:
    stack = "".join(traceback.format_tb(error.__traceback__))
    word = truncate(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    return f"Traceback (most recent call last):\n{stack}{word}"
