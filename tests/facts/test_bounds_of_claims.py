"""What a claim decides at its bounds: which rows it reads, and what it writes."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from duetime import ids
from duetime.declare.handler import LONGEST_RUN
from duetime.jobs.change_with_retry import CHANGED
from duetime.jobs.claim_policy import AlreadyClaimed, Bounds, ClaimContext, Postpone, Proceed, Wait
from duetime.memory.store import MemoryStore
from duetime.model.action import Attempt, Status, Trigger
from duetime.model.active_region import FENCES
from duetime.model.lease import Rejected
from duetime.model.slots import KeySlots
from duetime.ports.actions import DamagedRow
from duetime.ports.jobs import LockRequirement
from duetime.retry import NEVER
from duetime.worker.claim_job_run import SETTLED_AFTER, ClaimJobRun, _freed, find_unlocked
from duetime.worker.claim_results import ClaimWon, LockFreed, Waiting, read_holders
from duetime.worker.pass_slots import _Choice
from duetime_contract.specimens import LEASE, MINUTE, NOON, SECOND, SKEW, TICK, put, terms
from tests.backends import backends
from tests.cases import for_each
from tests.contract.rules.slots import KEY, keyed
from tests.facts.claim_decisions import NAME, job, row
from tests.unpaused import UNPAUSED

CHANGE = timedelta(minutes=15)
LOCK, NOTHING = LockRequirement.LOCK, LockRequirement.NOTHING
BOUNDS = Bounds(now=NOON, skew=SKEW, grace=10 * MINUTE)


def begun(store, at, *, lease_until=NOON + MINUTE, **more):
    return put(
        store,
        row(at, **{"status": Status.PROCESSING, "attempt": 1, "fence": 1, "lease_until": lease_until} | more),
    )


class TestUnlocked:
    """The search for runs that began without the lock."""

    @pytest.fixture
    def store(self):
        return MemoryStore()

    @for_each(
        ("since", "is_known"),
        [(SETTLED_AFTER + SKEW, True), (SETTLED_AFTER + SKEW - TICK, False), (None, True)],
    )
    def test_it_may_begin_when_the_index_has_what_was_written_before(self, store, since, is_known):
        its_job = job(unlocked_since=since and NOON - since)
        found = find_unlocked(store, its_job, row().ref, terms(NOON))
        assert found == (() if is_known else None)

    @for_each(("lease_until", "number"), [(NOON + TICK, 1), (NOON, 2), (NOON - TICK, 2)])
    def test_a_live_one_decides_and_else_those_in_surplus_shards_count(self, lease_until, number):
        store = MemoryStore()
        first = begun(store, NOON, lease_until=lease_until)
        begun(store, NOON - MINUTE, due_shard="40")
        found = find_unlocked(store, job(unlocked_since=NOON - 3 * MINUTE), row().ref, terms(NOON))
        assert (found[0], len(found)) == (first, number)

    def test_the_run_itself_and_the_holder_of_the_lock_are_none_of_them(self, store):
        own, holder, other = (begun(store, NOON - number * MINUTE) for number in range(3))
        its_job = job(unlocked_since=NOON - 3 * MINUTE, running=holder.ref)
        assert find_unlocked(store, its_job, own.ref, terms(NOON)) == (other,)


@for_each(
    ("its_job", "waiting", "expected"),
    [
        (job(), row(), LockFreed(row())),
        (job(), None, None),
        (job(running=row().ref), row(), None),
        (None, row(), None),
    ],
)
def test_an_ended_run_wakes_the_one_that_waits_for_a_free_lock(its_job, waiting, expected):
    context = ClaimContext(row=row(), job=its_job, holder=None, waiting=waiting)
    assert _freed(context) == expected


class Claims:
    """A claim over stores that record what it writes."""

    def __init__(self, **given):
        self.written = []
        jobs = {name: self._recorder(name, given.pop(name, True)) for name in ("claim", "wait")}
        jobs["versions"] = lambda _ref: given.get("versions", ())
        store = {
            "defer": self._recorder("defer", given.get("defer")),
            "get_rows": lambda refs: self.written.append(refs) or refs,
        }
        over = backends(SimpleNamespace(**store), jobs=SimpleNamespace(**jobs))
        self.claims = ClaimJobRun(over, given.get("paused", UNPAUSED))

    def _recorder(self, name, result):
        def method(*given, **_more):
            self.written.append((name, *given))
            return result

        return method


def context_of(its_job, its_row=None, **more):
    return ClaimContext(row=its_row or row(), job=its_job, **{"holder": None, "waiting": None} | more)


@for_each(
    ("its_job", "hold"),
    [(job(running=row().ref), LOCK), (job(running=row(NOON - MINUTE).ref), NOTHING), (None, NOTHING)],
)
def test_a_repeated_claim_has_the_lock_if_the_job_has_it_so(its_job, hold):
    won = Claims().claims._write(AlreadyClaimed(), context_of(its_job), terms(), BOUNDS)
    assert won == ClaimWon(row(), its_job, hold)


@for_each(
    ("its_job", "decision", "unlocked"),
    [
        (job(unlocked_since=NOON), Proceed(LOCK), (row(),)),
        (job(unlocked_since=NOON), Proceed(NOTHING), None),
        (job(), Proceed(LOCK), None),
        (job(), Proceed(LOCK, catches_up=True), None),
    ],
)
@pytest.mark.parametrize("has_plan", [True, False])
def test_a_claim_of_the_lock_fences_the_unlocked_runs_off(has_plan, its_job, decision, unlocked):
    its_row = row() if has_plan else replace(row(), planned=None)
    claims, context = Claims(), context_of(its_job, its_row, unlocked=(row(),))
    won = claims.claims._claim(decision, context, its_job, terms())
    ((_, claim),) = claims.written
    assert (claim.unlocked, claim.claimed) == (unlocked, won.action)
    assert (won.action.planned is not None) is has_plan
    assert not has_plan or won.action.planned.catches_up is decision.catches_up


def test_a_row_that_changed_is_not_postponed():
    decision, context = Postpone(NOON + MINUTE, "other"), context_of(job())
    claims = Claims(defer=Rejected(None))
    assert claims.claims._not_now(decision, context, terms()) is CHANGED
    assert Claims().claims._not_now(decision, context, terms()) is None


@for_each(
    ("its_job", "decision", "unlocked", "expected", "writes"),
    [
        (job(), Wait(), (), Waiting(60), 0),
        (job(), Wait(takes_the_place=True), (), Waiting(300), 1),
        (job(), Wait(takes_the_place=True), (row(),), Waiting(60), 1),
        (job(waiting=row().ref), Wait(takes_the_place=True), (), Waiting(300), 0),
        (job(waiting=row().ref), Wait(), (), Waiting(300), 0),
        (job(waiting=row(NOON).ref), Wait(), (), Waiting(60), 0),
    ],
)
def test_a_run_waits_longer_in_the_place_which_it_takes_once(its_job, decision, unlocked, expected, writes):
    claims, context = Claims(), context_of(its_job, unlocked=unlocked)
    late = terms(row().due_at + timedelta(hours=1))
    assert claims.claims._wait(decision, context, its_job, late, BOUNDS) == expected
    assert len(claims.written) == writes


@for_each(
    ("its_row", "end", "number"),
    [
        (row(), -TICK, 1),
        (row(), 0 * TICK, 0),
        (row(), -CHANGE, 1),
        (row(), -CHANGE - TICK, 0),
        (row(version=2), -TICK, 0),
        (row(kind="manual"), -TICK, 0),
    ],
)
def test_a_version_that_ended_just_before_may_have_run_the_same_time(its_row, end, number):
    found = Claims().claims._previous(its_row, job(ends={2: row().due_at + end}))
    assert [ids.version_of(ref.id) for ref in found] == [2] * number


@for_each("its_row", [row(), row(kind="manual"), row(attempt=1), row(kind="event")])
def test_only_the_first_run_of_a_nominal_time_waits_for_that_of_another_job(its_row):
    its_job, read = job(), []
    its_job = replace(its_job, definition=replace(its_job.definition, after=NAME))
    claims = Claims().claims
    claims._jobs = SimpleNamespace(get=read.append)
    claims._predecessor(its_row, its_job, terms())
    is_planned = its_row.trigger is Trigger.CADENCE and its_row.attempt == 0
    assert bool(read) is is_planned
    assert claims._predecessor(its_row, job(), terms()) is None


def test_a_run_of_a_former_version_may_have_its_type():
    former = replace(job(), definition=replace(job().definition, type="old"))
    claims = Claims(versions=[SimpleNamespace(definition=former.definition)]).claims
    assert claims._problem(replace(row(), type="old"), job()) is None
    assert "starts other for system" in claims._problem(replace(row(), type="other"), job())


def test_the_pause_that_held_a_run_is_stored_with_its_claim():
    paused = SimpleNamespace(held_by=lambda its_row: f"a pause held {its_row.job}")
    found = Claims(paused=paused).claims._with_history(terms(), row(), NEVER)
    assert (found.held_by, found.retry) == (f"a pause held {NAME}", NEVER.text())


def test_a_run_that_another_region_has_claimed_is_left_alone():
    store = MemoryStore()
    its_row = put(store, row(NOON, fence=2 * FENCES))
    claims = ClaimJobRun(backends(store), UNPAUSED)
    assert claims(its_row.ref, replace(terms(NOON), epoch=1), NEVER) is None
    assert store.get(its_row.ref) == its_row
    assert claims(its_row.ref, replace(terms(NOON), epoch=2), NEVER) is None
    assert store.get(its_row.ref).status is Status.SKIPPED  # its job is gone


LONGEST = NOON + max(LEASE, LONGEST_RUN) + SKEW


@for_each(
    ("status", "lease_until", "is_limited"),
    [
        (Status.PROCESSING, None, True),
        (None, None, True),
        (Status.PENDING, None, False),
        (Status.PROCESSING, LONGEST, False),
        (Status.PROCESSING, LONGEST + TICK, True),
        (Status.PROCESSING, NOON, False),
        (Status.PENDING, LONGEST + TICK, False),
    ],
)
def test_a_damaged_lease_is_limited_to_the_longest_one(status, lease_until, is_limited):
    damaged, limits = DamagedRow(row().ref, "no type", status, lease_until), []
    store = SimpleNamespace(
        get_rows=lambda _refs, damaged: damaged.append(found) or [],
        limit_lease=lambda limited, until: limits.append((limited, until)),
    )
    found = damaged
    assert read_holders(store, [damaged.ref], terms(NOON)) == {damaged.ref: damaged}
    assert limits == ([(damaged, LONGEST - SKEW)] if is_limited else [])


@for_each(("left", "expected"), [(None, False), (TICK, False), (0 * TICK, True), (-TICK, True)])
def test_a_claim_at_the_expiry_is_of_an_expired_action(left, expected):
    attempt = Attempt(queued_at=NOON, started_at=NOON, instance="w")
    won = ClaimWon(replace(row(), attempts=(attempt,)), None, NOTHING, None if left is None else NOON + left)
    assert won.is_expired is expected


@for_each(("held", "is_passed"), [(0, True), (1, True), (2, False), (3, False)])
def test_a_slot_is_passed_below_the_limit(held, is_passed):
    waiting = keyed(MemoryStore(), limit=2)
    slots = KeySlots(waiting.tenant_id, KEY, holders={f"a-{n}": 1 for n in range(held)})
    choice = _Choice(slots, None, NOON + SECOND, SKEW)
    assert (choice.leaves(waiting), choice.passed) == (is_passed, [waiting] * is_passed)
