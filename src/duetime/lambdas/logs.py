"""Structured logs of a Lambda's process, in the form of Powertools' Logger, with short exceptions.

The exception of a handler may contain anything, such as the complete response of another service. This module
imports no user code, and not Powertools: that would lengthen each cold start by a twentieth.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from types import TracebackType
from typing import Any

from duetime._masking import printable_json, without_tokens
from duetime.environment import trace_id
from duetime.errors import truncate
from duetime.telemetry.tracebacks import traceback_of

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

_OF_LOGGING = frozenset(vars(logging.makeLogRecord({}))) - {"taskName"} | {
    "asctime",
    "level",
    "location",
    "timestamp",
}
"""The attributes of a record that are no fields of its line."""


class LogLines(logging.Formatter):
    """Formats each record as one JSON object, in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with truncated notes of the exception and without control characters."""
        extra = {name: value for name, value in vars(record).items() if name not in _OF_LOGGING}
        line = {
            "timestamp": self.formatTime(record),
            "level": record.levelname,
            "message": None,
            "action": None,
            "location": f"{record.funcName}:{record.lineno}",
            **extra,
        }
        line["message"] = _message_of(record)
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line.setdefault("exception", self.formatException(record.exc_info))
            line.setdefault("exception_name", type(error).__name__)
            line.setdefault("exception_notes", getattr(error, "__notes__", None))
        if notes := line.get("exception_notes"):
            line["exception_notes"] = [truncate(note) for note in notes]
        line["xray_trace_id"] = trace_id()
        present = {name: value for name, value in line.items() if value is not None}
        text = json.dumps(present, default=str, separators=(",", ":"), ensure_ascii=False)
        return printable_json(without_tokens(text))

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802, ARG002 - logging's
        """Return the local time with milliseconds and the offset: ``2027-06-01 09:00:00,250+0000``."""
        at = time.localtime(record.created)
        return time.strftime(f"%Y-%m-%d %H:%M:%S,{int(record.msecs):03d}%z", at)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's word
        """Return the tracebacks of the exception and its causes, with truncated messages."""
        return traceback_of(ei[1])


def _message_of(record: logging.LogRecord) -> Any:
    """Return the message; one that is JSON as its value."""
    if record.args and not isinstance(record.msg, dict):
        return record.getMessage()
    if not isinstance(record.msg, str):
        return record.msg
    try:
        return json.loads(record.msg)
    except ValueError:
        return record.msg


def write_json_logs(level: int = logging.INFO) -> None:
    """Write the records of the logger ``duetime`` to standard output, one JSON object a line."""
    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(LogLines())
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [output], False
    root.setLevel(level)
