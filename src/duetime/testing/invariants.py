"""The invariants of a simulated cloud, checked on its rows and jobs.

The sweep repairs a fault within minutes, at the latest the next catch-up does. The invariants hold after
that time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import DuetimeError
from duetime.ids import DEFAULT_WORKER, SYSTEM_TENANT, TenantId
from duetime.jobs.explain import Explain, Explanation
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.notes import MemoryBookmarks
from duetime.model.action import Action, Status, Trigger
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Job, JobRef, job_ref_of
from duetime.model.outcome import EXPIRED
from duetime.model.rate_limit import Pace, RateBucket, bucket_of, microseconds
from duetime.model.work_pause import work_of
from duetime.recount.recount import Recount, in_words
from duetime.testing.journey import JournaledCloud, short
from duetime.wakeups.sweep import bands


def first_excess(starts: Iterable[datetime], pace: Pace) -> datetime | None:
    """Return the first start that is one too many for some window that ends with it; None without one.

    The m-th start is too early if, for an n before it, fewer than ``(m - n) * interval`` less the tolerance
    have passed since the n-th. So each is compared with the latest time that those before leave to it.
    """
    latest: int | None = None
    for number, start in enumerate(sorted(starts)):
        paid = microseconds(start) - number * pace.interval
        if latest is not None and paid < latest - pace.tolerance:
            return start
        latest = paid if latest is None else max(latest, paid)
    return None


def too_fast(cloud: MemoryCloud) -> Iterator[str]:
    """13: no window has more starts than its rate limit allows, by the workers' clocks.

    If a limit has changed, processes learn it at different times, so the sum of the limits counts.
    """
    starts: defaultdict[RateBucket, list[datetime]] = defaultdict(list)
    rows: dict[RateBucket, Action] = {}
    for row in cloud.store.rows():
        bucket = _bucket_of(cloud, row)
        if bucket is not None:
            rows[bucket] = row
            starts[bucket] += [
                attempt.started_at for attempt in row.attempts if attempt.message != EXPIRED.message
            ]
    for bucket, begun in starts.items():
        excess = first_excess(begun, _sum_of(set(_paces(cloud, bucket, rows[bucket]))))
        if excess is not None:
            names = [short(row.id) for row in cloud.store.rows() if _has_started_at(row, excess)]
            yield f"{', '.join(names)} starts at {excess:%H:%M:%S.%f}, too soon for its rate (invariant 13)"


def _sum_of(paces: Collection[Pace]) -> Pace:
    """Return the pace of starts at all of some paces together."""
    if len(paces) == 1:
        return next(iter(paces))
    interval = int(1 / sum(1 / pace.interval for pace in paces))
    bursts = sum(pace.tolerance // pace.interval + 1 for pace in paces)
    return Pace(interval, (bursts - 1) * interval)


def waits_for_rate(cloud: MemoryCloud, row: Action) -> bool:
    """Return whether a dead run that is due may wait for its rate limit."""
    bucket = _bucket_of(cloud, row)
    if bucket is None:
        return False
    now = cloud.clock.now()
    return any(cloud.store.next_start(bucket, pace, now) > now for pace in _paces(cloud, bucket, row))


def _has_started_at(row: Action, at: datetime) -> bool:
    return any(attempt.started_at == at for attempt in row.attempts)


def _paces(cloud: MemoryCloud, bucket: RateBucket, row: Action) -> Iterator[Pace]:
    """Yield the paces under which starts were counted, and the declared one."""
    handler = cloud.handler_of(row.type)
    if handler is not None and handler.rate is not None:
        yield handler.rate.limit.pace
    yield from cloud.store.rates.paces(bucket)


def _bucket_of(cloud: MemoryCloud, row: Action) -> RateBucket | None:
    handler = cloud.handler_of(row.type)
    if handler is None or handler.rate is None or not ids.is_one_shot(row.id):
        return None
    rate, shards = handler.rate, handler.rate.limit.shards
    if rate.scope == "type":
        return bucket_of(row.type, shards, row.id, tenant_id=SYSTEM_TENANT)
    key = "" if rate.scope == "tenant" else rate_key_of(cloud, row)
    return None if key is None else bucket_of(row.type, shards, row.id, tenant_id=row.tenant_id, key=key)


def rate_key_of(cloud: MemoryCloud, row: Action) -> str | None:
    """Return the key of an action's rate limit; None if it has none, or it cannot be computed."""
    handler = cloud.handler_of(row.type)
    if handler is None or handler.rate is None:
        return None
    try:
        return row.rate_key or handler.rate.key_of(handler.read(row.payload, row.payload_version))
    except DuetimeError:
        return None


_MOST = 100_000
_A_SWEEP = timedelta(minutes=3)
_SECOND = timedelta(seconds=1)
_A_LOOK = timedelta(minutes=16)
"""More than the time between two tries of a run that waits for a slot."""


class InvariantBroken(AssertionError):
    """An invariant of a cloud does not hold."""

    def __init__(self, broken: Sequence[str], *, seed: int | None, story: str) -> None:
        self.broken, self.seed = tuple(broken), seed
        replayed = "" if seed is None else f"\n\nReplay it with the same faults and seed={seed}."
        super().__init__("\n".join([*broken, "", "The story:", story]) + replayed)


def broken_in(cloud: JournaledCloud) -> Iterator[str]:
    """Yield a line for each broken invariant."""
    now, rows = cloud.clock.now(), cloud.store.rows()
    yield from _lost(cloud, rows, now)
    yield from _run_twice(rows)
    yield from _too_many(cloud, rows, now)
    yield from too_fast(cloud)
    yield from _unaccounted(cloud)
    refs, _ = cloud.job_store.due_for_maintenance(instant.LATEST, limit=_MOST, cursor=None)
    for ref in refs:
        if isinstance(ref, JobRef):
            yield from _Times(cloud, ref).broken()


def _unaccounted(cloud: JournaledCloud) -> Iterator[str]:
    """9: a recount, which shares no code with the planner, finds each nominal time with a proper result."""
    recount = Recount(
        replace(cloud.seen_by_caller(None), bookmarks=MemoryBookmarks()),
        settled_after=timedelta(0),
        is_paused=lambda tenant_id: KnownPauses(cloud.pauses, cloud.clock).of_tenant(tenant_id) is not None,
    )
    report = recount(stop_at=instant.LATEST)
    yield from (f"the recount found {in_words(found)} (invariant 9)" for found in report.findings)
    yield from (f"the recount could not read {job} (invariant 9)" for job in report.unread)


def _lost(cloud: JournaledCloud, rows: Sequence[Action], now: datetime) -> Iterator[str]:
    """2: each due row is settled, unless it waits for a pause, or a run of its job or concurrency key."""
    pauses = KnownPauses(cloud.pauses, cloud.clock)
    for row in rows:
        since = min(max(row.lease_until or row.due_at, _ready_at(cloud, row, pauses)), now)
        if not row.status.is_final and _looked_at(row, since, cloud) < now and not _waits(cloud, row):
            yield f"{short(row.id)} is {row.status.value} since {since:%m-%d %H:%M:%S} (invariant 2)"


def _ready_at(cloud: JournaledCloud, row: Action, pauses: KnownPauses) -> datetime:
    """Return from when on a run may begin; `LATEST` while a pause without an end, or a breaker, holds it."""
    worker = cloud.routes.queue_for(row.type) or DEFAULT_WORKER
    work = replace(work_of(row, worker), rate_key=rate_key_of(cloud, row))
    return pauses.ready_at(work, late=cloud.settings.grace, is_first=row.attempt == 0)


def _looked_at(row: Action, since: datetime, cloud: JournaledCloud) -> datetime:
    """Return by when a sweep must have seen the row: in a band after `since`, or in the next deep sweep."""
    looks, rate = (row.due_at + look for look in bands(cloud.settings)), cloud.settings.catch_up_rate
    deep = max(row.due_at + 2 * rate, since + rate)
    return next((look for look in looks if look >= since), deep) + _A_SWEEP


def _waits(cloud: JournaledCloud, row: Action) -> bool:
    if _waits_for_slot(cloud, row) or waits_for_rate(cloud, row):
        return True
    owner = job_ref_of(row) if row.status is Status.PENDING else None
    job = None if owner is None else cloud.job_store.get(owner)
    holder = cloud.store.get(job.running) if job and job.running else None
    return holder is not None and holder is not row and not holder.status.is_final


def _waits_for_slot(cloud: JournaledCloud, row: Action) -> bool:
    """Return whether other runs hold the slots of the concurrency key, or did minutes ago."""
    if row.concurrency is None:
        return False
    slots = cloud.store.key_slots(row.tenant_id, row.slot_key)
    if slots.is_full_for(row):
        return True
    lately = cloud.clock.now() - _A_LOOK
    beside = (other for other in cloud.store.rows() if _key_of(other) == _key_of(row) and other is not row)
    return any(other.attempts and (other.attempts[-1].finished_at or lately) > lately for other in beside)


def _too_many(cloud: JournaledCloud, rows: Sequence[Action], now: datetime) -> Iterator[str]:
    """1: live leases under a concurrency key stay within the limit of the run that took its slot last."""
    live: dict[tuple[TenantId, str], list[Action]] = {}
    for row in rows:
        is_live = row.status is Status.PROCESSING and row.lease_until is not None and row.lease_until > now
        if row.concurrency is not None and is_live:
            live.setdefault(_key_of(row), []).append(row)
    for (tenant_id, key), runs in live.items():
        order = list(cloud.store.key_slots(tenant_id, key).holders)
        last = max(runs, key=lambda run: order.index(run.id) if run.id in order else -1)
        if len(runs) > last.slot_limit:
            names = ", ".join(short(run.id) for run in runs)
            yield f"{len(runs)} run under {runs[0].slot_key!r}: {names} (invariant 1)"


def _key_of(row: Action) -> tuple[TenantId, str]:
    return row.tenant_id, row.slot_key


def _run_twice(rows: Sequence[Action]) -> Iterator[str]:
    """3: each nominal time runs under one version only."""
    begun: dict[tuple[str, str, datetime], Action] = {}
    for row in rows:
        if row.attempt and row.job is not None and row.trigger in {Trigger.CADENCE, Trigger.CATCH_UP}:
            other = begun.setdefault((row.tenant_id, row.job, ids.nominal_at(row.id)), row)
            if other is not row:
                yield f"{short(row.id)} is run, and so is {short(other.id)} (invariant 3)"


class _Times:
    """The nominal times of one job with their results."""

    def __init__(self, cloud: JournaledCloud, ref: JobRef) -> None:
        self._cloud, self._ref, self._now = cloud, ref, cloud.clock.now()
        job = cloud.job_store.get(ref)
        if job is None:
            raise LookupError(ref.name)
        self._job: Job = job
        self._versions = cloud.job_store.versions(ref)

    def broken(self) -> Iterator[str]:
        if self._job.definition.self_scheduled or self._job.cadence_set.triggers:
            return
        yield from self._unexplained()
        yield from self._off_the_cadence()

    def _unexplained(self) -> Iterator[str]:
        """4: each past nominal time has one explanation, and each explanation a nominal time.

        A run of a backfill is an entry beside that of its time.
        """
        times, found = list(self._nominal()), self._explained()
        name = self._ref.name
        counted = sum(one.count or 0 for one in found if ids.backfill_of(one.action_id or "") is None)
        if counted != len(times):
            yield f"{name} has {len(times)} nominal times, and {counted} are explained (invariant 4)"
        settled_by = self._now - self._cloud.settings.job_grace
        open_ones = {OccurrenceStatus.FORGOTTEN, OccurrenceStatus.UPCOMING}
        for occurrence in found:
            status, at = occurrence.account, occurrence.at
            is_open = status is OccurrenceStatus.PENDING and occurrence.action_id is None and at < settled_by
            if status in open_ones or is_open:
                yield f"{name} at {at:%m-%d %H:%M:%S} is {status.value}: {occurrence.note} (invariant 4)"

    def _explained(self) -> Explanation:
        explain = Explain(self._cloud.seen_by_caller(None))
        return explain(self._ref, min(version.since for version in self._versions), self._now, limit=_MOST)

    def _nominal(self) -> Iterator[datetime]:
        for version in self._versions:
            cadence_set = self._job.cadences_of(version.definition)
            yield from (
                due.at
                for due in cadence_set.between(version.since, min(self._now, version.until or self._now))
            )

    def _off_the_cadence(self) -> Iterator[str]:
        """5: each occurrence's nominal time is a time of its version's cadences."""
        definitions = {version.number: version.definition for version in self._versions}
        for row in self._cloud.store.rows():
            is_mine = (row.tenant_id, row.job) == (self._ref.tenant_id, self._ref.name)
            if not is_mine or row.trigger not in {Trigger.CADENCE, Trigger.CATCH_UP}:
                continue
            nominal, version = ids.nominal_at(row.id), ids.version_of(row.id)
            definition = definitions.get(version or 0)
            cadence_set = self._job.cadences_of(definition) if definition else CadenceSet(())
            if cadence_set.next_after(nominal - _SECOND) != nominal:
                yield f"{short(row.id)} is no time of its cadences (invariant 5)"


def unexpected(rows: Sequence[Action], known: frozenset[str]) -> Iterator[str]:
    """8: an action of an unknown type has failed."""
    for row in rows:
        if row.type not in known and row.status is not Status.FAILED:
            yield (
                f"{short(row.id)} is {row.status.value}, though no handler is named {row.type} (invariant 8)"
            )
