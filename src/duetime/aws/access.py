"""Grants and the audit trail in the jobs table.

========================  ==============================  ========================================
partition                 sort key                        holds
========================  ==============================  ========================================
``acme#grants``           the role                        what was granted to it
``acme#audit#0f3a…``      the entry's id                  one entry; the hash is of its target
========================  ==============================  ========================================

DynamoDB's time to live removes an entry after the deployment's audit retention. The partition of an entry is
a hash. Permissions on jobs and their runs do not cover it, because their keys have hyphens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, partition
from duetime.aws.tables import AUDIT, TTL_ATTRIBUTE
from duetime.clock import Clock
from duetime.errors import BackendUnavailable, InvalidCursor
from duetime.ids import TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, AuditTarget, is_entry_id
from duetime.model.permissions import Permission
from duetime.ports.access import AuditPage, Grant

HAS_NO_REVISION = "attribute_not_exists(revision)"
REVISION_IS_AS_READ = "revision = :read"
IS_NEW = "attribute_not_exists(pk)"
HAS_NOT_ENDED = "attribute_not_exists(status_code)"
BEGUN_LINK, ENDED_LINK = "begun_link", "ended_link"
"""The attributes of an entry's links: chain, number, hash of the record before (or ``-``) and hash."""

_TRIES = 5
_NOTHING = "none"
"""The unknown permission of a revoked grant: a set cannot be empty."""
_REVOKED_FOR = timedelta(days=2)
"""How long the item of a revoked grant is stored at least."""
_REREAD_AFTER = timedelta(seconds=10)
_KNOWN = frozenset(Permission)
"""An unknown permission, which another version of duetime wrote, grants nothing."""


class DynamoGrants:
    """Grants, cached for ten seconds: other processes notice a revoked grant after this time.

    See `duetime.ports.access.Grants`.
    """

    def __init__(self, client: Client, table: str, *, clock: Clock) -> None:
        self._table, self._clock = DynamoTable(client, table), clock
        self._read: dict[TenantId, tuple[datetime, Mapping[str, Grant]]] = {}

    def for_tenant(self, tenant_id: TenantId) -> Mapping[str, Grant]:
        now = self._clock.now()
        read_at, grants = self._read.get(tenant_id, (None, {}))
        if read_at is None or now - read_at >= _REREAD_AFTER:
            grants = self._grants(tenant_id)
            self._read[tenant_id] = now, grants
        return grants

    def put(self, tenant_id: TenantId, grant: Grant) -> None:
        try:
            for _ in range(_TRIES):
                if self._put_over(self._revision(tenant_id, grant.role), tenant_id, grant):
                    return
        finally:  # the write may have succeeded without a response
            self._read.pop(tenant_id, None)
        raise BackendUnavailable("the grants", f"that of {grant.role} kept changing")

    def _put_over(self, revision: int, tenant_id: TenantId, grant: Grant) -> bool:
        """Write the grant over a revision; return False if another change came first.

        A request that the SDK repeats after a later change reverts nothing: its revision has passed.
        """
        condition: dict[str, Any] = {"ConditionExpression": HAS_NO_REVISION}
        if revision:
            read = {":read": {"N": str(revision)}}
            condition = {"ConditionExpression": REVISION_IS_AS_READ, "ExpressionAttributeValues": read}
        try:
            self._table.put(_grant_item(tenant_id, grant, revision + 1), **condition)
        except ConditionFailed as failed:
            return failed.was_repeated
        return True

    def _revision(self, tenant_id: TenantId, role: str) -> int:
        """Return the count of changes of a role's grant, revoked or not."""
        items = self._items(tenant_id, "pk = :grants AND sk = :role", {":role": {"S": role}})
        return max((int(item.get("revision", {"N": "0"})["N"]) for item in items), default=0)

    def _grants(self, tenant_id: TenantId) -> Mapping[str, Grant]:
        items = [item for item in self._items(tenant_id, "pk = :grants") if "revoked" not in item]
        return {grant.role: grant for grant in readable(items, _to_grant, "grant")}

    def _items(self, tenant_id: TenantId, condition: str, values: Item | None = None) -> Iterable[Item]:
        return self._table.items(
            KeyConditionExpression=condition,
            ExpressionAttributeValues={":grants": {"S": partition(tenant_id, "grants")}, **(values or {})},
            ConsistentRead=True,
        )


class DynamoAuditTrail:
    """The audit trail. Its entries outlive the actions and jobs that they name.

    See `duetime.ports.access.AuditTrail`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def begin(self, entry: AuditEntry) -> None:
        self._put(entry, IS_NEW)

    def end(self, entry: AuditEntry) -> None:
        self._put(entry, HAS_NOT_ENDED)

    def _put(self, entry: AuditEntry, condition: str) -> None:
        """Write the entry. If the condition fails, the same entry exists, because an id is unique."""
        with suppress(ConditionFailed):
            self._table.put(_audit_item(entry), ConditionExpression=condition)

    def count(self, entry: AuditEntry) -> None:
        self._table.put(_audit_item(entry))

    def list(
        self, tenant_id: TenantId, target: AuditTarget | None, *, limit: int, cursor: str | None
    ) -> AuditPage:
        if cursor is not None and not is_entry_id(cursor):
            raise InvalidCursor
        if target is None:
            return self._of_tenant(tenant_id, limit, cursor or "~")
        answer = self._table.query(
            ScanIndexForward=False,
            KeyConditionExpression="pk = :of AND sk < :before",
            ExpressionAttributeValues={
                ":of": {"S": _partition_of(tenant_id, target)},
                ":before": {"S": cursor or "~"},
            },
            ConsistentRead=True,
            Limit=limit,
        )
        return _page(answer, [*readable(answer["Items"], to_entry, "audit entry")])

    def _of_tenant(self, tenant_id: TenantId, limit: int, before: str) -> AuditPage:
        answer = self._table.query(
            ScanIndexForward=False,
            IndexName=AUDIT.name,
            KeyConditionExpression="audit_of = :tenant AND sk < :before",
            ExpressionAttributeValues={":tenant": {"S": tenant_id}, ":before": {"S": before}},
            Limit=limit,
        )
        own = partition(tenant_id, "audit#")
        items = (item for item in answer["Items"] if item["pk"]["S"].startswith(own))
        keys = [{"pk": item["pk"], "sk": item["sk"]} for item in items]
        entries = readable(self._table.get_many(keys) if keys else (), to_entry, "audit entry")
        return _page(answer, sorted(entries, key=lambda entry: entry.id, reverse=True))


def _page(answer: Any, entries: list[AuditEntry]) -> AuditPage:
    more: Item | None = answer.get("LastEvaluatedKey")
    return AuditPage(tuple(entries), more["sk"]["S"] if more else None)


def _partition_of(tenant_id: str, target: AuditTarget) -> str:
    return partition(tenant_id, f"audit#{sha256(str(target).encode()).hexdigest()[:16]}")


def _grant_item(tenant_id: TenantId, grant: Grant, revision: int) -> Item:
    """Return the item of a grant; that of a revoked one stays until no late request can restore it."""
    item: Item = {
        "pk": {"S": partition(tenant_id, "grants")},
        "sk": {"S": grant.role},
        "permissions": {"SS": sorted(grant.permissions) or [_NOTHING]},
        "granted_by": {"S": grant.granted_by},
        "granted_at": {"S": instant.text(grant.granted_at)},
        "revision": {"N": str(revision)},
    }
    if not grant.permissions:
        expires_at = grant.granted_at + _REVOKED_FOR
        item |= {"revoked": {"BOOL": True}, TTL_ATTRIBUTE: {"N": to_epoch(expires_at)}}
    return item


def _to_grant(item: Item) -> Grant:
    return Grant(
        role=item["sk"]["S"],
        permissions=frozenset(Permission(name) for name in item["permissions"]["SS"] if name in _KNOWN),
        granted_by=item["granted_by"]["S"],
        granted_at=instant.parse(item["granted_at"]["S"]),
    )


def _audit_item(entry: AuditEntry) -> Item:
    item: Item = {
        "pk": {"S": _partition_of(entry.tenant_id, entry.target)},
        "sk": {"S": entry.id},
        "audit_of": {"S": entry.tenant_id},
        "target_kind": {"S": entry.target.kind.value},
        "target_name": {"S": entry.target.name},
        "operation": {"S": entry.operation},
        "by": {"S": entry.by},
        "roles": {"S": " ".join(entry.roles)},
        "requested_at": {"S": instant.text(entry.requested_at)},
        "request_fields": {"S": json.dumps(entry.request_fields)},
        TTL_ATTRIBUTE: {"N": to_epoch(entry.expires_at)},
    }
    if entry.subject is not None:
        item["subject"] = {"S": entry.subject}
    for name, link in ((BEGUN_LINK, entry.begun_link), (ENDED_LINK, entry.ended_link)):
        if link is not None:
            item[name] = {"S": f"{link.chain} {link.number} {link.previous or '-'} {link.hash}"}
    if entry.address is not None:
        item["address"] = {"S": entry.address}
    if entry.status is not None:
        item["status_code"] = {"N": str(entry.status)}
        item["result"] = {"S": json.dumps(entry.result)}
    return item


def to_entry(item: Item) -> AuditEntry:
    """Read an audit entry from its item.

    Raises:
        ValueError: the item is not in the partition of its tenant and target, so the API did not write it.
    """
    tenant_id = TenantId(item["audit_of"]["S"])
    target = AuditTarget(AuditKind(item["target_kind"]["S"]), item["target_name"]["S"])
    if item["pk"]["S"] != _partition_of(tenant_id, target):
        raise ValueError(f"an audit entry of {target} is in the partition {item['pk']['S']!r}")
    return AuditEntry(
        id=item["sk"]["S"],
        tenant_id=tenant_id,
        target=target,
        operation=item["operation"]["S"],
        by=item["by"]["S"],
        roles=tuple(item["roles"]["S"].split()),
        address=item.get("address", {}).get("S"),
        requested_at=instant.parse(item["requested_at"]["S"]),
        request_fields=json.loads(item["request_fields"]["S"]),
        subject=item.get("subject", {}).get("S"),
        expires_at=datetime.fromtimestamp(int(item[TTL_ATTRIBUTE]["N"]), UTC),
        begun_link=_link(item, BEGUN_LINK),
        ended_link=_link(item, ENDED_LINK),
        status=int(item["status_code"]["N"]) if "status_code" in item else None,
        result=json.loads(item["result"]["S"]) if "result" in item else None,
    )


def _link(item: Item, name: str) -> AuditLink | None:
    if name not in item:
        return None
    chain, number, previous, digest = item[name]["S"].split(" ")
    return AuditLink(
        chain=chain, number=int(number), previous="" if previous == "-" else previous, hash=digest
    )
