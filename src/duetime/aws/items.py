"""Actions as DynamoDB items. Default values are omitted, so that a row fits into one write unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from duetime import ids, instant
from duetime.aws.keys import Item, correlation_key, is_row, payload_key, ref_of, row_key, shard_key
from duetime.aws.row_checks import check_keys, check_values, read_instant
from duetime.errors import UnreadableRow
from duetime.ids import SEPARATOR, ActionId
from duetime.model.action import Action, Attempt, Ending, SkipReason, Status
from duetime.model.change import Change
from duetime.model.checkpoint import Checkpoint
from duetime.model.swap import changes
from duetime.ports.keyed_items import UNREADABLE


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


class _Form(NamedTuple):
    """How values of one type are stored."""

    write: Callable[[Any], Item]
    read: Callable[[Item, str], Any]


class _Field(NamedTuple):
    """How a field of an action is stored: under its own name, unless it has its default."""

    attribute: str
    form: _Form
    default: object = MISSING

    def stored(self, value: Any) -> Item | None:
        return None if value == self.default else self.form.write(value)


def _text(item: Item, name: str) -> Any:
    return item[name]["S"]


_FORMS = {
    "datetime": _Form(lambda at: {"S": instant.text(at)}, read_instant),
    "int": _Form(lambda number: {"N": str(number)}, lambda item, name: int(item[name]["N"])),
    "bool": _Form(lambda flag: {"BOOL": flag}, lambda item, name: item[name]["BOOL"]),
    "str": _Form(lambda text: {"S": text}, _text),
    "TenantId": _Form(lambda text: {"S": text}, _text),
    "Status": _Form(lambda status: {"S": status.value}, lambda item, name: Status(item[name]["S"])),
    "SkipReason": _Form(lambda reason: {"S": reason.value}, lambda item, name: SkipReason(item[name]["S"])),
    "Checkpoint": _Form(checkpoint_entry, lambda item, name: _to_checkpoint(item[name]["M"])),
    "tuple[Attempt, ...]": _Form(
        lambda attempts: {"L": [attempt_entry(attempt) for attempt in attempts]},
        lambda item, name: tuple(_to_attempt(entry["M"]) for entry in item[name]["L"]),
    ),
    "tuple[ActionId, ...]": _Form(
        lambda ids_: {"SS": list(ids_)}, lambda item, name: tuple(sorted(map(ActionId, item[name]["SS"])))
    ),
}
_EPOCH = _Form(
    lambda when: {"N": to_epoch(when)},
    lambda item, name: datetime.fromtimestamp(int(item[name]["N"]), UTC),
)
_IN_KEYS = ("tenant_id", "id", "correlation_id")
"""The fields that keys of the table and of its indexes contain."""
_ALWAYS = ("status", "generation", "fence", "attempt")
"""The fields that are stored with their defaults too: conditions compare them."""
_NAMED = {
    "kept_until": _Field("ttl", _EPOCH, None),
    "result": _Field("run_result", _FORMS["str"], None),
    "payload": _Field("payload", _FORMS["str"], None),
}
_FIELDS = {
    field.name: _NAMED.get(field.name)
    or _Field(
        field.name,
        _FORMS[str(field.type).removesuffix(" | None")],
        MISSING if field.name in _ALWAYS else field.default,
    )
    for field in fields(Action)
    if field.name not in _IN_KEYS
}
_BY_ATTRIBUTE = {stored.attribute: (name, stored.form.read) for name, stored in _FIELDS.items()}
_OPTIONAL = {"due_shard": "", "payload": None}
"""What a row without the attribute has: a final one, and one whose payload is set apart."""
_REQUIRED = {name for name, stored in _FIELDS.items() if stored.default is MISSING} - _OPTIONAL.keys()
_OF_FAILED = frozenset({"failed", "failed_at"})


def to_item(action: Action, *, due_order: bool = False) -> Item:
    """Return the row of a new action, or of an action that ran outside the normal path.

    With `due_order`, a one-shot is in the index of its tenant by due time, also after it is settled.
    """
    attributes = as_stored(action, (*_ALWAYS, *vars(action)))
    item = row_key(action.ref) | {name: value for name, value in attributes.items() if value is not None}
    if action.correlation_id is not None:
        item["correlation"] = {"S": correlation_key(action.tenant_id, action.correlation_id)}
    if due_order and ids.is_one_shot(action.id):
        item["tenant_due"] = {"S": shard_key(action.ref)}
    return item | _of_failed(action) if action.is_dead_letter else item


def as_stored(action: Action, names: Iterable[str]) -> dict[str, Item | None]:
    """Return the attributes of some fields of a row; None stands for an attribute that it does not have."""
    stored = {
        field.attribute: field.stored(getattr(action, name))
        for name in names
        if (field := _FIELDS.get(name)) is not None
    }
    if action.status.is_final and "due_shard" in stored:
        stored["due_shard"] = None
    if action.payload_offloaded and "payload" in stored:
        stored["payload"] = None
    return stored


def differences(read: Action, after: Action) -> dict[str, Item | None]:
    """Return the attributes in which a row differs from the one of which a transition made it.

    The row is in the index of due rows while it is not final, and in that of failed ones while it is a dead
    letter.
    """
    changed = changes(read, after)
    moves = after.status.is_final is not read.status.is_final
    stored = as_stored(after, (*changed, *(("due_shard",) if moves else ())))
    if Status.FAILED in {read.status, after.status}:
        stored |= _of_failed(after) if after.is_dead_letter else dict.fromkeys(_OF_FAILED)
    return stored


def _of_failed(action: Action) -> dict[str, Item | None]:
    return {"failed": {"S": shard_key(action.ref)}, "failed_at": {"S": instant.text(action.failed_at)}}


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
    given: dict[str, Any] = _OPTIONAL | {
        known[0]: known[1](item, name) for name in item if (known := _BY_ATTRIBUTE.get(name)) is not None
    }
    for missing in _REQUIRED - given.keys():
        raise KeyError(missing)
    if "correlation" in item:
        given["correlation_id"] = item["correlation"]["S"].partition(SEPARATOR)[2]
    action = Action(tenant_id=ref.tenant_id, id=ref.id, **given)
    check_values(action)
    return action
