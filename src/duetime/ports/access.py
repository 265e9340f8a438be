"""What the admin API needs to keep beside actions and jobs, written as a specification: grants, and the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from duetime.ids import TenantId
from duetime.model.audit import AuditEntry, AuditTarget
from duetime.model.permissions import Permission


@dataclass(frozen=True, slots=True)
class Grant:
    """What a tenant's admin has granted to one of its roles, beside what the settings say."""

    role: str
    permissions: frozenset[Permission]
    granted_by: str
    granted_at: datetime


class Grants(Protocol):
    """The grants of each tenant, by role."""

    def of(self, tenant_id: TenantId) -> Mapping[str, Grant]:
        """A tenant's grants, by role: with all that was put through this very store, and what others put up to ten seconds ago.

        Raises:
            BackendUnavailable: they cannot be read; nobody may be let in by what they might say.
        """
        ...

    def put(self, tenant_id: TenantId, grant: Grant) -> None:
        """Grant a role this, in place of what was granted to it before; nothing at all takes the grant back.

        Putting it again changes nothing. Other tenants' are left alone.
        """
        ...


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some entries of a trail, the latest first, and where the next page begins; `cursor` is None on the last one."""

    entries: tuple[AuditEntry, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[AuditEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class AuditTrail(Protocol):
    """Who asked for which change, when, from where, and what came of it. Entries are added and ended, never changed."""

    def begin(self, entry: AuditEntry) -> None:
        """Keep an entry before its change is made: whatever happens then, it was asked for.

        Nothing happens if it is there already, ended or not: a call whose answer was lost may be repeated.

        Raises:
            BackendUnavailable: it may not be kept; the change must not be made.
        """
        ...

    def end(self, entry: AuditEntry) -> None:
        """Keep what came of an entry's change; nothing happens if that is kept already. It need not have begun.

        Raises:
            BackendUnavailable: it may not be kept; the entry may be ended again.
        """
        ...

    def of(
        self, tenant_id: TenantId, target: AuditTarget | None, *, limit: int, cursor: str | None
    ) -> AuditPage:
        """At most `limit` of a tenant's entries, the latest first: those about one target, or all.

        All may lag behind by a moment. No page doubles an entry of another or leaves one out that was there before the
        first; what comes while one pages moves none. An entry is gone when its retention is over.

        Raises:
            InvalidCursor: it did not give out the cursor for this query.
        """
        ...
