"""What a client gets: the JSON of an action, made here and nowhere else. Instants are ISO 8601 in UTC, with ``Z``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, PlainSerializer, WithJsonSchema

from duetime.action import Action, Attempt, SkipReason, Status, Trigger


def instant_text(instant: datetime) -> str:
    """``2027-06-01T07:00:00Z``; microseconds only where there are some."""
    return instant.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


Instant = Annotated[
    datetime,
    PlainSerializer(instant_text),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2027-06-01T07:00:00Z"]}),
]


class AttemptView(BaseModel):
    """One run of an action."""

    number: int
    queued_at: Instant
    started_at: Instant
    finished_at: Instant | None
    outcome: str
    """``running``, ``lost`` (its worker died), ``executed``, ``retry``, ``failed`` or ``cancelled``."""
    message: str | None
    instance: str

    @classmethod
    def of(cls, number: int, attempt: Attempt, *, is_last: bool) -> Self:
        """The attempt as a client sees it."""
        unfinished = "running" if is_last else "lost"
        return cls(
            number=number,
            queued_at=attempt.queued_at,
            started_at=attempt.started_at,
            finished_at=attempt.finished_at,
            outcome=attempt.ending.value if attempt.ending else unfinished,
            message=attempt.message,
            instance=attempt.instance,
        )


class ActionSummary(BaseModel):
    """An action without its payload: in lists, and after a change."""

    id: str
    type: str
    status: Status
    due_at: Instant
    nominal_at: Instant
    tenant_id: str
    correlation_id: str | None
    idempotency_key: str | None
    concurrency_key: str | None
    """Of the actions that share it only so many run at once."""
    concurrency_limit: int | None
    """How many; null without a key."""
    created_at: Instant
    created_by: str
    modified_at: Instant
    modified_by: str
    executed_at: Instant | None
    cancel_requested_at: Instant | None
    cancelled_by: str | None
    failure_reason: str | None
    recoveries: int
    job: str | None
    """The job whose run it is; null for an action of its own."""
    cadence: str | None
    """Which of the job's cadences made it due."""
    trigger: Trigger
    skip_reason: SkipReason | None
    note: str | None
    attempts: list[AttemptView]

    @classmethod
    def of(cls, action: Action) -> Self:
        """The action as a client sees it."""
        facts = {name: getattr(action, name) for name in cls.model_fields if name not in _MADE}
        return cls(**facts, **_made(action, cls.model_fields.keys() & _MADE))


class ActionView(ActionSummary):
    """An action in full."""

    payload: Any
    """As JSON; null when a large one, kept apart, is gone."""


class ActionPage(BaseModel):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[ActionSummary]
    next_cursor: str | None


_MADE = {"attempts", "concurrency_limit", "payload"}


def _made(action: Action, wanted: set[str]) -> dict[str, Any]:
    """The fields that are not simply an attribute of the action."""
    numbered = action.numbered_attempts()
    made: dict[str, Any] = {
        "attempts": [
            AttemptView.of(number, attempt, is_last=place == len(numbered))
            for place, (number, attempt) in enumerate(numbered, 1)
        ],
        "concurrency_limit": None if action.concurrency_key is None else action.concurrency_limit,
    }
    if "payload" in wanted:
        made["payload"] = None if action.payload is None else json.loads(action.payload)
    return made
