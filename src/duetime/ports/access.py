"""Grants and the audit trail.

The partition of an audit entry has a hash of its target. Permissions on jobs and their runs do not cover it,
because their keys have hyphens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, InvalidCursor
from duetime.ids import TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, AuditTarget, is_entry_id
from duetime.model.permissions import Permission
from duetime.ports.keyed_items import (
    FLAG,
    INSTANT,
    IS_NEW,
    JSON,
    NAMES,
    NUMBER,
    TEXT,
    Fields,
    Form,
    Guard,
    Items,
    Key,
    Keyed,
    Kind,
    Presence,
    Query,
    Write,
)

GRANT = Kind(
    name="grant",
    partition="{tenant}#grants",
    sort="role",
    fields={"granted_by": TEXT, "granted_at": INSTANT},
    optional={"permissions": NAMES, "revision": NUMBER, "revoked": FLAG},
    guard=("revision",),
    expires="revoked: 2 days",
    writers="admins",
)
_REVOKED_FOR = timedelta(days=2)
"""How long the item of a revoked grant is stored at least: no late request can restore it."""
_TRIES = 5
_REREAD_AFTER = timedelta(seconds=10)
_KNOWN = frozenset(Permission)
"""An unknown permission, which another version of duetime wrote, grants nothing."""


def _to_link(text: str) -> AuditLink:
    chain, number, previous, digest = text.split(" ")
    return AuditLink(
        chain=chain, number=int(number), previous="" if previous == "-" else previous, hash=digest
    )


_WORDS = Form("S", " ".join, lambda text: tuple(text.split()))
_LINK = Form("S", lambda link: f"{link.chain} {link.number} {link.previous or '-'} {link.hash}", _to_link)
ENTRY = Kind(
    name="audit entry",
    partition="{tenant}#audit#{target}",
    sort="id",
    fields={
        **dict.fromkeys(("audit_of", "target_kind", "target_name", "operation", "by"), TEXT),
        "roles": _WORDS,
        "requested_at": INSTANT,
        "request_fields": JSON,
    },
    optional={
        **dict.fromkeys(("subject", "address"), TEXT),
        **dict.fromkeys(("begun_link", "ended_link"), _LINK),
        "status_code": NUMBER,
        "result": JSON,
    },
    expires="retention",
    writers="`api`, `erase`",
)


@dataclass(frozen=True, slots=True)
class Grant:
    """The permissions that a tenant's admin granted to a role, in addition to those in the settings."""

    role: str
    """A group of the user pool, or a role of the settings."""
    permissions: frozenset[Permission]
    granted_by: str
    """The caller who granted them."""
    granted_at: datetime
    """The time of the request."""


class Grants(Keyed):
    """The grants of each tenant, by role. They are cached for ten seconds."""

    def __init__(self, items: Items, clock: Clock) -> None:
        super().__init__(items)
        self._clock = clock
        self._read: dict[TenantId, tuple[datetime, Mapping[str, Grant]]] = {}

    def for_tenant(self, tenant_id: TenantId) -> Mapping[str, Grant]:
        """Return a tenant's grants by role.

        The result has all grants put through this object. Grants put by other processes may appear ten
        seconds later.

        Raises:
            BackendUnavailable: the grants cannot be read. The caller must not permit anything because of
            them.
        """
        now = self._clock.now()
        read_at, grants = self._read.get(tenant_id, (None, {}))
        if read_at is None or now - read_at >= _REREAD_AFTER:
            query = Query(kind=GRANT, partition=GRANT.key("", tenant=tenant_id).partition)
            grants = {grant.role: grant for grant in self._items.find(query, _to_grant) if grant}
            self._read[tenant_id] = now, grants
        return grants

    def put(self, tenant_id: TenantId, grant: Grant) -> None:
        """Replace the grant of a role. A grant without permissions revokes it.

        A repeat changes nothing. Other tenants' grants stay as they are.
        """
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
        as_read: Guard = ({"revision": revision or Presence.UNSET},)
        fields = {"granted_by": grant.granted_by, "granted_at": grant.granted_at, "revision": revision + 1}
        if grant.permissions:
            put = {**fields, "permissions": grant.permissions}
        else:
            put = {**fields, "revoked": True, "ttl": grant.granted_at + _REVOKED_FOR}
        key = GRANT.key(grant.role, tenant=tenant_id)
        outcome = self._items.write(Write(kind=GRANT, key=key, guard=as_read, put=put))
        return outcome.is_written or outcome.was_repeated

    def _revision(self, tenant_id: TenantId, role: str) -> int:
        """Return the count of changes of a role's grant, revoked or not."""
        place, _ = GRANT.key(role, tenant=tenant_id)
        found = self._items.find(
            Query(kind=GRANT, partition=place, span=(role, role)), lambda item: int(item.get("revision") or 0)
        )
        return max(found, default=0)


@dataclass(frozen=True, slots=True)
class AuditPage:
    """One page of a trail, latest entry first. `cursor` starts the next page; it is None on the last page."""

    entries: tuple[AuditEntry, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[AuditEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class AuditTrail(Keyed):
    """The log of requested changes: caller, operation, time, address and result.

    Entries are begun and ended, and never change otherwise. They outlive the actions and jobs that they name.
    """

    def begin(self, entry: AuditEntry) -> None:
        """Store an entry before its change is made.

        An existing entry stays as it is, ended or not: a repeat after a lost response is safe.

        Raises:
            BackendUnavailable: the entry may not be stored. The caller must not make the change.
        """
        self._items.write(_put(entry, guard=IS_NEW))

    def end(self, entry: AuditEntry) -> None:
        """Store the result of an entry's change, also without an earlier `begin`.

        An ended entry stays as it is.

        Raises:
            BackendUnavailable: the result may not be stored. A repeat is safe.
        """
        self._items.write(_put(entry, guard=({"status_code": Presence.UNSET},)))

    def count(self, entry: AuditEntry) -> None:
        """Store a count of rejected changes, whose target has the kind ``rejected``; or replace its own.

        Only one process writes an entry of this kind. All other entries stay as they are.

        Raises:
            BackendUnavailable: the count may not be stored. A repeat is safe.
        """
        self._items.write(_put(entry))

    def list(
        self, tenant_id: TenantId, target: AuditTarget | None, *, limit: int, cursor: str | None
    ) -> AuditPage:
        """Return at most `limit` of a tenant's entries, latest first: the entries of one target, or all.

        The list of all entries may lag by a moment. No entry occurs on two pages. Each entry that exists
        before the first page occurs on one page. Entries end with their retention.

        Raises:
            InvalidCursor: the cursor is not from this query.
        """
        if cursor is not None and not is_entry_id(cursor):
            raise InvalidCursor
        index, place = "audit_of", str(tenant_id)
        if target is not None:
            index, place = "pk", _place_of(tenant_id, target)
        newest = Query(
            kind=ENTRY,
            partition=place,
            index=index,
            before=cursor or "~",
            is_newest_first=True,
            limit=limit,
        )
        page = self._items.page(newest, to_entry)
        return AuditPage(tuple(page.found), page.cursor)


def _place_of(tenant_id: TenantId, target: AuditTarget) -> str:
    digest = sha256(str(target).encode()).hexdigest()[:16]
    return ENTRY.key("", tenant=tenant_id, target=digest).partition


def _put(entry: AuditEntry, *, guard: Guard = ()) -> Write:
    """Return the put of an entry. If its guard fails, the same entry exists, because an id is unique."""
    fields = {name: getattr(entry, name) for name in ENTRY.names if hasattr(entry, name)}
    target = {"target_kind": entry.target.kind, "target_name": entry.target.name}
    put = {
        **fields,
        **target,
        "audit_of": entry.tenant_id,
        "status_code": entry.status,
        "ttl": entry.expires_at,
    }
    place = _place_of(entry.tenant_id, entry.target)
    return Write(kind=ENTRY, key=Key(place, entry.id), guard=guard, put=put)


def to_entry(item: Fields) -> AuditEntry:
    """Return the audit entry of an item.

    Raises:
        ValueError: the item is not in the partition of its tenant and target, so the API did not write it.
    """
    given = ENTRY.values(item)
    tenant_id = TenantId(given.pop("audit_of"))
    target = AuditTarget(AuditKind(given.pop("target_kind")), given.pop("target_name"))
    if item["pk"] != _place_of(tenant_id, target):
        raise ValueError(f"an audit entry of {target} is in the partition {item['pk']!r}")
    status, expires_at = given.pop("status_code"), item["ttl"]
    return AuditEntry(
        id=item["sk"], tenant_id=tenant_id, target=target, status=status, expires_at=expires_at, **given
    )


def _to_grant(item: Fields) -> Grant | None:
    """Return the grant of an item; None if it was revoked."""
    if "revoked" in item:
        return None
    known = frozenset(Permission(name) for name in item["permissions"] if name in _KNOWN)
    return Grant(item["sk"], known, item["granted_by"], item["granted_at"])
