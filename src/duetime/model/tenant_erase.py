"""The latest erase of a tenant's audit trail, as the system's trail records it.

Chains of a running process go on after an erase: the entries that it removed are missing, and are no finding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from duetime import instant
from duetime.model.audit import AuditEntry


@dataclass(frozen=True, slots=True)
class TenantErase:
    """A complete erase of a tenant, with its audit trail."""

    ended_at: datetime
    """Entries of earlier requests are gone."""
    entries_expired_by: datetime
    """The latest instant at which the retention of a removed entry would have ended."""

    @classmethod
    def latest(cls, entries: Iterable[AuditEntry]) -> Self | None:
        """Return the latest erase among the system's entries of one tenant; None without any."""
        ended = [
            (instant.parse(str((entry.result or {})["ended_at"])), entry)
            for entry in entries
            if _has_erased_trail(entry)
        ]
        if not ended:
            return None
        at, entry = max(ended, key=lambda pair: pair[0])
        return cls(at, at + (entry.expires_at - entry.requested_at) + timedelta(seconds=1))


def _has_erased_trail(entry: AuditEntry) -> bool:
    return (
        entry.operation == "erase"
        and entry.ended_link is not None
        and "ended_at" in (entry.result or {})
        and entry.request_fields.get("keep_audit") is False
    )
