"""The audit entry: one change that somebody asked for over the API. Facts only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from duetime.ids import TenantId, is_action_id, is_one_shot


class AuditKind(StrEnum):
    """What a change is about."""

    ACTION = "action"
    JOB = "job"
    GRANT = "grant"
    MANY = "many"
    """Actions that a selection means."""
    UNDELIVERED = "undelivered"
    NOTIFICATION = "notification"
    """One of a list, by its id; or all that are unread."""
    PREFERENCES = "preferences"
    """Who is notified of what."""


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """What a change is about: an action by its id, a job by its name, a grant by its role; many by nothing."""

    kind: AuditKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A change that was asked for, and, once it ended, what came of it."""

    id: str
    """A UUIDv7: entries sort by when they were begun."""
    tenant_id: TenantId
    target: AuditTarget
    operation: str
    """Such as ``cancel``, ``pause`` or ``register``."""
    by: str
    roles: tuple[str, ...]
    address: str | None
    """Where the request came from, as API Gateway saw it."""
    asked_at: datetime
    asked: Mapping[str, Any]
    """What was asked for beside that; never a payload."""
    status: int | None = None
    """How it was answered; None while nobody knows whether it was done."""
    result: Mapping[str, Any] | None = None
    """What the target became, or why the change was refused."""

    def named(self, name: str) -> AuditEntry:
        """The entry of a change that made something new, with what that is called."""
        return self if self.target.name else replace(self, target=replace(self.target, name=name))

    def ended(self, status: int, result: Mapping[str, Any]) -> AuditEntry:
        """The entry with what came of it."""
        return replace(self, status=status, result=result)


def is_entry_id(text: str) -> bool:
    """Whether `text` could be an entry's id."""
    return is_action_id(text) and is_one_shot(text)
