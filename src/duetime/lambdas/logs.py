"""Structured logs of a Lambda's process: Powertools' JSON, with exceptions of 500 characters at most.

The exception of a handler may contain anything, such as the complete response of another service. This module
imports no user code.
"""

from __future__ import annotations

import logging
import sys
from types import TracebackType
from typing import Any

from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from duetime._masking import printable_json
from duetime.errors import truncate
from duetime.telemetry.tracebacks import traceback_of

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class LogLines(LambdaPowertoolsFormatter):
    """Formats log records."""

    def __init__(self) -> None:
        super().__init__(
            log_record_order=["timestamp", "level", "message", "action"],
            serialize_stacktrace=False,  # the same traceback once more, with the whole message
        )

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's word
        """Return the tracebacks of the exception and its causes, with truncated messages."""
        return traceback_of(ei[1])

    def serialize(self, log: Any) -> str:
        """Return the line, with truncated notes of the exception and without control characters."""
        if notes := log.get("exception_notes"):
            log["exception_notes"] = [truncate(note) for note in notes]
        return printable_json(super().serialize(log))


def write_json_logs(level: int = logging.INFO) -> None:
    """Write the records of the logger ``duetime`` to standard output, one JSON object a line."""
    from duetime.lambdas.logs import LogLines  # noqa: PLC0415 - only a Lambda's process writes so

    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(LogLines())
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [output], False
    root.setLevel(level)
