"""The account of a restore: doubtful rows, lost actions, and jobs. Facts only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.model.action import Action, ActionRef
from duetime.model.job import JobRef
from duetime.restore.evidence import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulRow:
    """A row that would run again, though it may have run or changed since the restore point."""

    row: Action
    judgement: Judgement
    is_held: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the published form."""
        return {
            "tenant_id": self.row.tenant_id,
            "id": self.row.id,
            "type": self.row.type,
            "job": self.row.job,
            "nominal_at": instant.text(self.row.nominal_at),
            "verdict": self.judgement.verdict.value,
            "evidence": self.judgement.evidence,
            "held": self.is_held,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LostAction:
    """An action that is not in the restored table: it was scheduled after the restore point."""

    ref: ActionRef
    type: str
    due_at: datetime | None
    evidence: str
    is_open: bool
    """Nothing shows that it has ended: schedule it again."""

    def to_json(self) -> dict[str, Any]:
        """Return the published form."""
        return {
            "tenant_id": self.ref.tenant_id,
            "id": self.ref.id,
            "type": self.type,
            "open": self.is_open,
            "due_at": None if self.due_at is None else instant.text(self.due_at),
            "evidence": self.evidence,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAccount:
    """What the restore means for one job.

    Attributes:
        times: its nominal times since the restore point without a row.
        notes: other differences, in words.
    """

    ref: JobRef
    times: tuple[datetime, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def unknown(self) -> int:
        """The number of these times."""
        return len(self.times)

    def to_json(self) -> dict[str, Any]:
        """Return the published form."""
        return {
            "tenant_id": self.ref.tenant_id,
            "name": self.ref.name,
            "unknown": self.unknown,
            "times": [instant.text(at) for at in self.times],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """The account of a restore.

    Attributes:
        tables: the restored tables, by ``actions`` and ``jobs``.
        restored_to: the restore point.
        at: when the account was made.
        sources: where evidence was looked for, each with what was found.
        unchanged: the number of rows that run when they are due.
        held: the number of rows that an earlier adoption holds.
        doubtful: rows that may double.
        lost: actions that are not in the table.
        jobs: jobs that need a look.
        enabled: what was enabled on each table.
        timers_set: rows whose wakes were set again.
        timers_removed: timers without a row that were removed.
        wakes_removed: schedules and rules of jobs that were removed.
        settings: the lines for ``cdk.json``.
    """

    tables: Mapping[str, str]
    restored_to: datetime
    at: datetime
    sources: Mapping[str, str]
    unchanged: int
    held: int = 0
    doubtful: Sequence[DoubtfulRow]
    lost: Sequence[LostAction]
    jobs: Sequence[JobAccount]
    enabled: Mapping[str, Sequence[str]]
    timers_set: int = 0
    timers_removed: int = 0
    wakes_removed: Sequence[str] = ()
    settings: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the published form."""
        return {
            "tables": dict(self.tables),
            "restored_to": instant.text(self.restored_to),
            "at": instant.text(self.at),
            "sources": dict(self.sources),
            "unchanged": self.unchanged,
            "held_before": self.held,
            "doubtful": [row.to_json() for row in self.doubtful],
            "lost": [action.to_json() for action in self.lost],
            "jobs": [job.to_json() for job in self.jobs],
            "enabled": {name: list(parts) for name, parts in self.enabled.items()},
            "timers_set": self.timers_set,
            "timers_removed": self.timers_removed,
            "wakes_removed": list(self.wakes_removed),
            "settings": dict(self.settings),
        }
