"""What each Lambda's process writes: structured logs. It imports no user code and nothing that user code needs.

Powertools' formatter writes the same, and its package costs each cold start a twentieth of what boto3 costs.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""Fields of every record; what a record has beside them was given as ``extra``."""


class JsonLines(logging.Formatter):
    """Each record as a JSON object on a line: timestamp, level, message, action, place, what else was given, exception."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's line. What JSON does not know is written as its text, what is None not at all."""
        at = datetime.fromtimestamp(record.created, UTC)
        given = {name: each for name, each in vars(record).items() if name not in _USUAL and each is not None}
        told: dict[str, object] = {
            "timestamp": at.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "message": record.getMessage(),
        }
        if "action" in given:
            told["action"] = given.pop("action")
        told |= {"location": f"{record.name}:{record.lineno}", **given}
        if record.exc_info and record.exc_info[0]:
            told |= {
                "exception": self.formatException(record.exc_info),
                "exception_name": record.exc_info[0].__name__,
            }
        line = json.dumps(told, default=str, ensure_ascii=False, separators=(",", ":"))
        return line.encode(errors="backslashreplace").decode()


def write_json_logs(level: int = logging.INFO) -> None:
    """Have everything below the logger ``duetime`` written to standard output, one JSON object a line."""
    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(JsonLines())
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [output], False
    root.setLevel(level)
