"""The audit entry: one change that a caller requested over the API. Facts only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from duetime.ids import TenantId, is_action_id, is_one_shot


class AuditKind(StrEnum):
    """The kind of a change's target."""

    ACTION = "action"
    JOB = "job"
    GRANT = "grant"
    MANY = "many"
    """All actions of a selection."""
    UNDELIVERED = "undelivered"
    NOTIFICATION = "notification"
    """One notification by its id, or all unread ones."""
    PREFERENCES = "preferences"
    """The recipients of notifications."""
    TENANT = "tenant"
    """A tenant: its pauses, or all that is stored of it."""


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The target of a change: an action's id, a job's name, a grant's role; no name for many."""

    kind: AuditKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A requested change, and its result once it has ended."""

    id: str
    """A UUIDv7: entries sort by when they were begun."""
    tenant_id: TenantId
    target: AuditTarget
    operation: str
    """Such as ``cancel``, ``pause`` or ``register``."""
    by: str
    roles: tuple[str, ...]
    address: str | None
    """The caller's address, from API Gateway."""
    asked_at: datetime
    request_fields: Mapping[str, Any]
    """The other fields of the request; never a payload."""
    status: int | None = None
    """The response's status; None while the result is unknown."""
    result: Mapping[str, Any] | None = None
    """The target after the change, or the reason of a rejection."""

    def named(self, name: str) -> AuditEntry:
        """Return the entry with the name of a new target."""
        return self if self.target.name else replace(self, target=replace(self.target, name=name))

    def ended(self, status: int, result: Mapping[str, Any]) -> AuditEntry:
        """Return the entry with its result."""
        return replace(self, status=status, result=result)


def is_entry_id(text: str) -> bool:
    """Return whether `text` has the form of an entry's id."""
    return is_action_id(text) and is_one_shot(text)
