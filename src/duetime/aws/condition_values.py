"""Values and names that the conditional writes of actions share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from duetime import instant
from duetime.model.action import Action, Status

STATUS_NAME = {"#status": "status"}
STATUS_AND_TTL = {"#status": "status", "#ttl": "ttl"}
"""Names of attributes that DynamoDB reserves."""

ONE = {"N": "1"}


def fence_values(claimed: Action) -> dict[str, Any]:
    """Return the status and the fence of a run."""
    return {":processing": status_value(Status.PROCESSING), ":fence": {"N": str(claimed.fence)}}


def generation_value(row: Action) -> dict[str, Any]:
    """Return the generation of a row as read."""
    return {":generation": {"N": str(row.generation)}}


def author_values(by: str, at: datetime) -> dict[str, Any]:
    """Return the author and the time of a change."""
    return {":by": {"S": by}, ":at": instant_value(at)}


def status_value(status: Status) -> dict[str, str]:
    """Return a status as an attribute."""
    return {"S": status.value}


def instant_value(when: datetime) -> dict[str, str]:
    """Return an instant as an attribute, which DynamoDB compares as a text."""
    return {"S": instant.text(when)}
