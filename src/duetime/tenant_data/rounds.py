"""One round of an erase scans a table page by page. Round 0 stops the work; later rounds also delete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from duetime.aws import clients
from duetime.aws.item_kinds import AUDIT, kind_of
from duetime.aws.items import from_item
from duetime.aws.job_items import STATE, holder, job_ref_of
from duetime.aws.keys import Item, is_row, ref_of
from duetime.aws.tenant_items import ItemPage, Progress, TenantItems, forget_in_job
from duetime.errors import UnreadableRow
from duetime.ids import SYSTEM_TENANT, JobName, job_of
from duetime.model.action import Action, ActionRef
from duetime.model.job import Job, JobRef
from duetime.ports.jobs import JobStore
from duetime.tenant_data.report import STOP, Position
from duetime.tenant_data.stop import StopWork


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
                self._stop.job(job_ref_of(item))
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
        read: dict[JobName, Job | None] = {}
        for row in rows:
            name = job_of(row.id)
            if name is None or row.job_tenant != SYSTEM_TENANT:
                continue
            ref = JobRef(SYSTEM_TENANT, name)
            if name not in read:
                read[name] = self._jobs.get(ref)
            job = read[name]
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
