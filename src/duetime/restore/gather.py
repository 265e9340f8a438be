"""Gather the evidence of a restore from tables, timers, logs and the audit trail. It writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from duetime import ids, instant
from duetime._english import counted
from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.function_logs import LoggedTransition, logged_transitions
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.restored_rows import RestoredRows, is_held
from duetime.aws.restored_tables import RestoredTable
from duetime.aws.tables import JOBS, actions_shape
from duetime.aws.timers import EventBridgeTimers
from duetime.clock import Clock
from duetime.errors import BackendMisconfigured, OperationFailed, UnreadableRow, truncate
from duetime.ids import TenantId
from duetime.jobs.maintain import refs_until
from duetime.model.action import Action, ActionRef
from duetime.model.audit import AuditEntry, AuditKind
from duetime.model.built_in import is_built_in
from duetime.model.job import Job, JobRef
from duetime.ports.access import AuditTrail
from duetime.ports.wakeups import timer_name
from duetime.restore.evidence import Evidence, LoggedEvent, last_of
from duetime.restore.report import LostAction
from duetime.settings import Settings
from duetime.wakeups.due_messages import message_of

_PAGE = 100


@dataclass(frozen=True, slots=True)
class RestoredTables:
    """Which tables were restored, and from which ones; empty names where a table was not.

    Attributes:
        actions: the restored actions table.
        jobs: the restored jobs table.
        previous_actions: the table that it replaces, if it exists under another name.
        previous_jobs: the same for jobs.
        restored_to: the earlier of their restore points.
    """

    restored_to: datetime
    actions: str = ""
    jobs: str = ""
    previous_actions: str = ""
    previous_jobs: str = ""


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """The rows of the restored deployment, and all evidence about them."""

    evidence: Evidence
    rows: Sequence[Action] = ()
    """The unsettled rows that are not held."""
    held: Sequence[Action] = ()
    jobs: Sequence[Job] = ()
    previous_jobs: Mapping[JobRef, Job] = field(default_factory=dict)
    unreadable_jobs: Mapping[JobRef, str] = field(default_factory=dict)
    """Why each damaged job cannot be read."""
    stray_timers: Sequence[str] = ()
    """Timers that belong to no unsettled row."""
    lost: Sequence[LostAction] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


class Gather:
    """Reads everything once.

    Args:
        settings: the deployment's, with the names of the restored tables.
        tables: which tables were restored.
        clock: the present time.
        reads_logs: whether the functions' logs are read.
    """

    def __init__(self, settings: Settings, tables: RestoredTables, clock: Clock, *, reads_logs: bool) -> None:
        self._settings, self._tables, self._clock, self._reads_logs = settings, tables, clock, reads_logs
        self._backends = AwsBackends(settings, clock)
        self._rows = rows_of(settings)
        self._unreadable: dict[JobRef, str] = {}

    def __call__(self) -> Gathered:
        """Return what was found."""
        tables, restores_actions = self._tables, bool(self._tables.actions)
        unsettled = list(self._rows.unsettled())
        rows, held = (
            [row for row in unsettled if not is_held(row)],
            [row for row in unsettled if is_held(row)],
        )
        jobs = [job for ref in refs_until(self._backends.jobs, instant.LATEST) if (job := self._job(ref))]
        previous = self._previous_rows()
        transitions = self._transitions() if restores_actions else None
        timers = self._timers()
        names = {timer_name(message_of(row)) for row in unsettled}
        strays = sorted(timers - names) if timers is not None else []
        evidence = Evidence(
            restored_to=tables.restored_to,
            now=self._clock.now(),
            settings=self._settings,
            previous={row.ref: row for row in self._current(previous, rows)},
            previous_table=tables.previous_actions,
            logged=last_of((found.ref, LoggedEvent(found.word, found.at)) for found in transitions or ()),
            jobs={} if tables.jobs else {job.ref: job for job in jobs},
            audited={} if tables.jobs else self._audited(rows),
            timers=None if timers is None else frozenset(timers),
        )
        return Gathered(
            evidence=evidence,
            rows=rows,
            held=held,
            jobs=jobs,
            previous_jobs=self._previous_jobs(),
            unreadable_jobs=self._unreadable,
            stray_timers=strays,
            lost=self._lost(previous, transitions or (), strays, evidence) if restores_actions else (),
            sources={
                "previous actions table": tables.previous_actions or "none",
                "previous jobs table": tables.previous_jobs or "none",
                "logs": "not read" if transitions is None else counted(len(transitions), "transition"),
                "audit trail, statistics of jobs": "restored too: no evidence" if tables.jobs else "read",
                "timers": "none: timers=wheel" if timers is None else f"{len(timers)} set",
            },
        )

    def _job(self, ref: JobRef) -> Job | None:
        try:
            return self._backends.jobs.get(ref)
        except UnreadableRow as error:
            self._unreadable[ref] = truncate(error)
            return None

    def _previous_rows(self) -> RestoredRows | None:
        name = self._tables.previous_actions
        if not name:
            return None
        return RestoredRows(clients.dynamodb(), name, due_shards=self._settings.due_shards)

    def _current(self, previous: RestoredRows | None, rows: Sequence[Action]) -> Iterator[Action]:
        """Yield the rows of the previous table for these restored rows."""
        if previous is None:
            return
        for first in range(0, len(rows), _PAGE):
            yield from previous.store.get_rows([row.ref for row in rows[first : first + _PAGE]])

    def _previous_jobs(self) -> Mapping[JobRef, Job]:
        if not self._tables.previous_jobs:
            return {}
        settings = self._settings
        jobs = DynamoJobStore(
            clients.dynamodb(),
            settings.made.actions_table,
            self._tables.previous_jobs,
            due_shards=settings.due_shards,
        )
        return {ref: job for ref in refs_until(jobs, instant.LATEST) if (job := jobs.get(ref))}

    def _transitions(self) -> Sequence[LoggedTransition] | None:
        if not self._reads_logs:
            return None
        return tuple(logged_transitions(clients.logs(), self._settings, self._tables.restored_to))

    def _timers(self) -> set[str] | None:
        timers = self._backends.timers
        return set(timers.known()) if isinstance(timers, EventBridgeTimers) else None

    def _audited(self, rows: Sequence[Action]) -> Mapping[tuple[str, str], AuditEntry]:
        """Return the last successful change of each action since the restore point."""
        found: dict[tuple[str, str], AuditEntry] = {}
        for tenant_id in sorted({row.tenant_id for row in rows}):
            for entry in _entries_since(self._backends.audit_trail, tenant_id, self._tables.restored_to):
                if entry.target.kind is AuditKind.ACTION and (entry.status or 0) < _REJECTED:
                    found.setdefault((tenant_id, entry.target.name), entry)
        return found

    def _lost(
        self,
        previous: RestoredRows | None,
        transitions: Iterable[LoggedTransition],
        strays: Sequence[str],
        evidence: Evidence,
    ) -> Sequence[LostAction]:
        """Return actions that other sources have and the table has not, without planned occurrences."""
        seen: dict[ActionRef, LostAction] = {}

        def add(ref: ActionRef, type_name: str, due_at: datetime | None, source: str) -> None:
            if ref not in seen and _is_made_once(ref) and not is_built_in(type_name):
                logged = evidence.logged.get(ref)
                is_open = logged is None or logged.word not in {"executed", "failed", "cancelled", "skipped"}
                last = (
                    "" if logged is None else f"; {logged.word} {instant.text(logged.at)[:19]}Z, by the log"
                )
                seen[ref] = LostAction(
                    ref=ref, type=type_name, due_at=due_at, evidence=source + last, is_open=is_open
                )

        for row in previous.unsettled() if previous else ():
            add(row.ref, row.type, row.due_at, f"{row.status} in {self._tables.previous_actions}")
        timers = self._backends.timers
        if isinstance(timers, EventBridgeTimers):
            for name in strays:
                if message := timers.message(name):
                    add(message.ref, message.type, message.due_at, "its timer is set")
        for found in transitions:
            if found.word == "scheduled":
                add(found.ref, found.type, found.due_at, "scheduled, by the log")
        stored = set[ActionRef]()
        refs = list(seen)
        for first in range(0, len(refs), _PAGE):
            stored |= {row.ref for row in self._rows.store.get_rows(refs[first : first + _PAGE])}
        return [action for ref, action in seen.items() if ref not in stored]


_REJECTED = 400


def rows_of(settings: Settings) -> RestoredRows:
    """Return the rows of the settings' actions table."""
    return RestoredRows(clients.dynamodb(), settings.made.actions_table, due_shards=settings.due_shards)


def _entries_since(trail: AuditTrail, tenant_id: TenantId, since: datetime) -> Iterator[AuditEntry]:
    cursor = None
    while True:
        page = trail.list(tenant_id, None, limit=_PAGE, cursor=cursor)
        for entry in page.entries:
            if entry.requested_at < since:
                return
            yield entry
        cursor = page.cursor
        if cursor is None:
            return


def _is_made_once(ref: ActionRef) -> bool:
    """Return whether nothing plans the action again: a one-shot, a manual run, a run of an event.

    A backfill's run counts as one: its backfill may have gone on.
    """
    return ids.is_one_shot(ref.id) or ids.is_beside_plan(ref.id) or ids.is_event_run(ref.id)


def find_tables(
    settings: Settings, clock: Clock, *, actions: str, jobs: str, restored_to: datetime | None
) -> RestoredTables:
    """Return which tables were restored, from DynamoDB's own record of the restore.

    Raises:
        OperationFailed: a table cannot be adopted, or its restore point is unknown.
    """
    shapes = {
        "actions": (actions, settings.made.actions_table, actions_shape(due_order=settings.due_order)),
        "jobs": (jobs, settings.made.jobs_table, JOBS),
    }
    points, previous = list[datetime](), dict[str, str]()
    for kind, (name, deployed, shape) in shapes.items():
        if not name:
            continue
        table = RestoredTable(clients.dynamodb(), name, shape, clock)
        table.check()
        source = table.source()
        if (point := restored_to or (source and source.restored_to)) is None:
            raise OperationFailed(
                f"DynamoDB has no record of a restore of the table {name}; add --restored-to with the time of"
                " its rows, such as 2027-06-01T09:00:00Z"
            )
        points.append(point)
        candidates = [source.table if source else "", deployed]
        other = next((table for table in candidates if table and table != name), "")
        if other and _exists(RestoredTable(clients.dynamodb(), other, shape, clock)):
            previous[kind] = other
    return RestoredTables(
        restored_to=min(points),
        actions=actions,
        jobs=jobs,
        previous_actions=previous.get("actions", ""),
        previous_jobs=previous.get("jobs", ""),
    )


def _exists(table: RestoredTable) -> bool:
    try:
        table.check()
    except (OperationFailed, BackendMisconfigured):
        return False
    return True
