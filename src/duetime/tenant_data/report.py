"""The account of an export or an erase. Facts only."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from duetime._english import counted

STOP, FIRST_ERASE = 0, 1
"""Rounds of an erase. Round 0 stops the tenant's work; the others erase what they find."""


@dataclass(kw_only=True)
class Position:
    """Where an erase stands: a repeat of the command goes on from here.

    Attributes:
        entry_id: the id of the audit entry.
        round: 0 stops jobs and actions; later rounds erase, until one finds nothing.
        table: the table in work, ``jobs`` or ``actions``.
        cursor: the key after which the scan goes on; None from the beginning.
        found: the number of items that this round has erased.
        running: the number of running actions that this round left.
        stopped: what was cancelled and removed first, by kind.
        erased: the number of erased items, by kind.
        erasing: those that are being erased, by kind; a repeat counts them once.
    """

    by: str
    reason: str
    keep_audit: bool
    started_at: str
    entry_id: str
    round: int = STOP
    table: str = "jobs"
    cursor: dict[str, Any] | None = None
    found: int = 0
    running: int = 0
    stopped: Counter[str] = field(default_factory=Counter)
    erased: Counter[str] = field(default_factory=Counter)
    erasing: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> str:
        """Return the stored form."""
        return json.dumps(vars(self))

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read the result of `to_json`."""
        fields = json.loads(written)
        names = ("stopped", "erased", "erasing")
        stopped, erased, erasing = (Counter[str](fields.pop(name, {})) for name in names)
        return cls(**fields, stopped=stopped, erased=erased, erasing=erasing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The account.

    Attributes:
        tenant_id: the tenant.
        is_complete: whether nothing is left that a repeat would do.
        stopped: what was cancelled and removed before the erase, by kind.
        items: the number of exported or erased items, or of those that an erase would find, by kind.
        left: what is not exported or erased, with the reason.
        entry_id: the id of the audit entry; empty after a dry run.
        is_resumed: whether an earlier command had begun.
    """

    tenant_id: str
    is_complete: bool
    stopped: Mapping[str, int] = field(default_factory=dict)
    items: Mapping[str, int]
    left: Sequence[str]
    entry_id: str = ""
    is_resumed: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the published form."""
        return {
            "tenant_id": self.tenant_id,
            "complete": self.is_complete,
            "stopped": dict(self.stopped),
            "items": dict(self.items),
            "left": list(self.left),
            "audit_entry": self.entry_id,
            "resumed": self.is_resumed,
        }


_BEYOND_REACH = (
    "backups: point-in-time recovery keeps erased items for 35 days",
    "logs: ids, and messages of failures, for log_days",
    "metrics with the tenant's name (metric_tenants), for CloudWatch's 15 months",
    "due messages: ids without payloads, for at most 14 days",
    "events, mails and messages that were already sent",
    "users of the pool, and the settings tenants, roles and identities",
)
"""What no command of duetime can erase."""


def left_after(unknown: int, *, keep_audit: bool, running: int = 0, found: int = 0) -> list[str]:
    """Return what an erase leaves, each with its reason.

    Args:
        unknown: the number of undelivered inputs that name no tenant.
        keep_audit: whether the trail stays.
        running: the number of actions that still run.
        found: the number of items that the last round found.
    """
    lines = []
    if running:
        lines.append(f"{counted(running, 'running action')}: repeat the command later")
    if found:
        lines.append("items that callers write meanwhile: stop them, and repeat the command")
    if keep_audit:
        lines.append("the tenant's audit trail, until audit_retention (--keep-audit)")
    if unknown:
        lines.append(
            f"{counted(unknown, 'undelivered input')} without a tenant: `duetime undelivered list` shows them"
        )
    lines.append("the audit entry of the erase, in the system's trail")
    return [*lines, *_BEYOND_REACH]
