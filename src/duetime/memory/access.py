"""Grants and the audit trail in memory."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from duetime.errors import InvalidCursor
from duetime.ids import TenantId
from duetime.model.audit import AuditEntry, AuditTarget, is_entry_id
from duetime.ports.access import AuditPage, Grant


class MemoryGrants:
    """Grants in a dictionary.

    See `duetime.ports.access.Grants`.
    """

    def __init__(self) -> None:
        self._grants: dict[TenantId, dict[str, Grant]] = {}

    def for_tenant(self, tenant_id: TenantId) -> Mapping[str, Grant]:
        return dict(self._grants.get(tenant_id, {}))

    def put(self, tenant_id: TenantId, grant: Grant) -> None:
        held = self._grants.setdefault(tenant_id, {})
        if grant.permissions:
            held[grant.role] = grant
        else:
            held.pop(grant.role, None)


class MemoryAuditTrail:
    """Entries in a dictionary.

    See `duetime.ports.access.AuditTrail`.
    """

    def __init__(self) -> None:
        self._entries: dict[str, AuditEntry] = {}
        self._lock = threading.Lock()

    def begin(self, entry: AuditEntry) -> None:
        with self._lock:
            self._entries.setdefault(entry.id, entry)

    def end(self, entry: AuditEntry) -> None:
        with self._lock:
            current = self._entries.get(entry.id)
            if current is None or current.status is None:
                self._entries[entry.id] = entry

    def count(self, entry: AuditEntry) -> None:
        with self._lock:
            self._entries[entry.id] = entry

    def list(
        self, tenant_id: TenantId, target: AuditTarget | None, *, limit: int, cursor: str | None
    ) -> AuditPage:
        if cursor is not None and not is_entry_id(cursor):
            raise InvalidCursor
        with self._lock:
            found = [
                entry
                for entry in sorted(self._entries.values(), key=lambda entry: entry.id, reverse=True)
                if entry.tenant_id == tenant_id
                and target in {None, entry.target}
                and (cursor is None or entry.id < cursor)
            ]
        return AuditPage(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)
