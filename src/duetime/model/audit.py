"""The audit entry: one change that a caller requested over the API. Facts only.

`duetime.model.audit_chain` links the entries by hashes.
"""

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
    REJECTED = "rejected"
    """The rejected changes of one caller in one hour, counted; the name is the caller."""
    TENANT = "tenant"
    """A tenant: its pauses, or all that is stored of it."""
    PAUSE = "pause"
    """A pause of work: when it begins by what it covers, when it ends by its id."""
    LIMIT = "limit"
    """The rate limit of a payload type."""
    BATCH = "batch"
    """All members of a batch."""
    CHECK_IN = "check-in"
    """The name under which work elsewhere checks in."""
    REGION = "region"
    """The region that a failover made active."""


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The target of a change: an action's id, a job's name, a grant's role; no name for many."""

    kind: AuditKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLink:
    """The place of one record in a chain: an entry has a record when it begins, and one when it ends."""

    chain: str
    """A UUIDv7: one process of the API writes a chain for each tenant."""
    number: int
    """Counts the records of the chain from 1."""
    previous: str
    """The hash of the record before; empty for the first one."""
    hash: str
    """SHA-256 of the record and of the three fields above, in hexadecimal digits."""


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
    """The caller."""
    roles: tuple[str, ...]
    """The caller's roles."""
    address: str | None
    """The caller's address, from API Gateway."""
    requested_at: datetime
    """The time of the request."""
    request_fields: Mapping[str, Any]
    """The other fields of the request; never a payload."""
    status: int | None = None
    """The response's status; None while the result is unknown."""
    result: Mapping[str, Any] | None = None
    """The target after the change, or the reason of a rejection."""
    subject: str | None = None
    """The caller's id that never changes: the user's ``sub``, or the signer's unique id."""
    expires_at: datetime
    """When its retention ends; whole seconds."""
    begun_link: AuditLink | None = None
    """The link of the record before the change; None for a new target."""
    ended_link: AuditLink | None = None
    """The link of the record with the result."""

    @property
    def links(self) -> tuple[AuditLink, ...]:
        """Return the links of the entry's records."""
        return tuple(link for link in (self.begun_link, self.ended_link) if link is not None)

    def named(self, name: str) -> AuditEntry:
        """Return the entry with the name of a new target."""
        return self if self.target.name else replace(self, target=replace(self.target, name=name))

    def ended(self, status: int, result: Mapping[str, Any]) -> AuditEntry:
        """Return the entry with its result."""
        return replace(self, status=status, result=result)


def is_entry_id(text: str) -> bool:
    """Return whether `text` has the form of an entry's id."""
    return is_action_id(text) and is_one_shot(text)
