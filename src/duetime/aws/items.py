"""Items: an action as DynamoDB keeps it. What has its default is left out: a row should fit one write unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from duetime import ids, instant
from duetime.aws.keys import Item, correlation_key, payload_key, ref_of, row_key, shard_key
from duetime.errors import DuetimeError, UnreadableRow
from duetime.ids import SEPARATOR
from duetime.model.action import Action, Attempt, Ending, SkipReason, Status

_INSTANTS = ("lease_until", "first_due_at", "cancel_requested_at", "changed_at", "planned_at")
_TEXTS: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(("retry", "cancel_requested_by", "changed_by", "cadence", "job_tenant", "note"), str),
    "idempotency_key": str,
    "concurrency_key": str,
    "skip_reason": SkipReason,
}
_COUNTS = ("recoveries", "redriven_after")


def to_item(action: Action, *, due_order: bool = False) -> Item:
    """The row of an action that has just been scheduled, or of one that ran outside the road.

    With `due_order` a one-shot is in its tenant's due order, for good: what moves `due_at` moves it there.
    """
    item: Item = {
        **row_key(action.ref),
        "type": {"S": action.type},
        "status": {"S": action.status.value},
        "due_at": {"S": instant.text(action.due_at)},
        "gen": {"N": str(action.generation)},
        "fence": {"N": str(action.fence)},
        "attempt": {"N": str(action.attempt)},
        "created_by": {"S": action.created_by},
        **_plain(action),
    }
    if not action.status.is_final:
        item["due_shard"] = {"S": action.due_shard}
    if action.payload_offloaded:
        item["payload_apart"] = {"BOOL": True}
    elif action.payload is not None:
        item["payload"] = {"S": action.payload}
    if action.payload_version != 1:
        item["payload_version"] = {"N": str(action.payload_version)}
    if action.concurrency_limit != 1:
        item["concurrency_limit"] = {"N": str(action.concurrency_limit)}
    if action.correlation_id is not None:
        item["correlation"] = {"S": correlation_key(action.tenant_id, action.correlation_id)}
    if action.trace is not None:
        item["trace"] = {"S": action.trace}
    if due_order and ids.is_one_shot(action.id):
        item["tenant_due"] = {"S": shard_key(action.ref)}
    if action.catches_up:
        item["catches_up"] = {"BOOL": True}
    return item | _of_runs(action)


def _plain(action: Action) -> Item:
    """The attributes that are written as they are named, where they have not their default."""
    said: Item = {
        name: {"S": instant.text(when)} for name in _INSTANTS if (when := getattr(action, name)) is not None
    }
    said |= {name: {"S": str(text)} for name in _TEXTS if (text := getattr(action, name)) is not None}
    return said | {name: {"N": str(count)} for name in _COUNTS if (count := getattr(action, name))}


def _of_runs(action: Action) -> Item:
    """What runs have left: a fresh row has nothing of it."""
    left: Item = {}
    if action.claim_nonce is not None:
        left["nonce"] = {"S": action.claim_nonce}
    if action.attempts:
        left["attempts"] = {"L": [attempt_entry(attempt) for attempt in action.attempts]}
    if action.expires_at is not None:
        left["ttl"] = {"N": to_epoch(action.expires_at)}
    if action.status is Status.FAILED:
        left["failed"] = {"S": shard_key(action.ref)}
        left["failed_at"] = {"S": instant.text(action.failed_at)}
    return left


def to_payload_item(action: Action, expires_at: datetime) -> Item:
    """A payload set apart. It outlives its row's due time by far; the row's removal takes it along."""
    return {
        **payload_key(action.ref),
        "payload": {"S": action.payload or ""},
        "ttl": {"N": to_epoch(expires_at)},
    }


def from_item(item: Item) -> Action:
    """The action of a row.

    Raises:
        UnreadableRow: this is no row that duetime wrote.
    """
    try:
        return _read(item)
    except (
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
        OSError,
        DuetimeError,
    ) as error:
        raise UnreadableRow([item.get("pk"), item.get("sk")], error) from error


def _read(item: Item) -> Action:
    ref = ref_of(item)
    given: dict[str, Any] = {}
    for name in _INSTANTS:
        if name in item:
            given[name] = instant.parse(item[name]["S"])
    for name, read in _TEXTS.items():
        if name in item:
            given[name] = read(item[name]["S"])
    for name in _COUNTS:
        if name in item:
            given[name] = int(item[name]["N"])
    if "ttl" in item:
        given["expires_at"] = datetime.fromtimestamp(int(item["ttl"]["N"]), UTC)
    if "correlation" in item:
        given["correlation_id"] = item["correlation"]["S"].partition(SEPARATOR)[2]
    return Action(
        tenant_id=ref.tenant_id,
        id=ref.id,
        type=item["type"]["S"],
        status=Status(item["status"]["S"]),
        due_at=instant.parse(item["due_at"]["S"]),
        due_shard=item.get("due_shard", {}).get("S", ""),
        generation=int(item["gen"]["N"]),
        fence=int(item["fence"]["N"]),
        attempt=int(item["attempt"]["N"]),
        created_by=item["created_by"]["S"],
        payload=item.get("payload", {}).get("S"),
        payload_offloaded="payload_apart" in item,
        payload_version=int(item.get("payload_version", {}).get("N", "1")),
        concurrency_limit=int(item.get("concurrency_limit", {}).get("N", "1")),
        trace=item.get("trace", {}).get("S"),
        catches_up="catches_up" in item,
        claim_nonce=item.get("nonce", {}).get("S"),
        attempts=tuple(_to_attempt(each["M"]) for each in item.get("attempts", {}).get("L", ())),
        **given,
    )


def attempt_entry(attempt: Attempt) -> Item:
    """The entry of ``attempts`` for a run; one-letter names, since each row has several."""
    told = {
        "q": instant.text(attempt.queued_at),
        "s": instant.text(attempt.started_at),
        "i": attempt.instance,
    }
    if attempt.finished_at is not None:
        told["f"] = instant.text(attempt.finished_at)
    if attempt.ending is not None:
        told["e"] = attempt.ending.value
    if attempt.message is not None:
        told["m"] = attempt.message
    return {"M": {name: {"S": text} for name, text in told.items()}}


def _to_attempt(entry: Item) -> Attempt:
    return Attempt(
        queued_at=instant.parse(entry["q"]["S"]),
        started_at=instant.parse(entry["s"]["S"]),
        instance=entry["i"]["S"],
        finished_at=instant.parse(entry["f"]["S"]) if "f" in entry else None,
        ending=Ending(entry["e"]["S"]) if "e" in entry else None,
        message=entry.get("m", {}).get("S"),
    )


def to_epoch(when: datetime) -> str:
    """Whole seconds since 1970: what DynamoDB's time to live reads."""
    return str(int(when.timestamp()))
