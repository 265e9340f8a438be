"""Schedulers that lack a guard of the protocol, each under the rule that it breaks."""

from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from unittest.mock import patch

from duetime.actions.hand_overs import HandOvers
from duetime.errors import BackendUnavailable
from duetime.events.publish import Publish
from duetime.instant import LATEST
from duetime.jobs import claim_policy
from duetime.jobs.plan import Plan
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.memory.table import MemoryTable
from duetime.model import transition
from duetime.model.action import Status
from duetime.model.expiry import Expiry
from duetime.model.idempotency import HeldKey
from duetime.model.lease import Applied, ClaimTerms, Rejected, Renewed, SettleResult
from duetime.model.slots import KeySlots
from duetime.model.swap import Guard, settleable
from duetime.model.work_pause import WorkPause
from duetime.notifications.notify import Notify
from duetime.ports import action_keys, action_store
from duetime.ports.action_keys import DebounceKeys, taking
from duetime.ports.actions import DuePage
from duetime.ports.deliveries import Deliveries, SendPermit
from duetime.ports.jobs import LockRequirement
from duetime.ports.rates import Rates, _Advance
from duetime.ports.row_queries import BY_ID
from duetime.ports.row_writes import RowStillDead
from duetime.ports.slots import Slots
from duetime.ports.work_pauses import NoWorkPauses
from duetime.wakeups import pass_parts
from duetime.wakeups.due_scanner import DueScanner, DueShards
from duetime.worker import claim_job_run, worker
from duetime.worker.end_run import Settle
from duetime.worker.paused_work import PausedWork
from tests.proof import policies, rates, world
from tests.proof.operations import OPERATIONS, WEIGHTS, cancel_what_runs, deploy, register, trigger
from tests.proof.pauses import BLOCK

SELECT = MemoryTable.select
PUBLISH = Publish.__call__
IN_TURN, SCAN = pass_parts.in_turn, DueScanner.wake
COALESCE, PUT_DEBOUNCED = DebounceKeys.coalesce, DebounceKeys.put_debounced
START = Rates.start_within_rate
TAKE = Slots.take_slot
HOLDS, RENEW = Guard.holds, MemoryStore.renew
SETTLE, FIRST = MemoryStore.settle, HeldKey.first
SETTLE_WITH_JOB = MemoryJobStore.settle


def with_claims_of_living_leases():
    return patch.object(ClaimTerms, "may_take_over", lambda _terms, row: row.lease_until is not None)


def without_fence():
    def holds(self, stored, read, after):
        names = [name for name in self.as_read if name != "fence" or self.status is not Status.PROCESSING]
        return HOLDS(replace(self, as_read=tuple(names)), stored, read, after)

    return patch.object(Guard, "holds", holds)


def without_lock():
    return patch.object(claim_policy, "_contend", lambda *_: claim_policy.Proceed(LockRequirement.NOTHING))


@contextmanager
def without_fencing_off():
    with where_processes_pause(), patch.object(RowStillDead, "loses_fence", lambda *_: False):
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
    def select(self, span):
        if span.by is not BY_ID or span.part[1]:
            return SELECT(self, span)
        rows = [row for row in self.by_ref.values() if "." not in row.id]
        found = [((row.id,), row) for row in rows if row.id < span.high[0]]
        return sorted(found, key=lambda entry: entry[0], reverse=True)[: span.limit]

    return patch.object(MemoryTable, "select", select)


def without_skew():
    return patch.object(world.World, "skew_allowed", lambda *_: timedelta(0))


def without_looking_for_the_key():
    def put_once(self, action, terms):
        self.items.write(replace(taking(action, terms), guard=()))
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


def held(store, claimed):
    """Return the row of a run that holds it."""
    return None if store.peek(claimed) is None else store.get(claimed.ref)


def with_cancels_forgotten():
    def settle(self, claimed, settlement):
        row = held(self, claimed)
        if row is None:
            return SETTLE(self, claimed, settlement)
        self.write(row, transition.settled(row, settlement))
        return SettleResult.SETTLED

    return patch.object(MemoryStore, "settle", settle)


@contextmanager
def without_a_limit():
    def take(self, row, slots, at):
        return TAKE(self, replace(row, concurrency=replace(row.concurrency, limit=99)), slots, at)

    with (
        patch.object(KeySlots, "is_full_for", lambda *_: False),
        patch.object(Slots, "take_slot", take),
    ):
        yield


def freed_before_the_settle():
    def end(self, action, token, settlement, row_alone):
        self._pass.free(action, token)
        return row_alone(action, settlement)

    return patch.object(Settle, "_end_with_slot", end)


def with_puts_over_rows():
    def put(self, action):
        stored = self.get(action.ref)
        self.write(stored, action) if stored != action else None

    return patch.object(MemoryStore, "put", put)


def without_ends_of_chains():
    """Each copy of a waiting action's message is replaced for ever, as soon as it comes."""

    def wait(self, delivery, seconds):
        return self.put_off(delivery, min(seconds, 15))

    return patch.object(worker.Worker, "_wait", wait)


def with_repeats_counted():
    def settle(self, claimed, settlement, ref, ended, **lock):
        is_repeat = held(self._actions, claimed) is None
        result = SETTLE_WITH_JOB(self, claimed, settlement, ref, ended, **lock)
        if is_repeat and result is SettleResult.SETTLED:
            self.count(ref, ended)
        return result

    return patch.object(MemoryJobStore, "settle", settle)


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

    with where_calls_hang(), patch.object(pass_parts, "in_turn", in_turn):
        yield


def without_marks_of_passes():
    """The sweep and the wheel begin each time where they began at first."""

    def wake(self, windows, *, stop_at):
        scanned, _ = SCAN(self, windows, stop_at=stop_at)
        return scanned, {}

    return patch.object(DueScanner, "wake", wake)


def without_pauses():
    """The workers read no pause."""
    return patch.object(worker, "KnownPauses", lambda _pauses, clock: KnownPauses(NoWorkPauses(), clock))


def without_pauses_of_keys():
    """The message alone is compared with the pauses, which lacks the row's keys."""
    return patch.object(PausedWork, "hold_of_row", lambda *_: None)


def without_spread():
    return patch.object(WorkPause, "holds_until", lambda self, _work: self.end or LATEST)


def without_skips_by_pauses():
    return patch.object(WorkPause, "skipped_due_at", lambda *_: False)


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
    always = patch.object(Deliveries, "begin", lambda *_, **__: SendPermit.YES)
    with where_events_are_published(), always:
        yield


def without_expiry():
    return patch.object(Expiry, "of", lambda *_: None)


def where_callers_debounce():
    """Worlds with calls with debounce keys only, and with requests that are late or lose their response."""
    faults = dict.fromkeys(world.USUAL, 0.0) | {"late": 0.1, "lose_answer": 0.1}
    always = {"rates_of": lambda _draw: faults, "has_debounce": lambda _seed: True}
    return patch.multiple(world, WEIGHTS=[int(do is cancel_what_runs) for do in OPERATIONS], NEAR=0, **always)


def coalesce_without(name):
    """A call that compares only one of status and generation with what it read."""

    def coalesce(self, row, changed, holder):
        current = self._get(row.ref)
        if current is not None and name == "generation" and current.status is Status.PENDING:
            row = replace(row, generation=current.generation)
        if current is not None and name == "bound":
            changed = replace(changed, due_at=changed.due_at + timedelta(hours=1))
        return COALESCE(self, row, changed, holder)

    @contextmanager
    def without():
        with where_callers_debounce(), patch.object(MemoryStore, "coalesce", delegate_to(coalesce)):
            yield

    return without


def delegate_to(function):
    return lambda self, *args: function(self.debounce, *args)


@contextmanager
def without_recognising_calls():
    rejected = patch.object(action_keys, "applied_if_taken", lambda row, _changed: Rejected(row))
    with where_callers_debounce(), rejected:
        yield


@contextmanager
def without_comparing_the_key():
    def put(self, action, former):
        del former
        return PUT_DEBOUNCED(self, action, self.find_debounced(action.tenant_id, action.debounced.key))

    with where_callers_debounce(), patch.object(MemoryStore, "put_debounced", delegate_to(put)):
        yield


def with_starts_beyond_the_rate():
    def start(self, bucket, pace, now, *, is_reserved):
        START(self, bucket, pace, now, is_reserved=is_reserved)

    return patch.object(Rates, "start_within_rate", start)


def with_reserved_starts_uncounted():
    def start(self, bucket, pace, now, *, is_reserved):
        return None if is_reserved else START(self, bucket, pace, now, is_reserved=False)

    return patch.object(Rates, "start_within_rate", start)


def with_starts_counted_at_their_instants():
    """A late start moves the counter as one in time would."""
    return patch.object(_Advance, "since", property(lambda move: move.read))


def with_deferrals_of_any_generation():
    def defer(self, row, until, **options):
        current = self.get(row.ref)
        if current is None or current.status is not Status.PENDING:
            return Rejected(current)
        return Applied(self.write(current, transition.deferred(current, until=until, **options)))

    return patch.object(MemoryStore, "defer", defer)


def where_parties_hold_tokens():
    """Worlds with hand-overs only, and with requests that are late or lose their response."""
    faults = dict.fromkeys(world.USUAL, 0.0) | {"late": 0.2, "lose_answer": 0.1}
    always = {"rates_of": lambda _draw: faults, "has_hand_overs": lambda _seed: True}
    return patch.multiple(world, WEIGHTS=[int(do is cancel_what_runs) for do in OPERATIONS], NEAR=0, **always)


@contextmanager
def with_ends_of_any_hand_over(name):
    """A store that does not compare one fact of a completion, and parties that do not read it either."""

    def settle(self, claimed, settlement):
        row = self.get(claimed.ref)
        if settlement.completion is None or row is None:
            return SETTLE(self, claimed, settlement)
        if name == "fence" and row.status is Status.PROCESSING:
            claimed = replace(claimed, fence=row.fence)
        if name == "status" and row.status.is_final and row.fence == claimed.fence:
            self.write(row, transition.settled(row, settlement))
            return SettleResult.SETTLED
        return SETTLE(self, claimed, settlement)

    def guard_of(settlement):
        guard = settleable(settlement)
        is_lax = settlement.completion is not None and name != "status"
        return replace(guard, is_handed_over=None, above={}) if is_lax else guard

    def named(self, token, **_decision):
        return self._named(token)

    reads = {"lease": named, "status": named}
    with (
        where_parties_hold_tokens(),
        patch.object(MemoryStore, "settle", settle),
        patch.object(action_store, "settleable", guard_of),
        patch.object(HandOvers, "_open_row", reads.get(name, HandOvers._open_row)),
    ):
        yield


@contextmanager
def with_heartbeats_of_any_run():
    def beat(self, row, until, *, now, progress=None):
        current = self.get(row.ref)
        if current is not None and current.status is Status.PROCESSING:
            self.write(current, transition.beaten(current, until, progress))
        return Renewed(cancel_requested=False)

    with where_parties_hold_tokens(), patch.object(MemoryStore, "beat", beat):
        yield


@contextmanager
def with_renewals_of_hand_overs():
    def renew(self, claimed, until):
        row = held(self, claimed)
        if row is not None and row.is_handed_over and row.lease_until < until:
            self.write(row, replace(row, lease_until=until))
        return RENEW(self, claimed, until)

    with where_parties_hold_tokens(), patch.object(MemoryStore, "renew", renew):
        yield


GUARDS = {
    "a completion ends its own run alone": partial(with_ends_of_any_hand_over, "fence"),
    "a completion ends an action once": partial(with_ends_of_any_hand_over, "status"),
    "a completion comes within its hand-over": partial(with_ends_of_any_hand_over, "lease"),
    "a heartbeat by token keeps its own hand-over alone": with_heartbeats_of_any_run,
    "a late renewal leaves the lease of a hand-over": with_renewals_of_hand_overs,
    "debounce: a call changes only the row that it read": coalesce_without("generation"),
    "debounce: no call moves an action past its bound": coalesce_without("bound"),
    "debounce: a repeated call is recognised": without_recognising_calls,
    "debounce: a key is taken only as it was read": without_comparing_the_key,
    "1: a lease that lives is not taken over": with_claims_of_living_leases,
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
    "a slot is passed on after the settle": freed_before_the_settle,
    "a commit with an old fence writes nothing": with_commits_unfenced,
    "messages of an action that waits do not multiply": without_ends_of_chains,
    "an action whose cancel was requested is not run again": with_cancels_forgotten,
    "runs without the lock count as its holders": without_looking_for_runs_without_lock,
    "a run is counted once": with_repeats_counted,
    "a part of a pass that hangs leaves the others their share": without_shares_of_a_pass,
    "a pass goes on where the one before it ended": without_marks_of_passes,
    "rows beyond a lowered number of due shards are found": without_surplus_shards,
    "no run begins after its expiry": without_expiry,
    "no run begins under a pause": without_pauses,
    "no run begins under a pause of its key": without_pauses_of_keys,
    "what waits for a pause begins spread": without_spread,
    "what becomes due under a pause that skips is skipped": without_skips_by_pauses,
    "13: a start beyond the rate is refused": with_starts_beyond_the_rate,
    "13: a start at a reserved instant is counted": with_reserved_starts_uncounted,
    "13: a rest gives back no more than the burst": with_starts_counted_at_their_instants,
    "a deferral needs the generation as read": with_deferrals_of_any_generation,
    "10: a batch that failed is published again": without_repeats_of_batches,
    "11: a digest reports the rest of a window": without_digests,
    "12: a notification is sent once": without_records_of_deliveries,
}

BEGIN = {
    "no run begins under a pause": BLOCK,
    "no run begins under a pause of its key": BLOCK,
    "what waits for a pause begins spread": BLOCK,
    "what becomes due under a pause that skips is skipped": BLOCK,
    "13: a start beyond the rate is refused": rates.FIRST,
    "13: a start at a reserved instant is counted": rates.FIRST,
    "13: a rest gives back no more than the burst": rates.FIRST,
    "a deferral needs the generation as read": rates.FIRST,
}
"""The first seed to try for a guard that the first worlds do not need."""
