"""The interfaces to grants and the audit trail, written as a specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.ids import TenantId
    from duetime.model.audit import AuditEntry, AuditTarget
    from duetime.model.permissions import Permission


@dataclass(frozen=True, slots=True)
class Grant:
    """The permissions that a tenant's admin granted to a role, in addition to those in the settings."""

    role: str
    permissions: frozenset[Permission]
    granted_by: str
    granted_at: datetime


class Grants(Protocol):
    """The grants of each tenant, by role."""

    def for_tenant(self, tenant_id: TenantId) -> Mapping[str, Grant]:
        """Return a tenant's grants by role.

        The result has all grants put through this object. Grants put by other processes may appear ten
        seconds later.

        Raises:
            BackendUnavailable: the grants cannot be read. The caller must not permit anything because of
            them.
        """

    def put(self, tenant_id: TenantId, grant: Grant) -> None:
        """Replace the grant of a role. A grant without permissions revokes it.

        A repeat changes nothing. Other tenants' grants stay as they are.
        """


@dataclass(frozen=True, slots=True)
class AuditPage:
    """One page of a trail, latest entry first. `cursor` starts the next page; it is None on the last page."""

    entries: tuple[AuditEntry, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[AuditEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class AuditTrail(Protocol):
    """The log of requested changes: caller, operation, time, address and result.

    Entries are begun and ended, and never change otherwise.
    """

    def begin(self, entry: AuditEntry) -> None:
        """Store an entry before its change is made.

        An existing entry stays as it is, ended or not: a repeat after a lost response is safe.

        Raises:
            BackendUnavailable: the entry may not be stored. The caller must not make the change.
        """

    def end(self, entry: AuditEntry) -> None:
        """Store the result of an entry's change, also without an earlier `begin`.

        An ended entry stays as it is.

        Raises:
            BackendUnavailable: the result may not be stored. A repeat is safe.
        """

    def count(self, entry: AuditEntry) -> None:
        """Store a count of rejected changes, whose target has the kind ``rejected``; or replace its own.

        Only one process writes an entry of this kind. All other entries stay as they are.

        Raises:
            BackendUnavailable: the count may not be stored. A repeat is safe.
        """

    def list(
        self, tenant_id: TenantId, target: AuditTarget | None, *, limit: int, cursor: str | None
    ) -> AuditPage:
        """Return at most `limit` of a tenant's entries, latest first: the entries of one target, or all.

        The list of all entries may lag by a moment. No entry occurs on two pages. Each entry that exists
        before the first page occurs on one page. Entries end with their retention.

        Raises:
            InvalidCursor: the cursor is not from this query.
        """
