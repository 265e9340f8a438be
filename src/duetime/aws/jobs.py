"""Jobs in DynamoDB. A write of a job and one of its actions is one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from duetime.aws.commits import CONDITION_FAILED
from duetime.aws.conditions import ROW_IS_ABSENT, Update, swap
from duetime.aws.damaged_leases import still_dead
from duetime.aws.dynamodb import SERVICE, Client
from duetime.aws.faults import TransactionCancelled, TransactionConflict, TransactionFailed
from duetime.aws.items import from_item
from duetime.aws.job_history_items import to_replaced, to_report, to_span
from duetime.aws.job_items import to_definition, to_state
from duetime.aws.job_queries import JobQueries
from duetime.aws.keyed_items import DynamoItems, stored
from duetime.aws.keys import Item, row_key
from duetime.aws.store import DynamoStore
from duetime.aws.transactions import Entry, put, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable, CommitRejected, DuetimeError
from duetime.model import transition
from duetime.model.action import Action, ActionRef
from duetime.model.deadline_report import DeadlineReport
from duetime.model.job import Job, JobRef, JobSpan, replaced_definition
from duetime.model.lease import Rejected, Settlement, SettleResult
from duetime.model.run_stats import EndedRun
from duetime.model.swap import PENDING_AS_READ, claimable, settleable
from duetime.ports import job_state
from duetime.ports.backfills import Backfills
from duetime.ports.delegate import delegate
from duetime.ports.job_state import JOB
from duetime.ports.jobs import JobRunClaim, LockRequirement
from duetime.ports.keyed_items import Fields, Write
from duetime.ports.row_writes import RowStillDead

_FIRST = 0
"""The position of the deciding entry in a transaction: the action's row, or else the job's state."""


class DynamoJobStore:
    """The jobs table, and the rows of the actions table that change together with a job.

    See `duetime.ports.jobs.JobStore`.
    """

    def __init__(self, client: Client, actions_table: str, jobs_table: str, *, due_shards: int) -> None:
        self._client, self._table, self._items = client, jobs_table, DynamoItems(client, jobs_table)
        self._queries = JobQueries(client, jobs_table)
        self._backfills = Backfills(self._items)
        self._actions_table = actions_table
        self._actions = DynamoStore(client, actions_table, due_shards=due_shards)

    get = delegate("_queries", JobQueries.get)
    list = delegate("_queries", JobQueries.list)
    due_for_maintenance = delegate("_queries", JobQueries.due_for_maintenance)
    versions = delegate("_queries", JobQueries.versions)
    definitions = delegate("_queries", JobQueries.definitions)
    spans = delegate("_queries", JobQueries.spans)
    reports = delegate("_queries", JobQueries.reports)

    begin_backfill = delegate("_backfills", Backfills.begin_backfill)
    find_backfill = delegate("_backfills", Backfills.find_backfill)
    backfills = delegate("_backfills", Backfills.backfills)
    change_backfill = delegate("_backfills", Backfills.change_backfill)

    def add(self, job: Job) -> bool:
        state = put(self._table, to_state(job), ConditionExpression=ROW_IS_ABSENT)
        try:
            self._write([state, put(self._table, to_definition(job))])
        except TransactionFailed:
            return False
        return True

    def change(self, old: Job, new: Job, *, spans: Sequence[JobSpan] = ()) -> bool:
        change = job_state.change(old, new)
        try:
            self._write([self._items.entry(change), *self._defined(old, new), *self._spans(old.ref, spans)])
        except TransactionFailed as failed:
            return failed.failed.get(_FIRST) is not None and self._was_mine(new, change, failed)
        return True

    def _defined(self, old: Job, new: Job) -> Iterator[Entry]:
        if (new.definition, new.version) != (old.definition, old.version):
            yield put(self._table, to_definition(replace(new, revision=old.revision + 1)))
        if ended := replaced_definition(old, new):
            yield put(self._table, to_replaced(old.ref, ended, old.since))

    def _was_mine(self, new: Job, change: Write, failed: TransactionFailed) -> bool:
        """Return whether the job is as this change leaves it.

        Raises:
            BackendUnavailable: it is not, but an earlier copy of the request may have changed it before. If
                the caller read the job again and repeated the change, it would undo the later one.
        """
        job = self.get(new.ref)
        was_mine = job is not None and job_state.is_changed(job, new, change)
        if failed.was_repeated and not was_mine:
            reason = f"job {new.name} has changed since this change was first sent; read it, then repeat"
            raise BackendUnavailable(SERVICE, reason)
        return was_mine

    def move_cursor(
        self, job: Job, cursor: datetime, maintain_at: datetime, *, missed: Sequence[JobSpan] = ()
    ) -> bool:
        move = job_state.move_cursor(job, cursor, maintain_at)
        try:
            self._write([self._items.entry(move), *self._spans(job.ref, missed)])
        except TransactionFailed as failed:
            return _has(failed, job_state.moved(job, move))
        return True

    def postpone(self, job: Job, maintain_at: datetime, *, failures: int) -> bool:
        try:
            self._write([self._items.entry(job_state.postpone(job, maintain_at, failures))])
        except TransactionFailed:
            return False
        return True

    def report(self, ref: JobRef, report: DeadlineReport) -> bool:
        entry = put(self._table, to_report(ref, report), ConditionExpression=ROW_IS_ABSENT)
        try:
            self._write([entry])
        except TransactionFailed:
            return False
        return True

    def claim(self, taking: JobRunClaim) -> bool:
        """Return False after a conflict too; the caller reads the rows again."""
        try:
            write(self._client, tuple(self._claim(taking)))
        except TransactionFailed as failed:
            return (failed.failed.get(_FIRST) or {}).get("nonce") == {"S": taking.claimed.nonce}
        except TransactionConflict:
            return False
        return True

    def _claim(self, taking: JobRunClaim) -> Iterator[Entry]:
        yield self._row(taking.row.ref, swap(taking.row, taking.claimed, claimable(taking.row)))
        if taking.hold is not LockRequirement.NOTHING:
            yield self._items.entry(job_state.claim(taking))
        for ref, read in taking.holders.items():
            yield self._row(ref, still_dead(RowStillDead(ref, read)))

    def wait(self, job: Job, waiting: ActionRef) -> bool:
        wait = job_state.wait(job, waiting)
        try:
            self._write([self._items.entry(wait)])
        except TransactionFailed as failed:
            return _has(failed, wait.sets)
        return True

    def settle(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        has_lock: bool = True,
    ) -> SettleResult:
        self._actions.payloads.outlive(claimed, settlement.kept_until)
        settled = transition.settled(claimed, settlement)
        row = self._row(claimed.ref, swap(claimed, settled, settleable(settlement)))
        try:
            self._write([row, self._ending(claimed, ref, ended, has_lock=has_lock)])
        except TransactionFailed as failed:
            if _FIRST in failed.failed:
                item = failed.failed[_FIRST]
                return settlement.result_in(claimed, from_item(item) if item else None)
            return self._actions.settle(claimed, settlement)
        except TransactionCancelled:  # blocked or throttled: nothing is written
            if has_lock:
                raise
            return self._counted(ref, ended, self._actions.settle(claimed, settlement))
        return SettleResult.SETTLED

    def _ending(self, claimed: Action, ref: JobRef, ended: EndedRun, *, has_lock: bool) -> Entry:
        """Return the write of the job at the end of a run."""
        return self._items.entry(job_state.count(ref, ended, claimed.ref if has_lock else None))

    def _counted(self, ref: JobRef, ended: EndedRun, result: SettleResult) -> SettleResult:
        """Count a run that was settled alone, because other transactions blocked the job."""
        if result is SettleResult.SETTLED:
            with suppress(DuetimeError):
                self.count(ref, ended)
        return result

    def commit(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        entries: Sequence[Mapping[str, Any]],
        number: int,
        has_lock: bool = True,
    ) -> SettleResult:
        """Commit with an entry that frees the lock, or counts a run without the lock.

        If another action holds the lock, or the job is gone or blocked, commit without the entry.
        """
        ending = self._ending(claimed, ref, ended, has_lock=has_lock)
        commit = partial(self._actions.commit, claimed, settlement, number=number)
        try:
            return commit(entries=[*entries, ending])
        except CommitRejected as refused:
            if _is_the_locks(refused, len(entries)):
                return commit(entries=entries)
            if not has_lock and any(reason.index == len(entries) for reason in refused.reasons):
                return self._counted(ref, ended, commit(entries=entries))
            raise CommitRejected(
                [reason for reason in refused.reasons if reason.index < len(entries)]
            ) from None

    def end_pending(self, row: Action, ended: Action, ref: JobRef) -> bool:
        """End the row, and free the lock if the run holds it, or end its waiting for the lock."""
        if row.attempt and self._end_retry(row, ended, ref):
            return True
        if isinstance(self._actions.end_pending(row, ended), Rejected):
            return False
        with suppress(TransactionFailed, DuetimeError):  # the next claim finds that it no longer waits
            self._write([self._items.entry(job_state.stop_waiting(ref, row.ref))])
        return True

    def _end_retry(self, row: Action, ended: Action, ref: JobRef) -> bool:
        """End the row and free its lock. Return False if it holds no lock or has changed."""
        self._actions.payloads.outlive(row, ended.kept_until)
        end = self._row(row.ref, swap(row, ended, PENDING_AS_READ))
        try:
            self._write([end, self._items.entry(job_state.unlock(ref, row.ref))])
        except TransactionFailed:
            return False
        return True

    def count(self, ref: JobRef, ended: EndedRun) -> None:
        with suppress(TransactionFailed):
            self._write([self._items.entry(job_state.count(ref, ended))])

    def _write(self, entries: Sequence[Entry]) -> None:
        retry_on_conflict(partial(write, self._client, entries))

    def _row(self, ref: ActionRef, change: Update) -> Entry:
        return update(self._actions_table, row_key(ref), change)

    def _spans(self, ref: JobRef, spans: Sequence[JobSpan]) -> Iterator[Entry]:
        items: dict[str, Item] = {item["sk"]["S"]: item for item in (to_span(ref, span) for span in spans)}
        return (put(self._table, item) for item in items.values())


def _has(failed: TransactionFailed, fields: Fields) -> bool:
    """Return whether the job's state has these fields."""
    return stored(JOB, fields).items() <= (failed.failed.get(_FIRST) or {}).items()


def _is_the_locks(refused: CommitRejected, place: int) -> bool:
    return any((reason.index, reason.code) == (place, CONDITION_FAILED) for reason in refused.reasons)
