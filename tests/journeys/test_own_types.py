"""The types of duetime's own: no caller schedules them, and their forged rows have no effect."""

import asyncio
import json
import types
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, AsyncScheduler, Order, Payload, Registration, Run, Scheduler, daily
from duetime.declare.deadline_check import DeadlineCheck
from duetime.errors import DuetimeError, InvalidPayload, UnknownType
from duetime.ids import SYSTEM_TENANT, TenantId, new_action_id
from duetime.model.action import Status
from duetime.model.built_in import CANARY, DEADLINE, canary_row
from duetime.model.metric import Metric
from duetime.ports.job_store import JobPorts
from duetime.settings import Made, Settings
from duetime.sqlite.cloud import SqliteCloud
from duetime.testing import RecordedMetrics, SimulatedCloud, TurnedClock
from tests.cases import for_each
from tests.journeys.embedded_time import advance

START, SOON = datetime(2026, 1, 1, tzinfo=UTC), timedelta(minutes=5)
JOB = "books-close"


class Note(Payload):
    text: str = ""


def payload_named(name):
    return types.new_class("Forged", (Payload,), {"name": name})()


OWN = [payload_named(name) for name in (CANARY, "duetime-sweep", "duetime-completion")]
OWN.append(DeadlineCheck(tenant_id="acme", job=JOB, nominal_at="2026-01-01T03:00:00Z"))


def app_of():
    app = App()

    @app.action
    def note(payload: Note, run: Run) -> None: ...

    @app.job(daily("03:00", tz="UTC"), name=JOB, deadline="06:00")
    def close(run: Run) -> None: ...

    return app


def in_batch(scheduler, payload):
    with scheduler.batch("import") as batch:
        batch.schedule_many([Order(payload, SOON)])


def completing_a_batch(scheduler, payload):
    with scheduler.batch("import", on_complete=payload) as batch:
        batch.schedule_many([Order(Note(), SOON)])


def asynchronously(scheduler, payload):
    asyncio.run(AsyncScheduler(scheduler).schedule(payload, at=SOON))


WAYS = {
    "schedule": lambda scheduler, payload: scheduler.schedule(payload, at=SOON),
    "with a key": lambda scheduler, payload: scheduler.schedule(payload, at=SOON, idempotency_key="k"),
    "debounced": lambda scheduler, payload: scheduler.schedule(payload, at=SOON, debounce_key="d"),
    "follows": lambda scheduler, payload: scheduler.schedule(
        payload, at=SOON, after=[scheduler.schedule(Note(), at=SOON)]
    ),
    "many": lambda scheduler, payload: scheduler.schedule_many([Order(payload, SOON)] * 2),
    "transaction": lambda scheduler, payload: scheduler.transact_items(payload, at=SOON),
    "member": in_batch,
    "completion": completing_a_batch,
    "asynchronous": asynchronously,
    "placed": lambda scheduler, payload: scheduler.place(Order(payload, SOON)),
}


class OverMemory:
    def __init__(self, settings):
        self.cloud = SimulatedCloud(app_of(), start=START, settings=settings)
        self.memory, self.metrics, self.advance = self.cloud.memory, self.cloud.metrics, self.cloud.advance
        self.scheduler = self.cloud.scheduler

    def events(self):
        return self.cloud.events()


class OverSqlite:
    def __init__(self, settings):
        self.clock, self.metrics = TurnedClock(START), RecordedMetrics()
        options = {"path": ":memory:", "settings": settings, "clock": self.clock, "meter": self.metrics}
        self.memory = SqliteCloud(app_of(), **options)
        ports = JobPorts(self.memory.job_store, self.memory.routes)
        facts = {"clock": self.clock, "settings": settings, "jobs": ports}
        self.scheduler = Scheduler(self.memory.store, tenant_id="acme", actor="ann", **facts)

    def events(self):
        return self.memory.bus.published

    def advance(self, **span):
        advance(self.memory, self.clock, timedelta(**span))


@pytest.fixture(params=[OverMemory, OverSqlite])
def world(request):
    made = request.param(Settings(made=Made(canary=timedelta(minutes=10))))
    yield made
    made.memory.close()


@for_each("payload", OWN)
@for_each("way", WAYS.values())
def test_no_caller_schedules_a_type_of_duetimes_own(way, payload):
    world = OverMemory(Settings())
    with pytest.raises(InvalidPayload, match="reserved for duetime's own; use another name"):
        way(world.scheduler, payload)
    assert {row.type for row in world.scheduler.list()} <= {"note"}


@pytest.mark.parametrize("payload", OWN, ids=lambda payload: payload.type_name)
def test_no_registered_job_runs_a_type_of_duetimes_own(world, payload):
    with pytest.raises(UnknownType):
        world.scheduler.jobs.register(Registration(name="acme-job", handler=payload, cadences=["every 10m"]))
    with pytest.raises(DuetimeError):
        world.scheduler.jobs.trigger("duetime-deadline")


def forged(world, type_name, tenant_id, payload=None, at=START):
    genuine = world.scheduler.schedule(Note(), at=timedelta(minutes=1))
    world.scheduler.cancel(genuine.id)
    row = replace(
        genuine,
        tenant_id=TenantId(tenant_id),
        id=new_action_id(at + timedelta(seconds=7), lambda size: b"\x05" * size),
        type=type_name,
        due_at=at,
        payload=None if payload is None else json.dumps(payload),
    )
    world.memory.store.put(row)
    return row.ref


def lateness(world):
    return world.metrics.values(Metric.CANARY_LATENESS)


@pytest.mark.parametrize("tenant_id", ["acme", SYSTEM_TENANT])
def test_a_forged_canary_is_measured_by_no_metric(world, tenant_id):
    world.advance(minutes=2)
    ref = forged(world, CANARY, tenant_id)
    world.advance(minutes=15)
    row = world.memory.store.get(ref)
    assert row.status is Status.FAILED
    assert "reserved for duetime's own actions" in row.attempts[-1].message
    assert max(lateness(world), default=0) == 0
    assert not [event for event in world.events() if event["detail"].get("action", {}).get("id") == ref.id]


def test_a_genuine_canary_is_measured(world):
    canary = canary_row(START + timedelta(minutes=10), world.memory.settings, 16)
    world.memory.store.put(canary)
    world.advance(minutes=40)
    assert 0 in map(round, lateness(world))
    assert max(lateness(world)) < 5_000


@pytest.mark.parametrize("tenant_id", ["acme", SYSTEM_TENANT])
@pytest.mark.parametrize("at", ["2026-01-01T03:00:00Z", "2026-01-01T00:00:00Z", "2027-05-05T05:05:05Z"])
def test_a_forged_check_of_a_deadline_reports_nothing(world, tenant_id, at):
    world.advance(minutes=1)
    payload = {"tenant_id": "system", "job": JOB, "nominal_at": at, "deadline_at": "2026-01-01T00:00:01Z"}
    ref = forged(world, DEADLINE, tenant_id, payload)
    world.advance(minutes=10)
    row = world.memory.store.get(ref)
    if tenant_id == "acme":
        assert row.status is Status.FAILED
    assert [event for event in world.events() if "deadline" in event["detail-type"]] == []
