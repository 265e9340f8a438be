"""What the admin API needs to keep beside actions and jobs, written as a specification: grants, and the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from duetime.audit import AuditEntry, Target
from duetime.ids import TenantId
from duetime.permissions import Permission


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
        """A tenant's grants as of now (a consistent read), by role."""
        ...

    def put(self, tenant_id: TenantId, grant: Grant) -> None:
        """Grant a role this, in place of what was granted to it before; nothing at all takes the grant back."""
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

        Raises:
            BackendUnavailable: it may not be kept; the change must not be made.
        """
        ...

    def end(self, entry: AuditEntry) -> None:
        """Keep what came of the change of an entry that was begun and has not ended; nothing happens if it has."""
        ...

    def of(self, tenant_id: TenantId, target: Target | None, *, limit: int, cursor: str | None) -> AuditPage:
        """A tenant's entries, the latest first: those about one target, or all. All may lag behind by a moment.

        Raises:
            InvalidCursor: it did not give out the cursor for this query.
        """
        ...
