"""Actions as DynamoDB items. Default values are omitted, so that a row fits into one write unit.

IAM restricts the keys of a write, not its attributes: a caller that may write rows of its tenant may write
any value. A row that duetime cannot have written is unreadable, so a forged value reaches no step that
handles other tenants' rows too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING
from datetime import datetime
from functools import partial
from typing import Any

from duetime import ids, instant
from duetime.aws.keys import Item, correlation_key, is_row, payload_key, ref_of, row_key, shard_key
from duetime.errors import UnreadableRow
from duetime.ids import SEPARATOR, SYSTEM_TENANT, ActionId
from duetime.model.action import FIELDS, Action, ActionRef, Attempt, Ending, SkipReason, Status, StoredField
from duetime.model.change import Change
from duetime.model.checkpoint import Checkpoint
from duetime.model.json_value import JSON_LIMIT
from duetime.model.new_action import PAYLOAD_LIMIT
from duetime.model.predecessors import Predecessors
from duetime.model.swap import changes
from duetime.ports.keyed_items import COUNT_LIMIT, EPOCH, EXACT_INSTANT, FLAG, NUMBER, UNREADABLE, Form
from duetime.retry import RetryPolicy

TYPE_LIMIT = 100
TEXT_LIMIT = 2_000
"""Characters of any other text: duetime writes at most 500, apart from retry policies."""
FOLLOWERS_LIMIT = 1_000
"""More than a row has: calls at once may add a few more than 50."""
ATTEMPTS_LIMIT = 100
"""More than a row has: it stores the latest 20, and those of workers that died."""

_TERMS = ("execute", "another", "execute another")
_SHARE = re.compile(r"0(?:\.\d{1,4})?|1", re.ASCII)


def _checked(check: Callable[[str], object]) -> Form:
    """Return the form of a text that `check` accepts; otherwise it raises a ValueError."""

    def load(text: str) -> str:
        check(text)
        return text

    return Form("S", lambda text: text, load)


def _check_length(most: int, text: str) -> None:
    if len(text) > most:
        raise ValueError(f"has {len(text):,} characters; at most {most:,} are allowed")


def _check_size(most: int, text: str) -> None:
    if len(text.encode()) > most:
        raise ValueError(f"has more than {most:,} bytes")


def _check_type(name: str) -> None:
    _check_length(TYPE_LIMIT, name)
    if not name or not name.isprintable():
        raise ValueError(f"has {len(name)} characters; 1 to {TYPE_LIMIT} printable ones are allowed")


def _check_shard(text: str) -> None:
    if not (text.isdecimal() and text.isascii()):
        raise ValueError(f"is {text[:20]!r}; it is a number")


def _check_policy(text: str) -> None:
    _check_length(TEXT_LIMIT, text)
    RetryPolicy.parse(text)


def _check_terms(text: str) -> None:
    if text not in _TERMS:
        raise ValueError(f"is {text[:20]!r}; it is {', '.join(_TERMS)}, or absent")


def _count(least: int) -> Form:
    def load(text: str) -> int:
        if not least <= int(text) <= COUNT_LIMIT:
            raise ValueError(f"is {text}; {least} to {COUNT_LIMIT:,} are allowed")
        return int(text)

    return Form("N", str, load)


def _to_share(text: str) -> float:
    if not _SHARE.fullmatch(text):
        raise ValueError(f"is {text[:20]!r}; it is a number from 0 to 1")
    return float(text)


def _names(names: Iterable[str]) -> tuple[ActionId, ...]:
    found = tuple(sorted(map(ActionId, names)))
    if not all(map(ids.is_action_id, found)) or len(found) > FOLLOWERS_LIMIT:
        raise ValueError(f"has {len(found)} entries; at most {FOLLOWERS_LIMIT} ids are allowed")
    return found


TEXT = _checked(partial(_check_length, TEXT_LIMIT))
JSON = _checked(partial(_check_size, JSON_LIMIT))
_ATTEMPT = {
    "q": ("queued_at", EXACT_INSTANT),
    "s": ("started_at", EXACT_INSTANT),
    "i": ("instance", TEXT),
    "f": ("finished_at", EXACT_INSTANT),
    "e": ("ending", Form("S", str, Ending)),
    "m": ("message", TEXT),
}
"""The names of an attempt's facts have one letter, because a row has several attempts."""
_CHECKPOINT = {"v": ("text", JSON), "f": ("fence", NUMBER), "n": ("number", NUMBER)}


def _entry(facts: Mapping[str, tuple[str, Form]], value: object) -> Item:
    stored = {letter: (getattr(value, name), form) for letter, (name, form) in facts.items()}
    return {letter: {form.type: form.store(it)} for letter, (it, form) in stored.items() if it is not None}


def _of_entry(facts: Mapping[str, tuple[str, Form]], entry: Item) -> dict[str, Any]:
    return {
        name: form.load(entry[letter][form.type]) for letter, (name, form) in facts.items() if letter in entry
    }


def _to_attempts(entries: list[Item]) -> tuple[Attempt, ...]:
    if len(entries) > ATTEMPTS_LIMIT:
        raise ValueError(f"has {len(entries)} entries")
    return tuple(Attempt(**_of_entry(_ATTEMPT, entry["M"])) for entry in entries)


def _to_checkpoint(entry: Item) -> Checkpoint:
    stored = Checkpoint(**_of_entry(_CHECKPOINT, entry))
    json.loads(stored.text)
    return stored


FORMS: Mapping[str, Form] = {
    "datetime": EXACT_INSTANT,
    "Epoch": EPOCH,
    "bool": FLAG,
    "Count": _count(0),
    "Limit": _count(1),
    "Text": TEXT,
    "TypeName": _checked(_check_type),
    "DueShard": _checked(_check_shard),
    "Terms": _checked(_check_terms),
    "Share": Form("S", lambda share: format(share, "g"), _to_share),
    "Key": _checked(partial(ids.key, "key")),
    "CorrelationId": _checked(partial(ids.key, "correlation_id")),
    "BatchName": _checked(ids.batch_name),
    "Names": _checked(Predecessors.parse),
    "Policy": _checked(_check_policy),
    "Json": JSON,
    "PayloadText": _checked(partial(_check_size, PAYLOAD_LIMIT)),
    "TenantId": TEXT,
    "Status": Form("S", str, Status),
    "SkipReason": Form("S", str, SkipReason),
    "Checkpoint": Form("M", partial(_entry, _CHECKPOINT), _to_checkpoint),
    "tuple[ActionId, ...]": Form("SS", list, _names),
    "tuple[Attempt, ...]": Form(
        "L", lambda attempts: [{"M": _entry(_ATTEMPT, one)} for one in attempts], _to_attempts
    ),
}
"""How facts of a kind are stored, and which values duetime writes."""

_ALWAYS = ("status", "generation", "fence", "attempt")
"""The fields that are stored with their defaults too: conditions compare them."""
_IN_KEYS = ("tenant_id", "id", "correlation_id")
"""The fields that keys of the table and of its indexes contain."""
_OPTIONAL = {"due_shard": "", "payload": None}
"""What a row without the attribute has: a final one, and one whose payload is set apart."""
_BY_FIELD: dict[str, list[StoredField]] = {}
for _stored in FIELDS.values():
    if _stored.field not in _IN_KEYS:
        _BY_FIELD.setdefault(_stored.field, []).append(_stored)
_REQUIRED = {
    *_ALWAYS,
    *(found[0].field for found in _BY_FIELD.values() if found[0].default is MISSING and not found[0].of_part),
} - _OPTIONAL.keys()
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


def as_stored(action: Action, names: Iterable[str], than: Action | None = None) -> dict[str, Item | None]:
    """Return the attributes of some fields of a row; None stands for an attribute that it does not have.

    Of a part, those are left out in which the row does not differ from `than`.
    """
    stored: dict[str, Item | None] = {}
    for name in names:
        for field in _BY_FIELD.get(name, ()):
            value = field.of(action)
            if than is not None and field.of_part is not None and field.of(than) == value:
                continue
            if (value is None and name not in _REQUIRED) or (value == field.default and name not in _ALWAYS):
                stored[field.name] = None
            else:
                kind, store, _ = FORMS[field.kind]
                stored[field.name] = {kind: store(value)}
    if action.status.is_final and "due_shard" in stored:
        stored["due_shard"] = None
    if action.payload_size and "payload" in stored:
        stored["payload"] = None
    return stored


def attribute_of(name: str) -> str:
    """Return the attribute that a row has if it has a value in this field."""
    return _BY_FIELD[name][0].name


def differences(read: Action, after: Action) -> dict[str, Item | None]:
    """Return the attributes in which a row differs from the one of which a transition made it.

    The row is in the index of due rows while it is not final, and in that of failed ones while it is a dead
    letter.
    """
    changed = changes(read, after)
    moves = after.status.is_final is not read.status.is_final
    stored = as_stored(after, (*changed, *(("due_shard",) if moves else ())), read)
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
        "ttl": {"N": EPOCH.store(kept_until)},
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
    given: dict[str, Any] = dict(_OPTIONAL)
    parts: dict[str, dict[str, Any]] = {}
    _check_keys(item, ref)
    for name, stored in item.items():
        field = FIELDS.get(name)
        if field is None or field.field in _IN_KEYS:
            continue
        value = _loaded(name, stored, FORMS[field.kind])
        if field.of_part is None:
            given[field.field] = value
        else:
            parts.setdefault(field.field, {})[field.of_part] = value
    given |= {name: _BY_FIELD[name][0].source(**facts) for name, facts in parts.items()}
    for missing in _REQUIRED - given.keys():
        raise KeyError(missing)
    if "correlation" in item:
        given["correlation_id"] = ids.key("correlation_id", item["correlation"]["S"].partition(SEPARATOR)[2])
    action = Action(tenant_id=ref.tenant_id, id=ref.id, **given)
    for problem in _problems(action):
        raise ValueError(problem)
    return action


def _loaded(name: str, stored: Item, form: Form) -> Any:
    try:
        return form.load(stored[form.type])
    except UNREADABLE as error:
        raise ValueError(f"{name} {error}") from error


def _problems(row: Action) -> Iterator[str]:
    if not row.status.is_final and not row.due_shard:
        yield f"due_shard is missing; a {row.status} row has one"
    if row.status is Status.PROCESSING and row.lease_until is None:
        yield "lease_until is missing; a processing row has one"
    if ids.is_one_shot(row.id) and row.planned is not None:
        yield "planned_at is there; a one-shot has none"


def _check_keys(item: Item, ref: ActionRef) -> None:
    """Check that the attributes name only the row and the tenant of the key.

    Raises:
        ValueError: an attribute has a value that duetime writes only into another row.
    """
    if not ids.is_action_id(ref.id):
        raise ValueError(f"sk is {ref.id!r}, which is no action's id")
    ids.created_at(ref.id)
    expected = {
        "pk": row_key(ref)["pk"]["S"],
        "failed": shard_key(ref),
        "tenant_due": shard_key(ref),
    }
    for name, text in expected.items():
        if name in item and item[name]["S"] != text:
            raise ValueError(f"{name} is {item[name]['S']!r}; this row's is {text!r}")
    correlation = item["correlation"]["S"] if "correlation" in item else None
    if correlation is not None and not correlation.startswith(correlation_key(ref.tenant_id, "")):
        raise ValueError(f"correlation {correlation!r} is not of tenant {ref.tenant_id!r}")
    owner = item["job_tenant"]["S"] if "job_tenant" in item else None
    is_run_for_tenant = ids.is_event_run(ref.id) and ref.tenant_id != SYSTEM_TENANT
    if owner is not None and not (owner == SYSTEM_TENANT and is_run_for_tenant):
        raise ValueError(f"job_tenant is {owner!r}; only runs that an event started name {SYSTEM_TENANT!r}")
