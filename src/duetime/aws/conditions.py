"""The conditional writes of runs on their actions, as expressions with their values.

The condition is the rule: no write depends on an earlier read. The constants name the business rules.
`duetime.aws.change_conditions` has the writes of callers and of the planner.

::

    claim       pending and due              -> processing, next fence, lease, nonce
    take over   processing, lease has ended  -> processing, next fence, lease, nonce
    settle      processing under my fence    -> final, or pending again
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from duetime.aws.condition_values import (
    ONE,
    STATUS_AND_TTL,
    STATUS_NAME,
    fence_values,
    instant_value,
    status_value,
)
from duetime.aws.items import attempt_entry, checkpoint_entry, to_epoch
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
GENERATION_IS_AS_READ = "generation = :generation"
LEASE_HAS_ENDED = "lease_until < :ended_before"
LEASE_IS_NOT_LATER = "lease_until <= :lease_until"
NOT_HANDED_OVER = "(attribute_not_exists(handed_over) OR handed_over < :fence)"
IS_HANDED_OVER = "handed_over = :fence"
HAND_OVER_LASTS = "lease_until > :now"
CHECKPOINT_IS_OLDER = "(attribute_not_exists(checkpoint) OR checkpoint.f < :fence OR checkpoint.n < :number)"
NO_CANCEL_WAS_REQUESTED = "attribute_not_exists(cancel_requested_at)"

PROGRESS = ("progress", "progress_note")
"""Attributes that a claim removes: the progress is that of the former run."""


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
        condition += f" AND {GENERATION_IS_AS_READ}"
        values[":generation"] = {"N": str(terms.generation)}
    if terms.epoch:
        condition += f" AND {FENCE_IS_MINE}"
        values[":fence"] = {"N": str(terms.fence)}
    return _take(
        terms,
        condition,
        fence=terms.fence,
        also=["attempt = attempt + :one"],
        values={
            ":pending": status_value(Status.PENDING),
            ":now": instant_value(terms.now),
            ":one": ONE,
            **values,
        },
    )


def take_over(terms: ClaimTerms, dead: Action) -> Update:
    """Claim a row whose lease has ended: the run repeats the attempt of the dead worker.

    A hand-over that has timed out counts as no dead worker.
    """
    also: list[str] = []
    counter: dict[str, Any] = {}
    if not dead.has_timed_out_at(terms.now):
        also.append("recoveries = if_not_exists(recoveries, :zero) + :one")
        counter = {":zero": {"N": "0"}, ":one": ONE}
    return _take(
        terms,
        f"{IS_PROCESSING} AND {FENCE_IS_MINE} AND {LEASE_HAS_ENDED} AND {IS_NOT_KEYED}",
        fence=dead.fence,
        also=also,
        values={
            ":fence": {"N": str(dead.fence)},
            ":ended_before": instant_value(terms.now - terms.skew),
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
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            ":processing": status_value(Status.PROCESSING),
            ":fence_step": {"N": str(next_fence(fence, terms.epoch) - fence)},
            ":lease_until": instant_value(terms.lease_until),
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
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {**fence_values(claimed), ":lease_until": instant_value(until)},
        "ReturnValues": "ALL_NEW",
    }


def hand_over(claimed: Action, terms: HandOverTerms) -> Update:
    """Replace the lease of a run that is processing under this fence by that of its hand-over."""
    approval = {name: getattr(terms, name) for name in ("question", "decision_terms")}
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
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **fence_values(claimed),
            ":lease_until": instant_value(terms.waits_until),
            ":now": instant_value(terms.at),
            ":times_out_at": instant_value(terms.times_out_at),
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
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **fence_values(row),
            ":lease_until": instant_value(until),
            ":now": instant_value(now),
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
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {**fence_values(claimed), **values},
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
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **fence_values(claimed),
            ":checkpoint": checkpoint_entry(stored),
            ":number": {"N": str(stored.number)},
        },
        "ReturnValues": "ALL_NEW",
    }


def settle(claimed: Action, settlement: Settlement) -> Update:
    """End a run that is processing under this fence, finally or for a retry."""
    last = f"attempts[{len(claimed.attempts) - 1}]"
    values = {
        **fence_values(claimed),
        ":finished_at": instant_value(settlement.finished_at),
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
        condition += f" AND {NO_CANCEL_WAS_REQUESTED}"
        sets += [
            "due_at = :due_at",
            "first_due_at = if_not_exists(first_due_at, due_at)",
            "generation = generation + :one",
        ]
        values |= {":due_at": instant_value(settlement.due_at), ":one": ONE}
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
        values |= {":completion": {"S": settlement.completion}, ":now": instant_value(settlement.finished_at)}
    if settlement.result is not None:
        sets.append("run_result = :result")
        values[":result"] = {"S": settlement.result}
    if settlement.status is Status.FAILED:
        sets += ["failed = :in_failed", "failed_at = :finished_at"]
        values[":in_failed"] = {"S": shard_key(claimed.ref)}
    return {
        "ConditionExpression": condition,
        "UpdateExpression": f"SET {', '.join(sets)} REMOVE {', '.join(removes)}",
        "ExpressionAttributeNames": STATUS_NAME if settlement.kept_until is None else STATUS_AND_TTL,
        "ExpressionAttributeValues": {**values, ":status": status_value(settlement.status)},
    }
