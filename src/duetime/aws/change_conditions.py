"""The conditional writes of callers and of the planner on actions, as expressions with their values.

Each is conditional on the row as it was read; `duetime.aws.conditions` names the conditions.
"""

from __future__ import annotations

from datetime import datetime

from duetime.aws.condition_values import (
    ONE,
    STATUS_AND_TTL,
    STATUS_NAME,
    author_values,
    fence_values,
    generation_value,
    instant_value,
    status_value,
)
from duetime.aws.conditions import (
    FENCE_IS_MINE,
    GENERATION_IS_AS_READ,
    HAS_NO_KEY,
    IS_A_ROW,
    IS_FAILED,
    IS_NOT_DISMISSED,
    IS_PENDING,
    IS_PROCESSING,
    Update,
)
from duetime.aws.items import to_epoch, to_item
from duetime.aws.keys import Item
from duetime.model.action import Action, Status


def cancel(row: Action, *, by: str, at: datetime, kept_until: datetime) -> Update:
    """Cancel a row that is pending as read."""
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GENERATION_IS_AS_READ}",
        "UpdateExpression": (
            "SET #status = :cancelled, changed_by = :by, changed_at = :at, #ttl = :ttl REMOVE due_shard"
        ),
        "ExpressionAttributeNames": STATUS_AND_TTL,
        "ExpressionAttributeValues": {
            **author_values(by, at),
            **generation_value(row),
            ":pending": status_value(Status.PENDING),
            ":cancelled": status_value(Status.CANCELLED),
            ":ttl": {"N": to_epoch(kept_until)},
        },
        "ReturnValues": "ALL_NEW",
    }


def end_pending(row: Action, ended: Action) -> Update:
    """Replace a row that is pending as read by `ended`, which has the reason."""
    became = to_item(ended)
    attributes = [
        name for name in ("changed_by", "changed_at", "skip_reason", "note", "unmet") if name in became
    ]
    sets = "".join(f", {name} = :{name}" for name in attributes)
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GENERATION_IS_AS_READ}",
        "UpdateExpression": f"SET #status = :ended, #ttl = :ttl{sets} REMOVE due_shard",
        "ExpressionAttributeNames": STATUS_AND_TTL,
        "ExpressionAttributeValues": {
            **{f":{name}": became[name] for name in attributes},
            ":pending": status_value(Status.PENDING),
            **generation_value(row),
            ":ended": became["status"],
            ":ttl": became["ttl"],
        },
    }


def ask_to_cancel(row: Action, *, by: str, at: datetime) -> Update:
    """Write a request to cancel on the run that was read. The first request stays."""
    return {
        "ConditionExpression": f"{IS_PROCESSING} AND {FENCE_IS_MINE}",
        "UpdateExpression": (
            "SET cancel_requested_at = if_not_exists(cancel_requested_at, :at),"
            " cancel_requested_by = if_not_exists(cancel_requested_by, :by)"
        ),
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {**author_values(by, at), **fence_values(row)},
        "ReturnValues": "ALL_NEW",
    }


def reschedule(
    row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None
) -> Update:
    """Move the due time of a row that is pending as read, and its expiry."""
    expiry = {} if expires_at is None else {":expires_at": instant_value(expires_at)}
    sets = "".join(f", {name[1:]} = {name}" for name in expiry)
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GENERATION_IS_AS_READ}",
        "UpdateExpression": (
            f"SET due_at = :due_at, generation = generation + :one, changed_by = :by, changed_at = :at{sets}"
            f" REMOVE first_due_at{'' if expiry else ', expires_at'}"
        ),
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **author_values(by, at),
            **generation_value(row),
            ":pending": status_value(Status.PENDING),
            ":due_at": instant_value(due_at),
            ":one": ONE,
            **expiry,
        },
        "ReturnValues": "ALL_NEW",
    }


_OF_A_CALL = (
    *(
        "due_at",
        "generation",
        "payload",
        "payload_version",
        "payload_offloaded",
        "payload_size",
        "expires_at",
    ),
    *("rate_key", "coalesced", "recent_calls", "changed_by", "changed_at", "first_due_at"),
)
"""What a further call with a debounce key changes."""


def coalesce(row: Action, changed: Item) -> Update:
    """Change a row that is pending as read to what a further call with its debounce key makes of it."""
    sets = [f"{name} = :new_{name}" for name in _OF_A_CALL if name in changed]
    removes = [name for name in _OF_A_CALL if name not in changed]
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GENERATION_IS_AS_READ}",
        "UpdateExpression": f"SET {', '.join(sets)} REMOVE {', '.join(removes)}",
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **{f":new_{name}": changed[name] for name in _OF_A_CALL if name in changed},
            **generation_value(row),
            ":pending": status_value(Status.PENDING),
        },
    }


def defer(row: Action, until: datetime, held_by: str | None = None, waits_for: str | None = None) -> Update:
    """Move the due time of a row that is pending as read to its instant under a rate limit.

    With `waits_for`, to the next look at that run of another job.
    """
    texts = {"held_by": held_by, "waits_for": waits_for}
    given = {f":{name}": {"S": text} for name, text in texts.items() if text is not None}
    sets = "".join(f", {name[1:]} = {name}" for name in given)
    slot = ", rate_slot = :until" if waits_for is None else ""
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GENERATION_IS_AS_READ}",
        "UpdateExpression": (
            f"SET first_due_at = if_not_exists(first_due_at, due_at), due_at = :until{slot},"
            f" generation = generation + :one{sets}"
        ),
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **generation_value(row),
            ":pending": status_value(Status.PENDING),
            ":until": instant_value(until),
            ":one": ONE,
            **given,
        },
        "ReturnValues": "ALL_NEW",
    }


def release(row: Action, released: Action) -> Update:
    """Give a row that is pending as read its due time, and the predecessor for which it fails."""
    unmet = {} if released.unmet is None else {":unmet": {"S": released.unmet}}
    sets = "".join(f", {name[1:]} = {name}" for name in unmet)
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GENERATION_IS_AS_READ}",
        "UpdateExpression": f"SET due_at = :due_at, generation = generation + :one{sets} REMOVE first_due_at",
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **generation_value(row),
            ":pending": status_value(Status.PENDING),
            ":due_at": instant_value(released.due_at),
            ":one": ONE,
            **unmet,
        },
        "ReturnValues": "ALL_NEW",
    }


def add_follower(follower: str) -> Update:
    """Add an id to the followers of a row: the write of its end, or this one, is then their wake."""
    return {
        "ConditionExpression": IS_A_ROW,
        "UpdateExpression": "SET is_awaited = :true ADD followers :followers",
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {":true": {"BOOL": True}, ":followers": {"SS": [follower]}},
    }


def redrive(row: Action, due_at: datetime, due_shard: str, *, by: str, at: datetime) -> Update:
    """Make a row that failed as read pending again, if it has no idempotency key. Its attempts stay."""
    change = redrive_with_key(row, due_at, due_shard, by=by, at=at)
    condition = f"{change['ConditionExpression']} AND {HAS_NO_KEY}"
    return {**change, "ConditionExpression": condition, "ReturnValues": "ALL_NEW"}


def redrive_with_key(row: Action, due_at: datetime, due_shard: str, *, by: str, at: datetime) -> Update:
    """Redrive in a transaction that takes the row's key again.

    A dismissal leaves the generation as it is, so a redrive from before it has a condition of its own.
    """
    condition = f"{IS_FAILED} AND {GENERATION_IS_AS_READ}"
    if row.dismissed_reason is None:
        condition += f" AND {IS_NOT_DISMISSED}"
    return {
        "ConditionExpression": condition,
        "UpdateExpression": (
            "SET #status = :pending, first_due_at = if_not_exists(first_due_at, due_at), due_at = :due_at,"
            " due_shard = :due_shard, generation = generation + :one, redriven_after = attempt,"
            " changed_by = :by, changed_at = :at"
            " REMOVE #ttl, recoveries, cancel_requested_at, cancel_requested_by, failed, failed_at,"
            " dismissed_reason, expires_at, continued"
        ),
        "ExpressionAttributeNames": STATUS_AND_TTL,
        "ExpressionAttributeValues": {
            **author_values(by, at),
            **generation_value(row),
            ":failed": status_value(Status.FAILED),
            ":pending": status_value(Status.PENDING),
            ":due_at": instant_value(due_at),
            ":due_shard": {"S": due_shard},
            ":one": ONE,
        },
    }


def dismiss(row: Action, reason: str, *, by: str, at: datetime) -> Update:
    """Remove a row that failed as read from the index of dead letters. It stays failed."""
    return {
        "ConditionExpression": f"{IS_FAILED} AND {GENERATION_IS_AS_READ} AND {IS_NOT_DISMISSED}",
        "UpdateExpression": (
            "SET dismissed_reason = :reason, changed_by = :by, changed_at = :at REMOVE failed, failed_at"
        ),
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **author_values(by, at),
            **generation_value(row),
            ":failed": status_value(Status.FAILED),
            ":reason": {"S": reason},
        },
        "ReturnValues": "ALL_NEW",
    }
