"""Log lines of runs on the local cloud: the latest ones of this process, in memory."""

from __future__ import annotations

import logging
from collections import deque
from datetime import UTC, datetime
from typing import Self

from duetime.model.action import Action
from duetime.ports.run_logs import MOST_LINES, LogLine, LogPage
from duetime.telemetry.tracebacks import traceback_of

_LATEST = 20_000
"""The most lines that are kept, of all actions."""


class LocalRunLogs(logging.Handler):
    """Keeps the lines that name an action.

    See `duetime.ports.run_logs.RunLogs`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[tuple[tuple[object, object], LogLine]] = deque(maxlen=_LATEST)

    def __enter__(self) -> Self:
        """Keep duetime's lines and those of handlers, from now on."""
        logging.getLogger("duetime").addHandler(self)
        return self

    def __exit__(self, *_error: object) -> None:
        logging.getLogger("duetime").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        fields = vars(record)
        if "action" not in fields or "tenant" not in fields:
            return
        raised = record.exc_info[1] if record.exc_info else None
        message, reason = record.getMessage(), fields.get("reason")
        line = LogLine(
            at=datetime.fromtimestamp(record.created, UTC),
            level=record.levelname,
            message=f"{message}: {reason}" if reason else message,
            exception=None if raised is None else traceback_of(raised),
        )
        self._lines.append(((fields["tenant"], fields["action"]), line))

    def lines(self, action: Action, worker: str, since: datetime, until: datetime) -> LogPage:
        """See `duetime.ports.run_logs.RunLogs`."""
        del worker  # a local cloud has a single one
        mine = action.tenant_id, action.id
        found = [line for key, line in [*self._lines] if key == mine and since <= line.at <= until]
        found.sort(key=lambda line: line.at)
        return LogPage(found[:MOST_LINES], len(found) <= MOST_LINES)
