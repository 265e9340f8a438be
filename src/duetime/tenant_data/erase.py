"""*Erase* a tenant: stop its work, delete its items round by round until a round finds none, and account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from duetime import instant
from duetime.actions.cancel import cancel
from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.item_kinds import AUDIT, kind_of
from duetime.aws.items import from_item
from duetime.aws.job_items import holder
from duetime.aws.job_items import job_ref_of as job_of_item
from duetime.aws.keys import Item, is_row, ref_of
from duetime.aws.tenant_items import ItemPage, Progress, TenantItems, TenantPauses, forget_in_job
from duetime.clock import Clock
from duetime.errors import DuetimeError, UnreadableRow
from duetime.ids import SYSTEM_TENANT, new_action_id, tenant
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.desired_wakes import name_of, previous_wakes, wakes_of
from duetime.jobs.job_versions import JobVersions
from duetime.model.action import Action, ActionRef, Status
from duetime.model.audit import AuditEntry
from duetime.model.job import Job, JobRef, job_ref_of
from duetime.ports.job_state import STATE
from duetime.ports.job_store import JobStore
from duetime.settings import Settings
from duetime.tenant_data.audit import ended, entry_of
from duetime.tenant_data.report import FIRST_ERASE, STOP, Position, Report, left_after
from duetime.tenant_data.undelivered import UndeliveredOf
from duetime.wakeups.due_messages import message_of

_POLL = timedelta(seconds=1)


class StopWork:
    """Stops jobs and actions, and counts what it stopped.

    Args:
        backends: the deployment's.
        clock: the present time.
        settings: the deployment's.
        by: the actor of the changes.
        counts: receives the counts, by kind.
    """

    def __init__(
        self, backends: AwsBackends, clock: Clock, settings: Settings, *, by: str, counts: Counter[str]
    ) -> None:
        self._backends, self._clock, self._settings = backends, clock, settings
        self._by, self._counts = by, counts
        self._versions = JobVersions(backends)

    def job(self, ref: JobRef) -> None:
        """Remove a job, so that nothing plans it, and its schedules and rules from EventBridge."""
        names = {(kind, name_of(ref, 0, self._settings)) for kind in ("schedule", "rule")}
        try:
            job = self._backends.jobs.get(ref)
        except DuetimeError:  # a forged job: no pass maintains it
            job = None
        if job is not None:
            desired = wakes_of(job, self._clock.now(), self._settings)
            names |= {*previous_wakes(job, self._settings), *((wake.kind, wake.name) for wake in desired)}
            if job.removed_at is None:
                change_with_retry(lambda: self._remove(ref), f"job {ref.name}")
                self._counts["jobs removed"] += 1
        for kind, name in sorted(names):
            self._backends.job_wakes.remove(kind, name)

    def _remove(self, ref: JobRef) -> Conflict | None:
        job = self._backends.jobs.get(ref)
        if job is None or job.removed_at is not None:
            return None
        return None if self._versions.remove(job, "its tenant was erased") else CHANGED

    def actions(self, rows: Sequence[Action]) -> None:
        """Cancel pending actions and remove their timers; request that running ones stop."""
        for row in rows:
            if row.status.is_final:
                continue
            now = self._clock.now()
            cancel(
                partial(self._current, row.ref),
                self._backends.store,
                lambda: self._backends.jobs,
                by=self._by,
                at=now,
                kept_until=now + self._settings.retention,
            )
            if row.status is Status.PENDING:
                self._backends.timers.clear(message_of(row))
                self._counts["actions cancelled"] += 1
            elif row.cancel_request is None:
                self._counts["runs requested to stop"] += 1

    def _current(self, ref: ActionRef) -> Action | None:
        return next(iter(self._backends.store.get_rows([ref])), None)

    def running(self, rows: Sequence[Action], until: datetime) -> frozenset[ActionRef]:
        """Wait until `until` for the runs of these rows to end; return those that still run.

        A run whose lease has ended counts as ended, since its worker has died.
        """
        refs = [row.ref for row in rows if row.status is Status.PROCESSING]
        while refs:
            now = self._clock.now()
            found = self._backends.store.get_rows(refs)
            refs = [row.ref for row in found if row.status is Status.PROCESSING and self._is_alive(row, now)]
            if now >= until:
                break
            if refs:
                self._clock.wait_until(now + _POLL)
        return frozenset(refs)

    def _is_alive(self, row: Action, now: datetime) -> bool:
        return row.lease_until is None or row.lease_until + self._settings.clock_skew >= now


class Round:
    """Handles the pages of one table in a round, and stores the position after each page.

    Args:
        name: ``actions`` or ``jobs``.
        items: the tenant's items in it.
        jobs: the jobs of all tenants.
        jobs_table: the name of the jobs table.
        stop: stops jobs and actions.
        progress: stores the position.
    """

    def __init__(
        self,
        name: str,
        items: TenantItems,
        jobs: JobStore,
        jobs_table: str,
        *,
        stop: StopWork,
        progress: Progress,
    ) -> None:
        self._name, self._items, self._jobs, self._jobs_table = name, items, jobs, jobs_table
        self._stop, self._progress = stop, progress

    def __call__(self, position: Position, until: datetime, note: Callable[[str], None]) -> None:
        """Handle the pages from the position on.

        Args:
            position: is moved, and stored after each page.
            until: how long to wait for running actions.
            note: receives a line at each page.
        """
        position.table = self._name
        for page in self._items.pages(position.cursor):
            self._handle(page, position, until)
            position.cursor = page.cursor
            self._progress.write(position.to_json())
            note(f"round {position.round}: {self._name}, {sum(position.erased.values())} erased")

    def _handle(self, page: ItemPage, position: Position, until: datetime) -> None:
        rows = list(_rows(page.items))
        for item in page.items:
            if self._name == "jobs" and item["sk"]["S"] == STATE and kind_of("jobs", item) == "jobs":
                self._stop.job(job_of_item(item))
        self._stop.actions(rows)
        if position.round == STOP:
            return
        running = self._stop.running(rows, until)
        position.running += len(running)
        self._forget(row for row in rows if row.ref not in running)
        gone = [item for item in page.items if self._may_go(item, position, running)]
        counts = Counter(kind_of(self._name, item) for item in gone)
        erase_counted(position, self._progress, counts, lambda: self._items.delete(gone))
        position.found += len(gone)

    def _may_go(self, item: Item, position: Position, running: frozenset[ActionRef]) -> bool:
        if self._name == "jobs":
            return not (position.keep_audit and kind_of("jobs", item) == AUDIT)
        return not (is_row(item) and ref_of(item) in running)

    def _forget(self, rows: Iterable[Action]) -> None:
        """Remove what the jobs that code declares hold of these runs."""
        read: dict[JobRef, Job | None] = {}
        for row in rows:
            ref = job_ref_of(row)
            if ref is None or ref.tenant_id != SYSTEM_TENANT:
                continue
            if ref not in read:
                read[ref] = self._jobs.get(ref)
            job = read[ref]
            if job and (job.tally.last_id == row.id or row.ref in {job.running, job.waiting}):
                forget_in_job(clients.dynamodb(), self._jobs_table, ref, row.id, holder(row.ref))


def erase_counted(
    position: Position, progress: Progress, counts: Counter[str], delete: Callable[[], object]
) -> None:
    """Delete items and count them. The counts are stored first, so a process that ends here loses none."""
    position.erasing |= counts
    if counts:
        progress.write(position.to_json())
    delete()
    position.erased += position.erasing
    position.erasing = Counter()


def _rows(items: Sequence[Item]) -> Iterator[Action]:
    """Yield the readable rows. An unreadable one never runs, so nothing must stop it."""
    for item in items:
        if is_row(item):
            try:
                yield from_item(item)
            except UnreadableRow:
                continue


UNDELIVERED, PAUSES = "undelivered", "pauses"

_ORDER = {STOP: ("jobs", "actions"), FIRST_ERASE: ("actions", "jobs")}
"""Jobs stop first, since they plan actions; their items go last, since a run's end reads them."""

_LAST_ROUND = 6
_STREAMS_SETTLE = timedelta(seconds=10)
"""Streams write counts and notifications this long after a change; the next round finds them."""


class Erase:
    """One erase of a tenant.

    Args:
        settings: the deployment's.
        clock: the present time.
        tenant_id: the tenant.
        by: the operator, for the audit entry and the cancelled actions.
        reason: why, for the audit entry.
        keep_audit: whether the tenant's audit trail stays until its retention ends.
        wait: how long to wait for running actions.

    Raises:
        InvalidArgument: the tenant's name is invalid, or the system's.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        tenant_id: str,
        *,
        by: str,
        reason: str,
        keep_audit: bool = False,
        wait: timedelta = timedelta(minutes=1),
    ) -> None:
        self._tenant_id = tenant(tenant_id)
        self._settings, self._clock = settings, clock
        self._by, self._reason, self._keep_audit, self._wait = by, reason, keep_audit, wait
        client = clients.dynamodb()
        self._backends = AwsBackends(settings, clock, client)
        self._progress = Progress(client, settings.made.jobs_table, self._tenant_id)
        self._tables: Mapping[str, TenantItems] = {
            "actions": TenantItems(client, settings.made.actions_table, self._tenant_id),
            "jobs": TenantItems(client, settings.made.jobs_table, self._tenant_id),
        }
        self._pauses = TenantPauses(client, settings.made.jobs_table, self._tenant_id)
        self._undelivered = UndeliveredOf(
            self._backends.undelivered.store, self._backends.jobs.get, self._tenant_id
        )

    def preview(self) -> Report:
        """Return what an erase would find, and change nothing."""
        counts: Counter[str] = Counter()
        for name, table in self._tables.items():
            for page in table.pages():
                counts.update(kind_of(name, item) for item in page.items)
        counts.update(
            {UNDELIVERED: sum(1 for _ in self._undelivered.list()), PAUSES: len(self._pauses.list())}
        )
        if self._keep_audit:
            counts.pop(AUDIT, None)
        return Report(
            tenant_id=self._tenant_id,
            is_complete=False,
            items=+counts,
            left=left_after(self._undelivered.count_unknown(), keep_audit=self._keep_audit),
        )

    def __call__(self, note: Callable[[str], None] = lambda _line: None) -> Report:
        """Erase, and return the account. A repeat goes on where an earlier call ended.

        Args:
            note: receives a line at each page.

        Raises:
            BackendUnavailable: not all was done; repeat it.
        """
        position, is_resumed = self._begin()
        until = self._clock.now() + self._wait
        while True:
            self._round(position, until, note)
            if _is_over(position):
                return self._end(position, is_resumed=is_resumed)
            if position.round != STOP:
                self._clock.wait_until(self._clock.now() + _STREAMS_SETTLE)
            self._begin_round(position, position.round + 1)

    def _begin(self) -> tuple[Position, bool]:
        stored = self._progress.read()
        if stored is not None:
            return Position.from_json(stored), True
        now = self._clock.now()
        position = Position(
            by=self._by,
            reason=self._reason,
            keep_audit=self._keep_audit,
            started_at=instant.text(now),
            entry_id=new_action_id(now),
        )
        self._progress.write(position.to_json())
        return position, False

    def _round(self, position: Position, until: datetime, note: Callable[[str], None]) -> None:
        self._backends.audit_trail.begin(self._entry(position))
        stop = StopWork(self._backends, self._clock, self._settings, by=position.by, counts=position.stopped)
        order = _ORDER[min(position.round, FIRST_ERASE)]
        for name in order[order.index(position.table) :]:
            table, jobs = self._tables[name], self._settings.made.jobs_table
            step = Round(name, table, self._backends.jobs, jobs, stop=stop, progress=self._progress)
            step(position, until, note)
        if position.round != STOP:
            things = list(self._undelivered.list())
            counts = Counter({UNDELIVERED: len(things)})
            remove = self._backends.undelivered.store.remove
            erase_counted(position, self._progress, +counts, lambda: [remove(thing) for thing in things])

    def _begin_round(self, position: Position, number: int) -> None:
        position.round, position.found, position.running, position.cursor = number, 0, 0, None
        position.table = _ORDER[min(number, FIRST_ERASE)][0]
        self._progress.write(position.to_json())

    def _end(self, position: Position, *, is_resumed: bool) -> Report:
        is_complete = not position.found and not position.running
        if is_complete:  # until now the pauses kept the tenant's work from beginning
            counts = Counter({PAUSES: len(self._pauses.list())})
            erase_counted(position, self._progress, +counts, self._pauses.remove)
        left = left_after(
            self._undelivered.count_unknown(),
            keep_audit=position.keep_audit,
            running=position.running,
            found=position.found,
        )
        report = Report(
            tenant_id=self._tenant_id,
            is_complete=is_complete,
            stopped=position.stopped,
            items=+position.erased,
            left=left,
            entry_id=position.entry_id,
            is_resumed=is_resumed,
        )
        if is_complete:
            entry = self._entry(position)
            result = {
                "erased": sum(position.erased.values()),
                "ended_at": instant.text(self._clock.now()),
            }
            self._backends.audit_trail.end(ended(entry, result))
            self._progress.remove()
        else:
            self._begin_round(position, FIRST_ERASE)
        return report

    def _entry(self, position: Position) -> AuditEntry:
        return entry_of(
            self._tenant_id,
            "erase",
            entry_id=position.entry_id,
            by=position.by,
            at=instant.parse(position.started_at),
            expires_at=instant.parse(position.started_at) + self._settings.audit_retention,
            fields={"reason": position.reason, "keep_audit": position.keep_audit},
        )


def _is_over(position: Position) -> bool:
    has_ended = position.round != STOP and not position.found
    return has_ended or position.round >= _LAST_ROUND
