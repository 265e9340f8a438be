"""Whatever happens to a job, each of its nominal times has an account afterwards."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime import ids
from duetime.errors import NotFound, StateConflict
from duetime.ids import SYSTEM_TENANT, JobName, TenantId
from duetime.jobs.explain import Explain
from duetime.jobs.jobs import Jobs
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.jobs.tenant_context import TenantContext
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.notes import MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.model.action import Action, Ending, Status
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Definition, JobRef
from duetime.model.lease import ClaimTerms, Settlement
from duetime.model.run_stats import EndedRun
from duetime.ports.job_store import JobPorts
from duetime.ports.jobs import LockRequirement
from duetime.retry import NEVER
from duetime.settings import Settings
from duetime.testing.simulated import TurnedClock
from duetime.wakeups.assembly import Steps
from duetime.worker.claim_job_run import ClaimJobRun
from duetime.worker.claim_results import ClaimWon
from tests.backends import backends
from tests.unpaused import UNPAUSED

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
NAME = JobName("billing-hourly")
REF = JobRef(SYSTEM_TENANT, NAME)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
HOURLY, HALF_HOURLY, MANUAL = (
    Definition(name=NAME, type="Bill", cadences=cadences)
    for cadences in (("every 1h",), ("daily 03:00", "every 30m"), ("manual",))
)


class World:
    """A job and all that happens to it, on the memory back end; its runs take no time."""

    def __init__(self, definition=HOURLY):
        self.clock = TurnedClock(NOON)
        self.actions = MemoryStore()
        self.store = MemoryJobStore(self.actions)
        facts = {"clock": self.clock, "settings": Settings()}
        over = backends(self.actions, jobs=self.store, **facts)
        steps = Steps(over)
        self.attend, self.reconcile, self.admit = steps.maintain, steps.reconcile, ClaimJobRun(over, UNPAUSED)
        ports = JobPorts(jobs=self.store, routes=MemoryRoutes({}))
        context = TenantContext(store=self.actions, tenant_id=TenantId("acme"), actor="ana", **facts)
        self.jobs = Jobs(context, ports)
        self.declare(definition)

    @property
    def now(self):
        return self.clock.now()

    def declare(self, *definitions):
        self.reconcile(definitions, worker="default")

    def live(self, minutes, *, step=10):
        """Let time pass: sweeps attend to the job, workers run what is due."""
        until = self.now + minutes * MINUTE
        while self.now < until:
            self.clock.wait_until(min(until, self.now + step * MINUTE))
            self.attend(REF)
            self.work()

    def fail(self, minutes):
        """Let time pass while nothing works."""
        self.clock.wait_until(self.now + minutes * MINUTE)

    def work(self):
        for row in self.actions.rows():
            if row.status is Status.PENDING and row.due_at <= self.now:
                self.run(row)

    def run(self, row: Action):
        terms = ClaimTerms(
            now=self.now,
            lease_until=self.now + HOUR,
            skew=timedelta(0),
            nonce=row.id,
            instance="i",
            queued_at=row.due_at,
            retry=NEVER.text(),
        )
        held = self.admit(row.ref, terms, NEVER)
        if isinstance(held, ClaimWon):
            done = Settlement(status=Status.EXECUTED, ending=Ending.EXECUTED, finished_at=self.now)
            ended = EndedRun(id=row.id, status="executed", started_at=self.now)
            assert held.hold is LockRequirement.LOCK
            self.store.settle(held.action, done, REF, ended)

    def explain(self, start=NOON, end=None, **more):
        return self.jobs.explain(NAME, start, end or self.now, **more)

    def nominal(self, end):
        """Each nominal time up to an instant, by the versions' cadences alone."""
        anchor = self.store.get(REF).anchor
        for version in self.store.versions(REF):
            cadence_set = CadenceSet.parse(version.definition.cadences, anchor)
            yield from (due.at for due in cadence_set.between(version.since, min(end, version.until or end)))


@pytest.fixture
def world():
    return World()


def test_a_job_that_ran_all_day_has_a_run_for_each_hour(world):
    world.live(24 * 60)
    found = world.explain()
    assert [item.at for item in found] == [NOON + n * HOUR for n in range(1, 25)]
    assert {item.account for item in found} == {OccurrenceStatus.EXECUTED}


def test_explain_names_the_pause_the_outage_and_the_version_that_prevented_a_run(world):
    world.live(150)
    world.jobs.pause(NAME, reason="audit")
    world.live(180)
    world.jobs.resume(NAME)
    world.live(60)
    world.fail(240)
    world.live(30)
    world.declare(HALF_HOURLY)
    world.live(60)
    found = world.explain()
    assert [(item.account.value, item.reason, item.count) for item in found] == [
        ("executed", "", 1),
        ("executed", "", 1),
        ("skipped", "paused", 1),  # planned before the pause
        ("skipped", "paused", 1),
        ("skipped", "paused", 1),  # not planned
        ("executed", "", 1),
        ("missed", "missed", 1),  # planned before the outage
        ("missed", "missed", 1),
        ("missed", "missed", 2),  # not planned
        ("executed", "", 1),
        ("executed", "", 1),
        ("executed", "", 1),
    ]
    assert {item.note for item in found if item.reason == "paused"} == {"paused by ana: audit"}
    assert [item.version for item in found] == [1] * 10 + [2] * 2


def test_a_job_that_is_dropped_and_declared_again_was_disabled_in_between(world):
    world.live(90)
    world.declare()
    world.live(180)
    world.declare(HOURLY)
    world.live(60)
    accounts = [(item.account.value, item.reason) for item in world.explain() for _ in range(item.count)]
    assert accounts == [("executed", "")] + [("skipped", "disabled")] * 3 + [("executed", "")]


def test_a_run_skipped_by_an_operator_has_that_reason(world):
    world.jobs.skip_next(NAME)
    world.live(60)
    (entry,) = world.explain()
    assert (entry.account, entry.reason, entry.note) == (
        OccurrenceStatus.SKIPPED,
        "requested",
        "skipped by ana",
    )


def test_a_missed_time_names_the_run_that_caught_up():
    world = World(replace(HOURLY, catch_up=1))
    world.fail(310)
    world.live(20)
    *earlier, last = world.explain()
    assert {item.account for item in earlier} == {OccurrenceStatus.MISSED}
    assert (last.at, last.account) == (NOON + 5 * HOUR, OccurrenceStatus.EXECUTED)
    assert last.note == "missed at first; it ran later, at 2026-03-28T17:20:00Z"


def test_each_trigger_of_a_manual_job_has_an_event():
    world = World(MANUAL)
    world.jobs.trigger(NAME)
    world.live(10)
    (entry,) = world.explain(start=NOON - HOUR, end=NOON)
    assert (entry.account, entry.note) == (OccurrenceStatus.EXECUTED, "triggered by ana")


def test_runs_of_events_are_listed_in_pages(world):
    world.declare(replace(MANUAL, cadences=("on_event orders OrderPlaced",)))
    at = [world.now + n * timedelta(seconds=1) for n in range(450)]
    for n, item in enumerate(at):
        made = ids.event_run_id(NAME, item, str(n))
        facts = {"type": "Bill", "due_at": item, "due_shard": "0", "created_by": "bus", "payload": None}
        world.actions.put(Action(tenant_id=SYSTEM_TENANT, id=made, **facts))
    found = world.explain(start=at[9], end=at[439])
    assert [item.at for item in found] == at[10:440]


def test_rows_are_read_in_pages_and_a_window_page_by_page():
    world = World(replace(HOURLY, cadences=("every 1m",)))
    world.live(500, step=5)
    found, start = [], NOON
    while start is not None:
        page = world.explain(start, limit=77)
        found, start = [*found, *page], page.next_start
    assert [item.at for item in found] == [NOON + n * MINUTE for n in range(1, 501)]
    assert {item.account for item in found} == {OccurrenceStatus.EXECUTED}


def test_an_unknown_job_cannot_be_explained():
    with pytest.raises(NotFound, match="no job"):
        Explain(backends())(REF, NOON, NOON + HOUR)


def pause(world, name=""):
    cadence = name if name in world.store.get(REF).cadence_set.by_name else None
    if world.store.get(REF).removed_at is None:
        world.jobs.pause(NAME, cadence=cadence, until=45 * MINUTE if name else None)


def resume(world):
    for name in world.store.get(REF).pauses:
        with suppress(StateConflict):  # the cadence is none of this version's
            world.jobs.resume(NAME, cadence=name or None)


def skip(world):
    with suppress(StateConflict):  # dropped, or nothing more is planned
        world.jobs.skip_next(NAME)


HAPPENINGS = st.sampled_from(
    [
        lambda world: world.live(35),
        lambda world: world.live(95),
        lambda world: world.fail(7),
        lambda world: world.fail(140),
        pause,
        lambda world: pause(world, "Every_30m"),
        resume,
        skip,
        lambda world: world.declare(),
        lambda world: world.declare(HOURLY),
        lambda world: world.declare(HALF_HOURLY),
        lambda world: world.declare(replace(HALF_HOURLY, catch_up=2)),
    ]
)


@given(st.lists(HAPPENINGS, max_size=12))
def test_every_nominal_time_is_explained_under_random_changes(happenings):
    world = World()
    for happening in happenings:
        happening(world)
    end = world.now + 3 * HOUR
    found = world.explain(NOON, end)
    times = list(world.nominal(end))
    assert sum(item.count for item in found) == len(times)
    assert {item.at for item in found} <= set(times)
    assert OccurrenceStatus.FORGOTTEN not in {item.account for item in found}
