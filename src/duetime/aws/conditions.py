"""The conditional writes of the protocol on actions, as expressions with their values.

The condition is the rule: no write depends on an earlier read. The constants name the business rules.

::

    claim       pending and due              -> processing, next fence, lease, nonce
    take over   processing, lease has ended  -> processing, next fence, lease, nonce
    settle      processing under my fence    -> final, or pending again
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.aws.items import attempt_entry, checkpoint_entry, to_epoch, to_item
from duetime.aws.keys import Item, shard_key
from duetime.model.action import KEPT_ATTEMPTS, Action, Attempt, Status
from duetime.model.active_region import next_fence
from duetime.model.checkpoint import Checkpoint
from duetime.model.hand_over import HandOverTerms, Progress
from duetime.model.lease import ClaimTerms, Settlement

ROW_IS_ABSENT = "attribute_not_exists(pk)"

IS_A_ROW = "attribute_exists(#status)"
IS_PENDING = "#status = :pending"
IS_DUE = "due_at <= :now"
IS_PROCESSING = "#status = :processing"
IS_FAILED = "#status = :failed"
IS_NOT_DISMISSED = "attribute_not_exists(dismissed_reason)"
HAS_NO_KEY = "attribute_not_exists(idempotency_key)"
IS_NOT_KEYED = "attribute_not_exists(concurrency_key)"
IS_NOT_EXPIRED = "(attribute_not_exists(expires_at) OR expires_at > :now)"
FENCE_IS_MINE = "fence = :fence"
EPOCH_IS_NOT_LATER = "fence < :next_epoch"
GEN_IS_AS_READ = "gen = :gen"
LEASE_HAS_ENDED = "lease_until < :ended_before"
LEASE_IS_NOT_LATER = "lease_until <= :lease_until"
NOT_HANDED_OVER = "(attribute_not_exists(handed_over) OR handed_over < :fence)"
IS_HANDED_OVER = "handed_over = :fence"
HAND_OVER_LASTS = "lease_until > :now"
CHECKPOINT_IS_OLDER = "(attribute_not_exists(checkpoint) OR checkpoint.f < :fence OR checkpoint.n < :number)"
NO_CANCEL_WAS_ASKED_FOR = "attribute_not_exists(cancel_requested_at)"

PROGRESS = ("progress", "progress_note")
"""Attributes that a claim removes: the progress is that of the former run."""

_STATUS = {"#status": "status"}
_STATUS_AND_TTL = {"#status": "status", "#ttl": "ttl"}
_ONE = {"N": "1"}

Update = Mapping[str, Any]
"""Arguments of DynamoDB's ``UpdateItem``, without the table and the key."""


def claim(terms: ClaimTerms) -> Update:
    """Claim a row that is pending and due: a new attempt begins.

    With an epoch, the fence must be as read: the next one depends on it. With an expiry of its type, the
    generation must: the due time, from which it counts, depends on it.
    """
    condition, values = f"{IS_PENDING} AND {IS_DUE} AND {IS_NOT_KEYED}", dict[str, Any]()
    if terms.expiry.on_expiry == "skip":
        condition += f" AND {IS_NOT_EXPIRED}"
    if terms.generation is not None:
        condition += f" AND {GEN_IS_AS_READ}"
        values[":gen"] = {"N": str(terms.generation)}
    if terms.epoch:
        condition += f" AND {FENCE_IS_MINE}"
        values[":fence"] = {"N": str(terms.fence)}
    return _take(
        terms,
        condition,
        fence=terms.fence,
        also=["attempt = attempt + :one"],
        values={":pending": _status(Status.PENDING), ":now": _at(terms.now), ":one": _ONE, **values},
    )


def take_over(terms: ClaimTerms, dead: Action) -> Update:
    """Claim a row whose lease has ended: the run repeats the attempt of the dead worker.

    A hand-over that has timed out counts as no dead worker.
    """
    also: list[str] = []
    counter: dict[str, Any] = {}
    if not dead.has_timed_out_at(terms.now):
        also.append("recoveries = if_not_exists(recoveries, :zero) + :one")
        counter = {":zero": {"N": "0"}, ":one": _ONE}
    return _take(
        terms,
        f"{IS_PROCESSING} AND {FENCE_IS_MINE} AND {LEASE_HAS_ENDED} AND {IS_NOT_KEYED}",
        fence=dead.fence,
        also=also,
        values={
            ":fence": {"N": str(dead.fence)},
            ":ended_before": _at(terms.now - terms.skew),
            **counter,
        },
    )


def _take(
    terms: ClaimTerms, condition: str, *, fence: int, also: Sequence[str], values: Mapping[str, Any]
) -> Update:
    begun = Attempt(queued_at=terms.queued_at, started_at=terms.now, instance=terms.instance)
    if terms.epoch:
        condition += f" AND {EPOCH_IS_NOT_LATER}"
        values = {**values, ":next_epoch": {"N": str(next_fence(0, terms.epoch + 1))}}
    if terms.held_by is not None:
        also = [*also, "held_by = :held_by"]
        values = {**values, ":held_by": {"S": terms.held_by}}
    return {
        "ConditionExpression": condition,
        "UpdateExpression": (
            "SET #status = :processing, fence = fence + :fence_step, lease_until = :lease_until,"
            " nonce = :nonce, attempts = list_append(if_not_exists(attempts, :none), :started),"
            f" {', '.join(['retry = if_not_exists(retry, :retry)', *also])} REMOVE {', '.join(PROGRESS)}"
        ),
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            ":processing": _status(Status.PROCESSING),
            ":fence_step": {"N": str(next_fence(fence, terms.epoch) - fence)},
            ":lease_until": _at(terms.lease_until),
            ":nonce": {"S": terms.nonce},
            ":none": {"L": []},
            ":started": {"L": [attempt_entry(begun)]},
            ":retry": {"S": terms.retry},
            **values,
        },
        "ReturnValues": "ALL_NEW",
    }


def renew(claimed: Action, until: datetime) -> Update:
    """Move the lease of a row that is processing under this fence, never back."""
    return {
        "ConditionExpression": (
            f"{IS_PROCESSING} AND {FENCE_IS_MINE} AND {LEASE_IS_NOT_LATER} AND {NOT_HANDED_OVER}"
        ),
        "UpdateExpression": "SET lease_until = :lease_until",
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {**_mine(claimed), ":lease_until": _at(until)},
        "ReturnValues": "ALL_NEW",
    }


def hand_over(claimed: Action, terms: HandOverTerms) -> Update:
    """Replace the lease of a run that is processing under this fence by that of its hand-over."""
    approval = {name: getattr(terms, name) for name in ("question", "on_reject")}
    values = {f":{name}": {"S": text} for name, text in approval.items() if text is not None}
    sets = "".join(f", {name[1:]} = {name}" for name in values)
    removed = ", ".join(name for name, text in approval.items() if text is None)
    return {
        "ConditionExpression": f"{IS_PROCESSING} AND {FENCE_IS_MINE} AND {NOT_HANDED_OVER}",
        "UpdateExpression": (
            "SET lease_until = :lease_until, handed_over = :fence, handed_over_at = :now,"
            " times_out_at = :times_out_at, beat_seconds = :beat_seconds, hand_over_key = :key,"
            f" is_awaited = :true{sets}{removed and f' REMOVE {removed}'}"
        ),
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **_mine(claimed),
            ":lease_until": _at(terms.waits_until),
            ":now": _at(terms.at),
            ":times_out_at": _at(terms.times_out_at),
            ":beat_seconds": {"N": str(terms.beat_seconds)},
            ":key": {"S": terms.key},
            ":true": {"BOOL": True},
            **values,
        },
        "ReturnValues": "ALL_NEW",
    }


def beat(row: Action, until: datetime, *, now: datetime, progress: Progress | None) -> Update:
    """Move the lease of a hand-over that lasts, never back, and store its progress."""
    shown, values = _shown(progress)
    return {
        "ConditionExpression": (
            f"{IS_PROCESSING} AND {FENCE_IS_MINE} AND {IS_HANDED_OVER} AND {HAND_OVER_LASTS}"
            f" AND {LEASE_IS_NOT_LATER}"
        ),
        "UpdateExpression": f"SET {', '.join(['lease_until = :lease_until', *shown])}",
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **_mine(row),
            ":lease_until": _at(until),
            ":now": _at(now),
            **values,
        },
        "ReturnValues": "ALL_NEW",
    }


def report(claimed: Action, progress: Progress) -> Update:
    """Store the progress of a run that is processing under this fence."""
    shown, values = _shown(progress)
    return {
        "ConditionExpression": f"{IS_PROCESSING} AND {FENCE_IS_MINE}",
        "UpdateExpression": f"SET {', '.join(shown)}",
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {**_mine(claimed), **values},
        "ReturnValues": "ALL_NEW",
    }


def _shown(progress: Progress | None) -> tuple[list[str], Item]:
    """Return the clauses of a progress, with their values."""
    if progress is None:
        return [], {}
    values: Item = {":progress": {"S": progress.text}, ":progress_note": {"S": progress.note}}
    return ["progress = :progress", "progress_note = :progress_note"], values


def checkpoint(claimed: Action, stored: Checkpoint) -> Update:
    """Store the checkpoint of a row that is processing under this fence, unless it has a later one."""
    return {
        "ConditionExpression": f"{IS_PROCESSING} AND {FENCE_IS_MINE} AND {CHECKPOINT_IS_OLDER}",
        "UpdateExpression": "SET checkpoint = :checkpoint",
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **_mine(claimed),
            ":checkpoint": checkpoint_entry(stored),
            ":number": {"N": str(stored.number)},
        },
        "ReturnValues": "ALL_NEW",
    }


def settle(claimed: Action, settlement: Settlement) -> Update:
    """End a run that is processing under this fence, finally or for a retry."""
    last = f"attempts[{len(claimed.attempts) - 1}]"
    values = {
        **_mine(claimed),
        ":finished_at": _at(settlement.finished_at),
        ":ending": {"S": settlement.ending},
    }
    sets = ["#status = :status", f"{last}.f = :finished_at", f"{last}.e = :ending"]
    dropped = (f"attempts[{index}]" for index in range(len(claimed.attempts) - KEPT_ATTEMPTS))
    removes = ["lease_until", "nonce", *dropped]
    condition = f"{IS_PROCESSING} AND {FENCE_IS_MINE}"
    if settlement.message is not None:
        sets.append(f"{last}.m = :message")
        values[":message"] = {"S": settlement.message}
    if settlement.due_at is not None:
        condition += f" AND {NO_CANCEL_WAS_ASKED_FOR}"
        sets += ["due_at = :due_at", "first_due_at = if_not_exists(first_due_at, due_at)", "gen = gen + :one"]
        values |= {":due_at": _at(settlement.due_at), ":one": _ONE}
    if settlement.continues:
        sets.append("continued = if_not_exists(continued, :zero) + :one")
        values[":zero"] = {"N": "0"}
    if settlement.kept_until is not None:
        sets.append("#ttl = :ttl")
        removes.append("due_shard")
        values[":ttl"] = {"N": to_epoch(settlement.kept_until)}
    if settlement.completion is not None:
        condition += f" AND {IS_HANDED_OVER} AND {HAND_OVER_LASTS}"
        sets.append("completion = :completion")
        values |= {":completion": {"S": settlement.completion}, ":now": _at(settlement.finished_at)}
    if settlement.result is not None:
        sets.append("run_result = :result")
        values[":result"] = {"S": settlement.result}
    if settlement.status is Status.FAILED:
        sets += ["failed = :in_failed", "failed_at = :finished_at"]
        values[":in_failed"] = {"S": shard_key(claimed.ref)}
    return {
        "ConditionExpression": condition,
        "UpdateExpression": f"SET {', '.join(sets)} REMOVE {', '.join(removes)}",
        "ExpressionAttributeNames": _STATUS if settlement.kept_until is None else _STATUS_AND_TTL,
        "ExpressionAttributeValues": {**values, ":status": _status(settlement.status)},
    }


def cancel(row: Action, *, by: str, at: datetime, kept_until: datetime) -> Update:
    """Cancel a row that is pending as read."""
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GEN_IS_AS_READ}",
        "UpdateExpression": (
            "SET #status = :cancelled, changed_by = :by, changed_at = :at, #ttl = :ttl REMOVE due_shard"
        ),
        "ExpressionAttributeNames": _STATUS_AND_TTL,
        "ExpressionAttributeValues": {
            **_changed(by, at),
            **_generation(row),
            ":pending": _status(Status.PENDING),
            ":cancelled": _status(Status.CANCELLED),
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
        "ConditionExpression": f"{IS_PENDING} AND {GEN_IS_AS_READ}",
        "UpdateExpression": f"SET #status = :ended, #ttl = :ttl{sets} REMOVE due_shard",
        "ExpressionAttributeNames": _STATUS_AND_TTL,
        "ExpressionAttributeValues": {
            **{f":{name}": became[name] for name in attributes},
            ":pending": _status(Status.PENDING),
            **_generation(row),
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
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {**_changed(by, at), **_mine(row)},
        "ReturnValues": "ALL_NEW",
    }


def reschedule(
    row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None
) -> Update:
    """Move the due time of a row that is pending as read, and its expiry."""
    expiry = {} if expires_at is None else {":expires_at": _at(expires_at)}
    sets = "".join(f", {name[1:]} = {name}" for name in expiry)
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GEN_IS_AS_READ}",
        "UpdateExpression": (
            f"SET due_at = :due_at, gen = gen + :one, changed_by = :by, changed_at = :at{sets}"
            f" REMOVE first_due_at{'' if expiry else ', expires_at'}"
        ),
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **_changed(by, at),
            **_generation(row),
            ":pending": _status(Status.PENDING),
            ":due_at": _at(due_at),
            ":one": _ONE,
            **expiry,
        },
        "ReturnValues": "ALL_NEW",
    }


_OF_A_CALL = (
    *("due_at", "gen", "payload", "payload_version", "payload_apart", "payload_size", "expires_at"),
    *("rate_key", "coalesced", "recent_calls", "changed_by", "changed_at", "first_due_at"),
)
"""What a further call with a debounce key changes."""


def coalesce(row: Action, changed: Item) -> Update:
    """Change a row that is pending as read to what a further call with its debounce key makes of it."""
    sets = [f"{name} = :new_{name}" for name in _OF_A_CALL if name in changed]
    removes = [name for name in _OF_A_CALL if name not in changed]
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GEN_IS_AS_READ}",
        "UpdateExpression": f"SET {', '.join(sets)} REMOVE {', '.join(removes)}",
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **{f":new_{name}": changed[name] for name in _OF_A_CALL if name in changed},
            **_generation(row),
            ":pending": _status(Status.PENDING),
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
        "ConditionExpression": f"{IS_PENDING} AND {GEN_IS_AS_READ}",
        "UpdateExpression": (
            f"SET first_due_at = if_not_exists(first_due_at, due_at), due_at = :until{slot},"
            f" gen = gen + :one{sets}"
        ),
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **_generation(row),
            ":pending": _status(Status.PENDING),
            ":until": _at(until),
            ":one": _ONE,
            **given,
        },
        "ReturnValues": "ALL_NEW",
    }


def release(row: Action, released: Action) -> Update:
    """Give a row that is pending as read its due time, and the predecessor for which it fails."""
    unmet = {} if released.unmet is None else {":unmet": {"S": released.unmet}}
    sets = "".join(f", {name[1:]} = {name}" for name in unmet)
    return {
        "ConditionExpression": f"{IS_PENDING} AND {GEN_IS_AS_READ}",
        "UpdateExpression": f"SET due_at = :due_at, gen = gen + :one{sets} REMOVE first_due_at",
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **_generation(row),
            ":pending": _status(Status.PENDING),
            ":due_at": _at(released.due_at),
            ":one": _ONE,
            **unmet,
        },
        "ReturnValues": "ALL_NEW",
    }


def add_follower(follower: str) -> Update:
    """Add an id to the followers of a row: the write of its end, or this one, is then their wake."""
    return {
        "ConditionExpression": IS_A_ROW,
        "UpdateExpression": "SET is_awaited = :true ADD followers :followers",
        "ExpressionAttributeNames": _STATUS,
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
    condition = f"{IS_FAILED} AND {GEN_IS_AS_READ}"
    if row.dismissed_reason is None:
        condition += f" AND {IS_NOT_DISMISSED}"
    return {
        "ConditionExpression": condition,
        "UpdateExpression": (
            "SET #status = :pending, first_due_at = if_not_exists(first_due_at, due_at), due_at = :due_at,"
            " due_shard = :due_shard, gen = gen + :one, redriven_after = attempt,"
            " changed_by = :by, changed_at = :at"
            " REMOVE #ttl, recoveries, cancel_requested_at, cancel_requested_by, failed, failed_at,"
            " dismissed_reason, expires_at, continued"
        ),
        "ExpressionAttributeNames": _STATUS_AND_TTL,
        "ExpressionAttributeValues": {
            **_changed(by, at),
            **_generation(row),
            ":failed": _status(Status.FAILED),
            ":pending": _status(Status.PENDING),
            ":due_at": _at(due_at),
            ":due_shard": {"S": due_shard},
            ":one": _ONE,
        },
    }


def dismiss(row: Action, reason: str, *, by: str, at: datetime) -> Update:
    """Remove a row that failed as read from the index of dead letters. It stays failed."""
    return {
        "ConditionExpression": f"{IS_FAILED} AND {GEN_IS_AS_READ} AND {IS_NOT_DISMISSED}",
        "UpdateExpression": (
            "SET dismissed_reason = :reason, changed_by = :by, changed_at = :at REMOVE failed, failed_at"
        ),
        "ExpressionAttributeNames": _STATUS,
        "ExpressionAttributeValues": {
            **_changed(by, at),
            **_generation(row),
            ":failed": _status(Status.FAILED),
            ":reason": {"S": reason},
        },
        "ReturnValues": "ALL_NEW",
    }


def _mine(claimed: Action) -> dict[str, Any]:
    return {":processing": _status(Status.PROCESSING), ":fence": {"N": str(claimed.fence)}}


def _generation(row: Action) -> dict[str, Any]:
    return {":gen": {"N": str(row.generation)}}


def _changed(by: str, at: datetime) -> dict[str, Any]:
    return {":by": {"S": by}, ":at": _at(at)}


def _status(status: Status) -> dict[str, str]:
    return {"S": status.value}


def _at(when: datetime) -> dict[str, str]:
    return {"S": instant.text(when)}
