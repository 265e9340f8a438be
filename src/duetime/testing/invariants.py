"""The invariants: what must hold of a simulated cloud, whatever has befallen it. Read off rows and jobs, not off what it did.

A fault is healed within minutes by the sweep, at the latest by the next catch-up; so they hold once the faults have been over for
that long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime.embedded.cloud import CATCH_UP_EVERY, MemoryCloud
from duetime.jobs.explain import Explain, Explanation
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.action import Action, Status, Trigger
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Job, JobRef
from duetime.ports.jobs import JobStore
from duetime.testing.journey import short
from duetime.wakeups.sweep import DEEPEST, bands
from duetime.worker.claim_job_run import job_ref_of

_MOST = 100_000
_A_SWEEP = timedelta(minutes=3)
_SECOND = timedelta(seconds=1)
_A_LOOK = timedelta(minutes=3)
"""Longer than a run that waits for a slot lets pass between two looks."""


class InvariantBroken(AssertionError):
    """What must hold of a cloud does not."""

    def __init__(self, broken: Sequence[str], *, seed: int | None, story: str) -> None:
        self.broken, self.seed = tuple(broken), seed
        replayed = "" if seed is None else f"\n\nThe same faults with seed={seed} do it again."
        super().__init__("\n".join([*broken, "", "The story:", story]) + replayed)


def broken_in(cloud: MemoryCloud) -> Iterator[str]:
    """What does not hold, in a line each."""
    now, rows = cloud.clock.now(), cloud.store.rows()
    yield from _lost(cloud, rows, now)
    yield from _run_twice(rows)
    yield from _too_many(rows, now)
    for ref in _jobs(cloud.job_store):
        yield from _Times(cloud, ref).broken()


def _lost(cloud: MemoryCloud, rows: Sequence[Action], now: datetime) -> Iterator[str]:
    """2: nothing that is due has not come to its end, but what waits for another run of its job or its key."""
    for row in rows:
        since = row.lease_until or row.due_at
        if not row.status.is_final and _looked_at(row, since, cloud) < now and not _waits(cloud, row):
            yield f"{short(row.id)} is {row.status.value} since {since:%m-%d %H:%M:%S} (invariant 2)"


def _looked_at(row: Action, since: datetime, cloud: MemoryCloud) -> datetime:
    """By when a sweep must have looked at it since then: it looks when a row is so and so late."""
    looks = (look for look in bands(cloud.settings.grace) if row.due_at + look >= since)
    return row.due_at + next(looks, DEEPEST + CATCH_UP_EVERY) + _A_SWEEP


def _waits(cloud: MemoryCloud, row: Action) -> bool:
    if _waits_for_slot(cloud, row):
        return True
    owner = job_ref_of(row) if row.status is Status.PENDING else None
    job = None if owner is None else cloud.job_store.get(owner)
    holder = cloud.store.get(job.running) if job and job.running else None
    return holder is not None and holder is not row and not holder.status.is_final


def _waits_for_slot(cloud: MemoryCloud, row: Action) -> bool:
    """Whether others hold the slots of its concurrency key, or did just now: it looks again within a minute or so."""
    if row.concurrency_key is None:
        return False
    others = cloud.store.holders(row.tenant_id, row.concurrency_key) - {row.id}
    if len(others) >= row.concurrency_limit:
        return True
    lately = cloud.clock.now() - _A_LOOK
    beside = (each for each in cloud.store.rows() if _key_of(each) == _key_of(row) and each is not row)
    return any(each.attempts and (each.attempts[-1].finished_at or lately) > lately for each in beside)


def _too_many(rows: Sequence[Action], now: datetime) -> Iterator[str]:
    """1: no more runs with one concurrency key hold live leases than the one that began last allows."""
    live: dict[tuple[str, str | None], list[Action]] = {}
    for row in rows:
        is_live = row.status is Status.PROCESSING and row.lease_until is not None and row.lease_until > now
        if row.concurrency_key is not None and is_live:
            live.setdefault(_key_of(row), []).append(row)
    for runs in live.values():
        last = max(runs, key=lambda run: run.attempts[-1].started_at)
        if len(runs) > last.concurrency_limit:
            yield f"{len(runs)} run under {last.concurrency_key!r}, {short(last.id)} last (invariant 1)"


def _key_of(row: Action) -> tuple[str, str | None]:
    return row.tenant_id, row.concurrency_key


def _run_twice(rows: Sequence[Action]) -> Iterator[str]:
    """3: one nominal time is run under one version."""
    begun: dict[tuple[str, str, datetime], Action] = {}
    for row in rows:
        if row.attempt and row.job is not None and row.trigger in {Trigger.CADENCE, Trigger.CATCH_UP}:
            other = begun.setdefault((row.tenant_id, row.job, ids.nominal_at(row.id)), row)
            if other is not row:
                yield f"{short(row.id)} is run, and so is {short(other.id)} (invariant 3)"


def _jobs(store: JobStore) -> Sequence[JobRef]:
    refs, _ = store.to_attend(instant.LATEST, limit=_MOST, cursor=None)
    return refs


class _Times:
    """The nominal times of one job, and what became of them."""

    def __init__(self, cloud: MemoryCloud, ref: JobRef) -> None:
        self._cloud, self._ref, self._now = cloud, ref, cloud.clock.now()
        job = cloud.job_store.get(ref)
        if job is None:
            raise LookupError(ref.name)
        self._job: Job = job
        self._versions = cloud.job_store.versions(ref)

    def broken(self) -> Iterator[str]:
        if self._job.definition.self_scheduled or self._job.stacked.triggers:
            return
        yield from self._unexplained()
        yield from self._off_the_cadence()

    def _unexplained(self) -> Iterator[str]:
        """4: each nominal time up to now has an account, and each account a nominal time."""
        times, found = list(self._nominal()), self._explained()
        name = self._ref.name
        counted = sum(each.count or 0 for each in found)
        if counted != len(times):
            yield f"{name} has {len(times)} nominal times, and {counted} are explained (invariant 4)"
        settled_by = self._now - self._cloud.settings.job_grace
        open_ones = {OccurrenceStatus.FORGOTTEN, OccurrenceStatus.UPCOMING}
        for each in found:
            is_open = (
                each.account is OccurrenceStatus.PENDING and each.action_id is None and each.at < settled_by
            )
            if each.account in open_ones or is_open:
                yield f"{name} at {each.at:%m-%d %H:%M:%S} is {each.account.value}: {each.note} (invariant 4)"

    def _explained(self) -> Explanation:
        explain = Explain(
            self._cloud.store,
            self._cloud.job_store,
            clock=self._cloud.clock,
            retention=self._cloud.settings.retention,
            job_grace=self._cloud.settings.job_grace,
        )
        start = min(version.since for version in self._versions)
        return explain(self._ref, start, self._now, limit=_MOST)

    def _nominal(self) -> Iterator[datetime]:
        for version in self._versions:
            stacked = CadenceSet.of(version.definition.cadences, self._job.anchor)
            end = min(self._now, version.until or self._now)
            yield from (due.at for due in stacked.between(version.since, end))

    def _off_the_cadence(self) -> Iterator[str]:
        """5: each occurrence's nominal time is one of its version's cadences."""
        cadences = {version.number: version.definition.cadences for version in self._versions}
        for row in self._cloud.store.rows():
            is_mine = (row.tenant_id, row.job) == (self._ref.tenant_id, self._ref.name)
            if not is_mine or row.trigger not in {Trigger.CADENCE, Trigger.CATCH_UP}:
                continue
            nominal, version = ids.nominal_at(row.id), ids.version_of(row.id)
            stacked = CadenceSet.of(cadences.get(version or 0, ()), self._job.anchor)
            if stacked.next_after(nominal - _SECOND) != nominal:
                yield f"{short(row.id)} is no time of its cadences (invariant 5)"


def unexpected(rows: Sequence[Action], known: frozenset[str]) -> Iterator[str]:
    """8: what names no handler has failed, and says so."""
    for row in rows:
        if row.type not in known and row.status is not Status.FAILED:
            yield f"{short(row.id)} is {row.status.value}, though no handler is named {row.type} (invariant 8)"
