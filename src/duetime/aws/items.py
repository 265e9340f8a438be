"""Actions as DynamoDB items. Default values are omitted, so that a row fits into one write unit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from duetime import ids, instant
from duetime.aws.keys import Item, correlation_key, is_row, payload_key, ref_of, row_key, shard_key
from duetime.aws.row_checks import UNREADABLE, check_keys, check_values, read_instant
from duetime.errors import UnreadableRow
from duetime.ids import SEPARATOR, ActionId
from duetime.model.action import Action, Attempt, Ending, SkipReason, Status
from duetime.model.change import Change
from duetime.model.checkpoint import Checkpoint

_INSTANTS = (
    *("lease_until", "first_due_at", "expires_at", "debounce_until", "rate_slot"),
    *("cancel_requested_at", "changed_at", "planned_at", "handed_over_at", "times_out_at"),
)
_TEXTS = (
    *("retry", "cancel_requested_by", "changed_by", "cadence", "job_tenant", "note"),
    *("idempotency_key", "concurrency_key", "debounce_key", "recent_calls", "rate_key"),
    *("batch", "after", "after_rule", "waits_for", "unmet"),
    *("dismissed_reason", "held_by", "hand_over_key", "completion", "progress", "progress_note"),
    *("question", "decision_terms"),
)
_COUNTS = {
    "recoveries": 0,
    "redriven_after": 0,
    "payload_version": 1,
    "payload_size": 0,
    "concurrency_limit": 1,
    "coalesced": 0,
    "continued": 0,
    "depth": 0,
    "handed_over": 0,
    "beat_seconds": 0,
}
"""Whole numbers, with their defaults."""
_FLAGS = ("payload_offloaded", "catches_up", "is_high", "is_awaited")
"""The fields that are stored if they are True."""


def to_item(action: Action, *, due_order: bool = False) -> Item:
    """Return the row of a new action, or of an action that ran outside the normal path.

    With `due_order`, a one-shot is in the index of its tenant by due time, also after it is settled.
    """
    item: Item = {
        **row_key(action.ref),
        "type": {"S": action.type},
        "status": {"S": action.status.value},
        "due_at": {"S": instant.text(action.due_at)},
        "generation": {"N": str(action.generation)},
        "fence": {"N": str(action.fence)},
        "attempt": {"N": str(action.attempt)},
        "created_by": {"S": action.created_by},
        **_plain(action),
    }
    if not action.status.is_final:
        item["due_shard"] = {"S": action.due_shard}
    if action.payload is not None and not action.payload_offloaded:
        item["payload"] = {"S": action.payload}
    if action.correlation_id is not None:
        item["correlation"] = {"S": correlation_key(action.tenant_id, action.correlation_id)}
    if action.trace is not None:
        item["trace"] = {"S": action.trace}
    if due_order and ids.is_one_shot(action.id):
        item["tenant_due"] = {"S": shard_key(action.ref)}
    if action.followers:
        item["followers"] = {"SS": list(action.followers)}
    return item | _of_runs(action)


def _plain(action: Action) -> Item:
    """Return the attributes that correspond to one field, without defaults."""
    return {
        **{name: {"S": instant.text(at)} for name in _INSTANTS if (at := getattr(action, name)) is not None},
        **{name: {"S": str(text)} for name in _TEXTS if (text := getattr(action, name)) is not None},
        **{
            name: {"N": str(getattr(action, name))}
            for name in _COUNTS
            if getattr(action, name) != _COUNTS[name]
        },
        **{name: {"BOOL": True} for name in _FLAGS if getattr(action, name)},
    }


def _of_runs(action: Action) -> Item:
    """Return the attributes that runs have written. A new row has none."""
    item: Item = {}
    if action.nonce is not None:
        item["nonce"] = {"S": action.nonce}
    if action.result is not None:
        item["run_result"] = {"S": action.result}
    if action.attempts:
        item["attempts"] = {"L": [attempt_entry(attempt) for attempt in action.attempts]}
    if action.checkpoint is not None:
        item["checkpoint"] = checkpoint_entry(action.checkpoint)
    if action.skip_reason is not None:
        item["skip_reason"] = {"S": action.skip_reason.value}
    if action.kept_until is not None:
        item["ttl"] = {"N": to_epoch(action.kept_until)}
    if action.is_dead_letter:
        item["failed"] = {"S": shard_key(action.ref)}
        item["failed_at"] = {"S": instant.text(action.failed_at)}
    return item


def to_payload_item(action: Action, kept_until: datetime) -> Item:
    """Return the item of an offloaded payload.

    It expires long after its row, whose removal also removes it.
    """
    return {
        **payload_key(action.ref),
        "payload": {"S": action.payload or ""},
        "ttl": {"N": to_epoch(kept_until)},
    }


def from_item(item: Item) -> Action:
    """Return the action of a row.

    Raises:
        UnreadableRow: the item is no row that duetime wrote.
    """
    try:
        return _read(item)
    except UNREADABLE as error:
        raise UnreadableRow([item.get("pk"), item.get("sk")], error) from error


def change_of(images: Mapping[str, Any]) -> Change | None:
    """Return the change of a row from a stream record's images, or None for an item that is no row.

    Raises:
        UnreadableRow: the row has an invalid attribute.
    """
    old, new = images.get("OldImage"), images.get("NewImage")
    if not is_row(new or old or {}):
        return None
    return Change(from_item(old) if old else None, from_item(new) if new else None)


def _read(item: Item) -> Action:
    ref = ref_of(item)
    check_keys(item, ref)
    given: dict[str, Any] = {
        **{name: read_instant(item, name) for name in _INSTANTS if name in item},
        **{name: item[name]["S"] for name in _TEXTS if name in item},
        **{name: int(item[name]["N"]) for name in _COUNTS if name in item},
        **{name: item[name]["BOOL"] for name in _FLAGS if name in item},
    }
    if "skip_reason" in item:
        given["skip_reason"] = SkipReason(item["skip_reason"]["S"])
    if "checkpoint" in item:
        given["checkpoint"] = _to_checkpoint(item["checkpoint"]["M"])
    if "ttl" in item:
        given["kept_until"] = datetime.fromtimestamp(int(item["ttl"]["N"]), UTC)
    if "correlation" in item:
        given["correlation_id"] = item["correlation"]["S"].partition(SEPARATOR)[2]
    if "followers" in item:
        given["followers"] = tuple(sorted(map(ActionId, item["followers"]["SS"])))
    action = Action(
        tenant_id=ref.tenant_id,
        id=ref.id,
        type=item["type"]["S"],
        status=Status(item["status"]["S"]),
        due_at=read_instant(item, "due_at"),
        due_shard=item["due_shard"]["S"] if "due_shard" in item else "",
        generation=int(item["generation"]["N"]),
        fence=int(item["fence"]["N"]),
        attempt=int(item["attempt"]["N"]),
        created_by=item["created_by"]["S"],
        payload=item["payload"]["S"] if "payload" in item else None,
        trace=item["trace"]["S"] if "trace" in item else None,
        result=item["run_result"]["S"] if "run_result" in item else None,
        nonce=item["nonce"]["S"] if "nonce" in item else None,
        attempts=tuple(_to_attempt(entry["M"]) for entry in item["attempts"]["L"])
        if "attempts" in item
        else (),
        **given,
    )
    check_values(action)
    return action


def attempt_entry(attempt: Attempt) -> Item:
    """Return the entry of ``attempts`` for a run.

    Names have one letter, because a row has several entries.
    """
    texts = {
        "q": instant.text(attempt.queued_at),
        "s": instant.text(attempt.started_at),
        "i": attempt.instance,
    }
    if attempt.finished_at is not None:
        texts["f"] = instant.text(attempt.finished_at)
    if attempt.ending is not None:
        texts["e"] = attempt.ending.value
    if attempt.message is not None:
        texts["m"] = attempt.message
    return {"M": {name: {"S": text} for name, text in texts.items()}}


def _to_attempt(entry: Item) -> Attempt:
    return Attempt(
        queued_at=read_instant(entry, "q"),
        started_at=read_instant(entry, "s"),
        instance=entry["i"]["S"],
        finished_at=read_instant(entry, "f") if "f" in entry else None,
        ending=Ending(entry["e"]["S"]) if "e" in entry else None,
        message=entry["m"]["S"] if "m" in entry else None,
    )


def checkpoint_entry(checkpoint: Checkpoint) -> Item:
    """Return the value of ``checkpoint``: the text, and what orders it among others."""
    return {
        "M": {
            "v": {"S": checkpoint.text},
            "f": {"N": str(checkpoint.fence)},
            "n": {"N": str(checkpoint.number)},
        }
    }


def _to_checkpoint(entry: Item) -> Checkpoint:
    return Checkpoint(entry["v"]["S"], int(entry["f"]["N"]), int(entry["n"]["N"]))


def to_epoch(when: datetime) -> str:
    """Return whole seconds since 1970, for DynamoDB's time to live."""
    return str(int(when.timestamp()))
