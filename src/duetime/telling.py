"""Telling: what the log says of a run's end."""

from __future__ import annotations

from datetime import datetime

from duetime.action import Action, Status
from duetime.outcome import Outcome

LOST = "lease lost, the run's end changes nothing"
WORDS = {status: status.value for status in Status} | {Status.PENDING: "will run again"}
"""What has become of the action, by the status that the run has left it in."""


def told(action: Action, outcome: Outcome, finished_at: datetime) -> dict[str, object]:
    """The fields of the line: of which run it is, how late it began, and how long it took."""
    started_at = action.attempts[-1].started_at
    return {
        "action": action.id,
        "tenant": action.tenant_id,
        "type": action.type,
        "attempt": action.attempt,
        "late_ms": round((started_at - action.due_at).total_seconds() * 1000, 1),
        "ran_ms": round((finished_at - started_at).total_seconds() * 1000, 1),
        "reason": outcome.message,
    }
