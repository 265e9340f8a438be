"""Idempotency and debounce keys: one item for each, in one transaction with its action's row.

::

    idempotency key
      take        if the key is absent                                       -> key, row
      take over   if the key is of an action that is final or gone           -> key, row
      take again  if the row has failed, and the key is absent or its own    -> row, key
      remove      if the key is of this removed row                          -> no key
    debounce key
      take        if the key is absent                            -> key, row
      take over   if the key is of an action that has begun       -> key, row
      coalesce    if that row is pending, its generation as read  -> row, and its offloaded payload

An idempotency key has the id of its action, a hash of the action's type and payload, and the end of its
validity. It has no time to live: it is removed after its row, or taken over.

A debounce key has the id of its latest action. That a run of that action has begun is never undone, so a
take-over does not check its row. The key lives 400 days after the due time, which a later due time moves.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from duetime import ids
from duetime.errors import BackendUnavailable
from duetime.ids import SHARDS, ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.debounce import DebounceHolder, applied_if_taken
from duetime.model.debounce import key_of as debounce_key_of
from duetime.model.idempotency import HeldKey, KeyTerms, content_of
from duetime.model.lease import Applied, Rejected
from duetime.model.swap import PENDING_AS_READ, applied_if_mine, redrivable
from duetime.ports.keyed_items import (
    INSTANT,
    IS_NEW,
    TEXT,
    AnyWrite,
    Cancelled,
    Fields,
    Guard,
    Items,
    Key,
    Keyed,
    Kind,
    Outcome,
    Write,
    read_strictly,
    unread,
)
from duetime.ports.row_writes import RowIsOver, RowPut, RowSwap

IDEMPOTENCY_KEY = Kind(
    name="idempotency key",
    partition="{tenant}#key#{shard}",
    sort="key",
    fields={"action_id": TEXT, "content": TEXT, "until": INSTANT},
    guard=("action_id",),
    expires="with its row",
    writers="callers, `arm`",
)
DEBOUNCE_KEY = Kind(
    name="debounce key",
    partition="{tenant}#debounce#{shard}",
    sort="key",
    fields={"action_id": TEXT},
    guard=("action_id",),
    expires="400 days",
    writers="callers",
)


def key_of(kind: Kind, tenant_id: str, text: str | None) -> Key:
    """Return the key of a key's item. Its partition has no rows, so no list of actions reads it."""
    return kind.key(text or "", tenant=tenant_id, shard=shard_of_key(text or ""))


def shard_of_key(text: str) -> str:
    """Return one of 16 shards."""
    return f"{zlib.crc32(text.encode()) % len(SHARDS):x}"


def to_held(item: Fields) -> HeldKey:
    """Return the holder of an idempotency key.

    Raises:
        ValueError: it is no action's id.
    """
    return HeldKey(_action_of(item), item["content"], item["until"])


def to_latest(item: Fields) -> tuple[ActionId, datetime]:
    """Return the latest action of a debounce key, and when the key may be removed.

    Raises:
        ValueError: it is no action's id.
    """
    return _action_of(item), item["ttl"]


def _action_of(item: Fields) -> ActionId:
    action_id: str = item["action_id"]
    if not ids.is_action_id(action_id):
        raise ValueError(f"action_id {action_id!r} is no action's id")
    return ActionId(action_id)


Get = Callable[[ActionRef], Action | None]
"""Reads a row consistently and with its payload."""

_KEY, _ROW = 0, 1
"""The positions of the key and of the row in a transaction that takes a key."""
_RACES = 10
_OUTLIVES = timedelta(days=400)
_RENEWED_WITHIN = timedelta(days=200)
"""A later due time writes the key again only if less than this would be left of its time to live."""


class IdempotencyKeys(Keyed):
    """The idempotency keys of a table: see `duetime.ports.action_store.ActionStore`."""

    def __init__(self, items: Items, get: Get) -> None:
        super().__init__(items)
        self._get = get

    def put_once(self, action: Action, terms: KeyTerms) -> Action:
        """*schedule, under a key*: take the action's idempotency key, and add its row, in one transaction.

        A key is free if no action of the tenant has it. If the key's time has passed by ``terms.now``, and
        its action is final or gone, this action takes the key over. Otherwise, return the current row of the
        action that has the key. A returned action with the id of `action` is this action, also after a lost
        response.

        Raises:
            KeyConflict: the key is not free, and its action has another type or payload. Nothing was
            added.
        """
        if action.payload_size and (first := self.first_of_key(action, terms)) is not None:
            return first
        held: HeldKey | None = None
        for _ in range(_RACES):
            outcome = self._take(action, terms, held)
            if outcome is None or outcome.is_written:
                return action
            if _KEY in outcome.items:
                held = outcome.read(to_held, _KEY)
            elif _ROW in outcome.items:
                return action  # ids are unique: this is a repeated call
            if (first := self._first(action, held, terms)) is not None:
                return first
        reason = f"the idempotency key {action.idempotency_key!r} changed during each of {_RACES} attempts"
        raise BackendUnavailable("The actions table", reason)

    def _take(self, action: Action, terms: KeyTerms, held: HeldKey | None) -> Outcome | None:
        """Take the key as read; None: there was no response, and by a read of the key the action has it."""
        over = [] if held is None else [RowIsOver(ActionRef(action.tenant_id, held.action_id))]
        try:
            return self._items.write(taking(action, terms, held), RowPut(action), *over)
        except Cancelled:
            raise
        except BackendUnavailable:
            present = self._held(action)
            if present is None or present.action_id != action.id:
                raise
            return None

    def first_of_key(self, action: Action, terms: KeyTerms) -> Action | None:
        """Return the action that `put_once` would return in place of `action`; None if its key is free.

        Another writer may take a free key at once.

        Raises:
            KeyConflict: as for `put_once`.
        """
        return self._first(action, self._held(action), terms)

    def _first(self, action: Action, held: HeldKey | None, terms: KeyTerms) -> Action | None:
        if held is None:
            return None
        if held.action_id == action.id:
            return action
        return held.first(action, self._get(ActionRef(action.tenant_id, held.action_id)), terms.now)

    def redrive(self, row: Action, after: Action, at: datetime) -> Applied | Rejected:
        """Redrive a failed row that has a key, unless another action has the key now.

        A key that the row still has keeps its time. One that is gone holds until the row is final once more.
        """
        mine: Guard = (*IS_NEW, {"action_id": row.id})
        first = {"content": content_of(self._get(row.ref) or row), "until": at}
        sets = {"action_id": row.id}
        key = Write(kind=IDEMPOTENCY_KEY, key=_key(row), guard=mine, sets=sets, first=first)
        swap = RowSwap(row, after, redrivable(row))
        outcome = self._items.write(swap, key)
        if outcome.is_written:
            moved = self._get(row.ref)
            return Rejected(None) if moved is None else Applied(moved)
        if 0 in outcome.items:
            return applied_if_mine(Rejected(outcome.row()), row, after, swap.guard)
        held = outcome.read(to_held, 1)
        return Rejected(row, taken_by=None if held is None else held.action_id)

    def remove_key(self, ref: ActionRef, key: str) -> None:
        """Delete the idempotency key of a removed row, unless another action has the key now."""
        place, mine = key_of(IDEMPOTENCY_KEY, ref.tenant_id, key), {"action_id": ref.id}
        self._items.write(Write(kind=IDEMPOTENCY_KEY, key=place, guard=(mine,), is_removal=True))

    def _held(self, action: Action) -> HeldKey | None:
        item = self._items.get(IDEMPOTENCY_KEY, _key(action), unread)
        return None if item is None else read_strictly(to_held, item)


def taking(action: Action, terms: KeyTerms, held: HeldKey | None = None) -> Write:
    """Return the put that takes a free idempotency key, or the key of `held`."""
    as_read = IS_NEW if held is None else IDEMPOTENCY_KEY.as_read(held)
    put = IDEMPOTENCY_KEY.of(HeldKey.for_action(action, terms.until))
    return Write(kind=IDEMPOTENCY_KEY, key=_key(action), guard=as_read, put=put)


def _key(action: Action) -> Key:
    return key_of(IDEMPOTENCY_KEY, action.tenant_id, action.idempotency_key)


class DebounceKeys(Keyed):
    """The debounce keys of a table: see `duetime.ports.action_store.ActionStore`."""

    def __init__(self, items: Items, get: Get) -> None:
        super().__init__(items)
        self._get = get

    def find_debounced(self, tenant_id: TenantId, key: str) -> DebounceHolder | None:
        """Return the latest action of a debounce key, by consistent reads; None if the key is free."""
        item = self._items.get(DEBOUNCE_KEY, key_of(DEBOUNCE_KEY, tenant_id, key), unread)
        if item is None:
            return None
        action_id, until = read_strictly(to_latest, item)
        holder = DebounceHolder(action_id, None, until)
        row = self._get(ActionRef(tenant_id, holder.action_id))
        is_forged = row is not None and debounce_key_of(row) != key  # IAM does not restrict attributes
        return holder if is_forged else replace(holder, action=row)

    def put_debounced(self, action: Action, former: DebounceHolder | None) -> bool:
        """*schedule, debounced*: take the action's debounce key, and add its row, in one transaction.

        Without `former`, the key must be free; with it, the key must be of that action, which a caller has
        read and which no longer awaits its first run. Otherwise change nothing and return False. If the row
        exists, an earlier try of this call has added it: return True.
        """
        as_read = IS_NEW if former is None else DEBOUNCE_KEY.as_read(former)
        put = {"action_id": action.id, "ttl": action.due_at + _OUTLIVES}
        key = Write(kind=DEBOUNCE_KEY, key=_debounced(action), guard=as_read, put=put)
        try:
            outcome = self._items.write(key, RowPut(action))
        except BackendUnavailable:
            if self._get(action.ref) is None:
                raise
            return True
        return outcome.is_written or _ROW in outcome.items  # ids are unique: this is a repeated call

    def coalesce(self, row: Action, changed: Action, holder: DebounceHolder) -> Applied | Rejected:
        """*coalesce*: pending → pending, with the due time, payload and expiry of `changed`.

        The row must be pending under the `generation` of `row`; `changed` has the next one. `holder` is what
        `find_debounced` returned. A row that has taken the same call, now or before other calls and runs,
        was changed by an earlier try of this call: return `Applied` with the present row.
        """
        writes: list[AnyWrite] = [RowSwap(row, changed, PENDING_AS_READ, has_payload=True)]
        if changed.due_at + _RENEWED_WITHIN > holder.until:
            mine, sets = {"action_id": changed.id}, {"ttl": changed.due_at + _OUTLIVES}
            writes.append(Write(kind=DEBOUNCE_KEY, key=_debounced(changed), guard=(mine,), sets=sets))
        try:
            outcome = self._items.write(*writes)
        except BackendUnavailable:
            applied = applied_if_taken(self._get(row.ref), changed)
            if isinstance(applied, Rejected):
                raise
            return applied
        return Applied(changed) if outcome.is_written else applied_if_taken(outcome.row(), changed)

    def forget(self, row: Action) -> None:
        """Remove the key of a removed row, unless another action has the key now."""
        mine = {"action_id": row.id}
        self._items.write(Write(kind=DEBOUNCE_KEY, key=_debounced(row), guard=(mine,), is_removal=True))


def _debounced(action: Action) -> Key:
    return key_of(DEBOUNCE_KEY, action.tenant_id, debounce_key_of(action))
