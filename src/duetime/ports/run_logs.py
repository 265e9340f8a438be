"""The interface to the log lines of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.model.action import Action

MOST_LINES = 200
"""The most lines of an attempt that are returned."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a worker logged about an action.

    Attributes:
        at: when it was logged.
        level: such as ``INFO``.
        exception: the traceback that was logged with it.
        trace_id: X-Ray's, of the invocation.
    """

    at: datetime
    level: str
    message: str
    exception: str | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class LogPage:
    """The lines of some attempts of an action, the oldest first.

    Attributes:
        is_complete: whether there are no further lines, as far as the log has been written.
    """

    lines: Sequence[LogLine]
    is_complete: bool


class RunLogs(Protocol):
    """The logs of the workers."""

    def lines(self, action: Action, worker: str, since: datetime, until: datetime) -> LogPage:
        """Return the lines whose fields name this action and its tenant, at most `MOST_LINES`.

        Args:
            action: the row.
            worker: whose function ran it.
            since: no earlier line is returned.
            until: no later one.
        """
