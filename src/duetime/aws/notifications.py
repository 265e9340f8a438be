"""Tenants' preferences and lists of notifications in the jobs table.

========================  ==============================  ========================================
partition                 sort key                        holds
========================  ==============================  ========================================
``acme#preferences``      ``chosen``                      the tenant's preferences
``acme#inbox``            the entry's id                  one notification
========================  ==============================  ========================================

DynamoDB's time to live removes an entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from duetime import instant
from duetime.aws import unreadable_items
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, partition
from duetime.aws.row_checks import UNREADABLE
from duetime.errors import InvalidCursor, UnreadableRow
from duetime.ids import TenantId
from duetime.model.notification import Channel, Notification, NotificationKind, is_entry_id
from duetime.model.preferences import Preferences
from duetime.ports.notifications import InboxEntry, InboxPage

T = TypeVar("T")

IS_NEW = "attribute_not_exists(pk)"
IS_THERE = "attribute_exists(pk)"
REVISION_IS_AS_READ = "revision = :seen"

_QUERIES = 10
"""The limit of queries for a page: if most entries are of other kinds, the page is short."""

_KINDS, _CHANNELS = frozenset(NotificationKind), frozenset(Channel)
"""Unknown names, which another version of duetime wrote, are ignored."""


class DynamoPreferences:
    """One item for each tenant.

    See `duetime.ports.notifications.PreferencesStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def get(self, tenant_id: TenantId) -> Preferences:
        item = self._table.get(_preferences_key(tenant_id))
        if item is None:
            return Preferences(tenant_id=tenant_id)
        return _readable(lambda: _to_preferences(tenant_id, item), "preferences", item)

    def put(self, chosen: Preferences) -> bool:
        following = replace(chosen, revision=chosen.revision + 1)
        condition: dict[str, Any] = {"ConditionExpression": IS_NEW}
        if chosen.revision:
            seen = {":seen": {"N": str(chosen.revision)}}
            condition = {"ConditionExpression": REVISION_IS_AS_READ, "ExpressionAttributeValues": seen}
        try:
            self._table.put(
                {**_preferences_key(chosen.tenant_id), **_preferences_item(following)}, **condition
            )
        except ConditionFailed:  # also for a repeat after a lost response
            return self.get(chosen.tenant_id) == following
        return True


def _preferences_key(tenant_id: TenantId) -> Item:
    return {"pk": {"S": partition(tenant_id, "preferences")}, "sk": {"S": "chosen"}}


def _preferences_item(chosen: Preferences) -> Item:
    item: Item = {
        "language": {"S": chosen.language},
        "channels": {"S": json.dumps({kind: sorted(channel) for kind, channel in chosen.channels.items()})},
        "addresses": {"S": json.dumps(chosen.addresses)},
        "admin_addresses": {"S": json.dumps(chosen.admin_addresses)},
        "revision": {"N": str(chosen.revision)},
    }
    if chosen.changed_at is not None:
        item["changed_at"] = {"S": instant.text(chosen.changed_at)}
    if chosen.changed_by is not None:
        item["changed_by"] = {"S": chosen.changed_by}
    return item


def _to_preferences(tenant_id: TenantId, item: Item) -> Preferences:
    return Preferences(
        tenant_id=tenant_id,
        language=item["language"]["S"],
        channels={
            NotificationKind(kind): frozenset(Channel(name) for name in chosen if name in _CHANNELS)
            for kind, chosen in json.loads(item["channels"]["S"]).items()
            if kind in _KINDS
        },
        addresses=tuple(json.loads(item["addresses"]["S"])),
        admin_addresses=tuple(json.loads(item["admin_addresses"]["S"])),
        revision=int(item["revision"]["N"]),
        changed_at=instant.parse(item["changed_at"]["S"]) if "changed_at" in item else None,
        changed_by=item.get("changed_by", {}).get("S"),
    )


class DynamoInbox:
    """One item for each notification, with its id as the sort key.

    See `duetime.ports.notifications.Inbox`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def add(self, notification: Notification, *, expires_at: datetime) -> None:
        item = {
            **_entry_key(notification.tenant_id, notification.entry_id),
            "id": {"S": notification.id},
            "kind": {"S": notification.kind.value},
            "at": {"S": instant.text(notification.at)},
            "facts": {"S": json.dumps(notification.facts)},
            "is_digest": {"BOOL": notification.is_digest},
            "ttl": {"N": to_epoch(expires_at)},
        }
        with suppress(ConditionFailed):
            self._table.put(item, ConditionExpression=IS_NEW)

    def list(
        self,
        tenant_id: TenantId,
        *,
        kinds: frozenset[NotificationKind],
        is_unread: bool = False,
        limit: int,
        cursor: str | None,
    ) -> InboxPage:
        if cursor is not None and not is_entry_id(cursor):
            raise InvalidCursor
        if not kinds:
            return InboxPage((), None)  # DynamoDB rejects an empty IN
        request = _inbox_query(tenant_id, kinds, is_unread=is_unread)
        found, before = list[Item](), cursor
        for _ in range(_QUERIES):
            answer = self._before(request, before or "~", limit - len(found))
            found += answer["Items"]
            more: Item | None = answer.get("LastEvaluatedKey")
            before = more["sk"]["S"] if more else None
            if before is None or len(found) == limit:
                break
        entries = readable(found, partial(_to_entry, tenant_id), "notification")
        return InboxPage(tuple(entries), before)

    def _before(self, request: dict[str, Any], before: str, limit: int) -> Any:
        values = request["ExpressionAttributeValues"] | {":before": {"S": before}}
        return self._table.query(
            ScanIndexForward=False,
            ConsistentRead=True,
            Limit=limit,
            **{**request, "ExpressionAttributeValues": values},
        )

    def get(self, tenant_id: TenantId, entry_id: str) -> InboxEntry | None:
        if not is_entry_id(entry_id):
            return None
        item = self._table.get(_entry_key(tenant_id, entry_id))
        if item is None:
            return None
        return _readable(lambda: _to_entry(tenant_id, item), "notification", item)

    def mark_read(self, tenant_id: TenantId, entry_id: str, *, by: str, at: datetime) -> bool:
        if not is_entry_id(entry_id):
            return False
        try:
            self._table.update(
                _entry_key(tenant_id, entry_id),
                ConditionExpression=IS_THERE,
                UpdateExpression=(
                    "SET read_at = if_not_exists(read_at, :at), read_by = if_not_exists(read_by, :by)"
                ),
                ExpressionAttributeValues={":at": {"S": instant.text(at)}, ":by": {"S": by}},
            )
        except ConditionFailed:
            return False
        return True


def _inbox_query(
    tenant_id: TenantId, kinds: frozenset[NotificationKind], *, is_unread: bool
) -> dict[str, Any]:
    named = {f":kind{place}": {"S": kind.value} for place, kind in enumerate(sorted(kinds))}
    unread = " AND attribute_not_exists(read_at)" if is_unread else ""
    return {
        "KeyConditionExpression": "pk = :inbox AND sk < :before",
        "FilterExpression": f"kind IN ({', '.join(named)}){unread}",
        "ExpressionAttributeValues": {":inbox": {"S": _inbox(tenant_id)}, **named},
    }


def _inbox(tenant_id: TenantId) -> str:
    return partition(tenant_id, "inbox")


def _entry_key(tenant_id: TenantId, entry_id: str) -> Item:
    return {"pk": {"S": _inbox(tenant_id)}, "sk": {"S": entry_id}}


def _to_entry(tenant_id: TenantId, item: Item) -> InboxEntry:
    return InboxEntry(
        notification=Notification(
            id=item["id"]["S"],
            kind=NotificationKind(item["kind"]["S"]),
            tenant_id=tenant_id,
            at=instant.parse(item["at"]["S"]),
            facts=json.loads(item["facts"]["S"]),
            is_digest=item["is_digest"]["BOOL"],
        ),
        entry_id=item["sk"]["S"],
        read_at=instant.parse(item["read_at"]["S"]) if "read_at" in item else None,
        read_by=item.get("read_by", {}).get("S"),
    )


def _readable(read: Callable[[], T], kind: str, item: Item) -> T:
    """Return the item's value.

    Raises:
        UnreadableRow: duetime did not write the item; it is noted.
    """
    try:
        return read()
    except UNREADABLE as error:
        unreadable_items.note(kind, item, error)
        raise UnreadableRow([item["pk"], item["sk"]], error) from error
