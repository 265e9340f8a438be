"""Judge each unsettled row of a restored table: may it have run, or changed, after the restore point? Pure.

The first line of the table with evidence decides:

==============================================================  =========
evidence                                                        verdict
==============================================================  =========
the previous table has the row, settled                         ended
a log line of a worker or of arm since the restore point        ended, changed
the job's statistics name the run as its last one               ended
the audit trail has a change of the action since then           changed
the previous table has the row, with another fence or due time  changed
the previous table has the row, pending and equal               unchanged
it was running at the restore point                             due
its due time has passed                                         due
it is due later, and its timer is set                           unchanged
it is due later, and its timer is gone                          changed
it is due later; it never had a timer                           unchanged
==============================================================  =========

``unchanged`` runs when it is due. All others may double, and are held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from duetime import instant
from duetime._english import counted
from duetime.model.action import Action, ActionRef, Status
from duetime.model.audit import AuditEntry
from duetime.model.job import Job, JobRef, job_ref_of
from duetime.ports.wakeups import timer_name
from duetime.settings import Settings
from duetime.wakeups.due_messages import message_of

_ENDINGS = {"executed", "failed", "cancelled", "skipped"}
_CHANGES = {"retried", "recovered", "rescheduled", "coalesced", "redriven"}
"""Messages of `RunLog` and `TransitionLog`."""


class Verdict(StrEnum):
    """The state of a restored row, as far as there is evidence."""

    UNCHANGED = "unchanged"
    """It runs when it is due."""
    ENDED = "ended"
    """It was settled after the restore point."""
    CHANGED = "changed"
    """It was started, moved or cancelled after the restore point."""
    DUE = "due"
    """There is no evidence, but it was due or running between the restore point and now."""

    @property
    def is_doubtful(self) -> bool:
        """Whether another run may double an effect."""
        return self is not Verdict.UNCHANGED


class Judgement(NamedTuple):
    """A verdict with its evidence, in words."""

    verdict: Verdict
    evidence: str


class LoggedEvent(NamedTuple):
    """A transition in a log: its word and its time."""

    word: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that is known about the time since the restore point, except the restored rows.

    Attributes:
        restored_to: the restore point.
        now: the present time.
        previous: the rows of the previous table, by their key.
        previous_table: its name; empty without one.
        logged: the last transition of each action since the restore point.
        jobs: the jobs, unless their table is restored too.
        audited: the last change of each action since then, by tenant and id.
        timers: the names of the timers on EventBridge; None without timers.
    """

    restored_to: datetime
    now: datetime
    settings: Settings
    previous: Mapping[ActionRef, Action] = field(default_factory=dict)
    previous_table: str = ""
    logged: Mapping[ActionRef, LoggedEvent] = field(default_factory=dict)
    jobs: Mapping[JobRef, Job] = field(default_factory=dict)
    audited: Mapping[tuple[str, str], AuditEntry] = field(default_factory=dict)
    timers: frozenset[str] | None = None

    def judge(self, row: Action) -> Judgement:
        """Return the judgement of a pending or processing row."""
        for look in _LOOKS:
            if (found := look(self, row)) is not None:
                return found
        return Judgement(Verdict.UNCHANGED, "it is not due yet, and never had a timer")

    def expects_timer(self, row: Action) -> bool:
        """Return whether arm has set a timer for a pending row, which has not fired yet."""
        was_far = row.due_at - row.pending_since > self.settings.near_limit
        return was_far and row.due_at - self.settings.wake_early > self.now

    @staticmethod
    def names_of(rows: Iterable[Action]) -> frozenset[str]:
        """Return the names of the rows' timers."""
        return frozenset(timer_name(message_of(row)) for row in rows)


_Look = Callable[[Evidence, Action], Judgement | None]


def _previous_end(known: Evidence, row: Action) -> Judgement | None:
    found = known.previous.get(row.ref)
    if found is None or not found.status.is_final:
        return None
    return Judgement(
        Verdict.ENDED, f"{found.status} in {known.previous_table}, changed {_at(found.modified_at)}"
    )


def _logged(known: Evidence, row: Action) -> Judgement | None:
    found = known.logged.get(row.ref)
    if found is None or found.word not in _ENDINGS | _CHANGES:
        return None
    verdict = Verdict.ENDED if found.word in _ENDINGS else Verdict.CHANGED
    return Judgement(verdict, f"{found.word} {_at(found.at)}, by the log")


def _tallied(known: Evidence, row: Action) -> Judgement | None:
    ref = job_ref_of(row)
    job = None if ref is None else known.jobs.get(ref)
    if job is None or job.tally.last_id != row.id:
        return None
    return Judgement(Verdict.ENDED, f"{job.tally.last_status}, by the statistics of its job")


def _audited(known: Evidence, row: Action) -> Judgement | None:
    entry = known.audited.get((row.tenant_id, row.id))
    if entry is None:
        return None
    return Judgement(
        Verdict.CHANGED, f"{entry.operation} by {entry.by} {_at(entry.requested_at)}, by the audit trail"
    )


def _previous_change(known: Evidence, row: Action) -> Judgement | None:
    found = known.previous.get(row.ref)
    if found is None:
        return None
    if (found.status, found.generation, found.fence) == (row.status, row.generation, row.fence):
        if row.status is Status.PENDING:
            return Judgement(Verdict.UNCHANGED, f"pending in {known.previous_table} too")
        return None
    return Judgement(
        Verdict.CHANGED,
        f"{found.status} in {known.previous_table}, due {_at(found.due_at)},"
        f" {counted(len(found.attempts), 'run')}",
    )


def _running(_known: Evidence, row: Action) -> Judgement | None:
    if row.status is not Status.PROCESSING:
        return None
    began = f" since {_at(row.attempts[-1].started_at)}" if row.attempts else ""
    return Judgement(Verdict.DUE, f"it was running at the restore point{began}")


def _passed(known: Evidence, row: Action) -> Judgement | None:
    if row.due_at > known.now:
        return None
    return Judgement(Verdict.DUE, f"it was due {_at(row.due_at)}; nothing shows whether it ran")


def _armed(known: Evidence, row: Action) -> Judgement | None:
    if known.timers is None or not known.expects_timer(row):
        return None
    if timer_name(message_of(row)) in known.timers:
        return Judgement(Verdict.UNCHANGED, "its timer is set")
    return Judgement(Verdict.CHANGED, "its timer is gone: it was cancelled, moved, or never armed")


_LOOKS: tuple[_Look, ...] = (
    _previous_end,
    _logged,
    _tallied,
    _audited,
    _previous_change,
    _running,
    _passed,
    _armed,
)


def last_of(events: Iterator[tuple[ActionRef, LoggedEvent]]) -> Mapping[ActionRef, LoggedEvent]:
    """Return the last event of each action; an end wins over a change at the same time."""
    found: dict[ActionRef, LoggedEvent] = {}
    for ref, event in events:
        if ref not in found or (event.at, event.word in _ENDINGS) >= (
            found[ref].at,
            found[ref].word in _ENDINGS,
        ):
            found[ref] = event
    return found


def _at(when: datetime) -> str:
    return instant.text(when)[:19] + "Z"
