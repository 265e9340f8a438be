"""Schedulers that lack a guard of the protocol, each under the rule that it breaks."""

from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from unittest.mock import patch

from duetime.embedded import cloud
from duetime.errors import BackendUnavailable
from duetime.events.publish import Publish
from duetime.jobs import claim_policy
from duetime.jobs.plan import Plan
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.notifications import MemoryDeliveries
from duetime.memory.queries import MemoryQueries
from duetime.memory.slots import MemorySlots
from duetime.memory.store import MemoryStore
from duetime.model import transition
from duetime.model.action import Status
from duetime.model.idempotency import HeldKey
from duetime.model.lease import SettleResult
from duetime.notifications.notify import Notify
from duetime.ports.actions import DuePage
from duetime.ports.jobs import LockRequirement
from duetime.ports.notifications import SendPermit
from duetime.wakeups import pass_parts
from duetime.wakeups.due_shards import DueShards
from duetime.worker import claim_job_run, worker
from tests.proof import policies, world
from tests.proof.operations import OPERATIONS, WEIGHTS, deploy, register, trigger
from tests.proof.tenant_pauses import BLOCK

PUBLISH = Publish.__call__
IN_TURN = pass_parts.in_turn
CLAIM, SETTLE, FIRST = MemoryStore.claim, MemoryStore.settle, HeldKey.first


def with_skew(skew):
    def claim(self, ref, terms):
        return CLAIM(self, ref, replace(terms, skew=skew))

    return lambda: patch.object(MemoryStore, "claim", claim)


def without_fence():
    def held(self, claimed):
        row = self.get(claimed.ref)
        return row if row is not None and row.status is Status.PROCESSING else None

    return patch.object(MemoryStore, "held", held)


def without_lock():
    return patch.object(claim_policy, "_contend", lambda *_: claim_policy.Proceed(LockRequirement.NOTHING))


@contextmanager
def without_fencing_off():
    with where_processes_pause(), patch.object(MemoryJobStore, "_fence_off", lambda *_: None):
        yield


def where_processes_pause():
    """Worlds with that fault only: a run must lose its lock, and go on later."""
    return patch.object(world, "rates_of", lambda _draw: dict.fromkeys(world.USUAL, 0.0) | {"pause": 0.3})


def cursor_first():
    def write(self, job, step):
        if not self._jobs.move_cursor(job, step.cursor, step.maintain_at, missed=step.missed):
            return False
        for row in step.rows:
            self._actions.put(row)
        return True

    return patch.object(Plan, "_write", write)


def without_refusals():
    return patch.object(claim_policy, "_refusal", lambda *_: None)


@contextmanager
def without_looking_at_former_versions():
    with where_jobs_change_as_they_fall_due(), patch.object(claim_policy, "_covered", lambda *_: None):
        yield


def where_jobs_change_as_they_fall_due():
    """Worlds of two operations: clocks that differ suffice."""
    return worlds_of({deploy, register}, NEAR=1.0, STEPS=[0.5, 1, 2, 20])


def worlds_of(operations, **more):
    """Worlds with these operations only, and without faults."""
    weights = [weight if do in operations else 0 for do, weight in zip(OPERATIONS, WEIGHTS, strict=True)]
    none = dict.fromkeys(world.USUAL, 0.0)
    return patch.multiple(world, WEIGHTS=weights, rates_of=lambda _draw: none, **more)


def without_looking_again():
    return patch.object(MemoryStore, "due", lambda *_, **__: DuePage((), None))


def without_tenants():
    def newest_first(self, tenant_id, places, before):
        rows = [row for row in self._rows.values() if "." not in row.id and row.id < before]
        return iter(sorted(rows, key=lambda row: row.id, reverse=True))

    return patch.object(MemoryQueries, "_newest_first", newest_first)


def without_skew():
    return patch.object(world.World, "skew_allowed", lambda *_: timedelta(0))


def without_looking_for_the_key():
    def put_once(self, action, terms):
        self.keys.by_key[action.tenant_id, action.idempotency_key] = HeldKey.for_action(action, terms.until)
        self.put(action)
        return action

    return patch.object(MemoryStore, "put_once", put_once)


def without_comparing_times_of_keys():
    def first(self, request, row, now):
        return None if row is not None and row.status.is_final else FIRST(self, request, row, now)

    return patch.object(HeldKey, "first", first)


def with_commits_unfenced():
    def commit(self, claimed, settlement, *, entries, number):
        if entries:
            self.on_commit(entries)
        return self.settle(claimed, settlement)

    return patch.object(MemoryStore, "commit", commit)


def with_cancels_forgotten():
    def settle(self, claimed, settlement):
        row = self.held(claimed)
        if row is None:
            return SETTLE(self, claimed, settlement)
        self.write(row, transition.settled(row, settlement))
        return SettleResult.SETTLED

    return patch.object(MemoryStore, "settle", settle)


def without_a_limit():
    return patch.object(MemorySlots, "holders", lambda *_: frozenset())


def with_puts_over_rows():
    def put(self, action):
        stored = self.get(action.ref)
        self.write(stored, action) if stored != action else None

    return patch.object(MemoryStore, "put", put)


def without_ends_of_chains():
    """Each copy of a waiting action's message is replaced for ever, as soon as it comes."""

    def wait(self, delivery, seconds):
        return self._put_off(delivery, min(seconds, 15))

    return patch.object(worker.Worker, "_wait", wait)


def with_repeats_counted():
    def end(self, claimed, ref, ended, *rest):
        settle, has_lock = rest
        result = settle()
        if result is SettleResult.SETTLED and (not has_lock or self._unlock(ref, claimed.ref)):
            self.count(ref, ended)
        return result

    return patch.object(MemoryJobStore, "_end", end)


@contextmanager
def without_looking_for_runs_without_lock():
    with worlds_of({deploy, trigger}, NEAR=0), patch.object(claim_job_run, "find_unlocked", lambda *_: ()):
        yield


def without_surplus_shards():
    return patch.object(DueShards, "known", lambda self, *_: self._store.due_shards)


def where_calls_hang():
    """Worlds with that fault only: a service hangs for minutes."""
    return patch.object(world, "rates_of", lambda _draw: dict.fromkeys(world.USUAL, 0.0) | {"hang": 0.01})


@contextmanager
def without_shares_of_a_pass():
    def in_turn(parts, stop_at, clock):
        return IN_TURN([lambda _until, part=part: part(stop_at) for part in parts], stop_at, clock)

    with where_calls_hang(), patch.object(cloud, "in_turn", in_turn):
        yield


def without_pauses():
    never = SimpleNamespace(of_tenant=lambda _tenant_id: None)
    return patch.object(worker, "KnownPauses", lambda *_: never)


def where_events_are_published():
    return patch.object(policies, "has_events", lambda _seed: True)


@contextmanager
def without_repeats_of_batches():
    def call(self, changes):
        with suppress(BackendUnavailable):
            return PUBLISH(self, changes)

    with where_events_are_published(), patch.object(Publish, "__call__", call):
        yield


@contextmanager
def without_digests():
    with where_events_are_published(), patch.object(Notify, "_request_digest", lambda *_: None):
        yield


@contextmanager
def without_records_of_deliveries():
    always = patch.object(MemoryDeliveries, "begin", lambda *_, **__: SendPermit.YES)
    with where_events_are_published(), always:
        yield


GUARDS = {
    "1: a lease counts as ended only after the skew": with_skew(timedelta(0)),
    "1: a lease that lives is not taken over": with_skew(-timedelta(days=1)),
    "1: a settle with an old fence changes nothing": without_fence,
    "1: no two runs of a job hold its lock": without_lock,
    "1: a run that loses the lock is fenced off": without_fencing_off,
    "2: what is overdue is looked at again": without_looking_again,
    "3: no nominal time is run under two versions": without_looking_at_former_versions,
    "4: rows come first and the cursor second": cursor_first,
    "7: a list is one tenant's": without_tenants,
    "9: a retired occurrence does not run": without_refusals,
    "clocks that differ are allowed for": without_skew,
    "a row that is there is not put again": with_puts_over_rows,
    "a key is looked for before it is taken": without_looking_for_the_key,
    "a key holds for its time to live": without_comparing_times_of_keys,
    "no more run under a concurrency key than its limit": without_a_limit,
    "a commit with an old fence writes nothing": with_commits_unfenced,
    "messages of an action that waits do not multiply": without_ends_of_chains,
    "who was asked to stop is not run again": with_cancels_forgotten,
    "runs without the lock count as its holders": without_looking_for_runs_without_lock,
    "a run is counted once": with_repeats_counted,
    "a part of a pass that hangs leaves the others their share": without_shares_of_a_pass,
    "rows beyond a lowered number of due shards are found": without_surplus_shards,
    "no run begins while its tenant is paused": without_pauses,
    "10: a batch that failed is published again": without_repeats_of_batches,
    "11: a digest reports the rest of a window": without_digests,
    "12: a notification is sent once": without_records_of_deliveries,
}

BEGIN = {
    "no run begins while its tenant is paused": BLOCK,
    "runs without the lock count as its holders": 60,
    "who was asked to stop is not run again": 158,
    "a part of a pass that hangs leaves the others their share": 25,
    "a run is counted once": 597,
}
"""The first seed to try for a guard that the first worlds do not need.

It changes with the operations of the worlds; search it again then.
"""
