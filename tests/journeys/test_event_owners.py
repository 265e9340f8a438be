"""A tenant's own job gets its tenant's events alone: the deployment decides who owns a source's events."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Run, Scheduler, on_event
from duetime.errors import DeclarationError, SettingsError
from duetime.jobs.desired_wakes import wakes_of
from duetime.jobs.register import Registration
from duetime.model.job import JobRef
from duetime.ports.job_store import JobPorts
from duetime.settings import Settings
from duetime.sqlite.cloud import SqliteCloud
from duetime.testing import SimulatedCloud, TurnedClock
from tests.journeys.embedded_time import advance

SOURCES = {"shop": "detail.tenant_id", "orders": "detail.shop.owner"}
SEVERAL = Settings(tenants="*", event_sources=SOURCES)
ORDER = {"tenant_id": "globex", "currency": "EUR", "mine": "acme", "shop": {"owner": "globex"}}
START = datetime(2026, 1, 1, tzinfo=UTC)


def app_of(ran):
    app = App()

    @app.job(name="note-it")
    def note_it(run: Run) -> None:
        ran.append(run.tenant_id)

    @app.job(on_event("orders", "Placed", tenant="detail.shop.owner"), name="code-counts")
    def count(run: Run) -> None:
        ran.append(f"code for {run.tenant_id}")

    return app


class OverMemory:
    def __init__(self, settings):
        self.ran = []
        self.cloud = SimulatedCloud(app_of(self.ran), start=START, settings=settings)
        self.memory, self.send, self.advance = self.cloud.memory, self.cloud.send_event, self.cloud.advance

    def scheduler(self, tenant_id):
        return self.cloud.scheduler_for(tenant_id)


class OverSqlite:
    def __init__(self, settings):
        self.ran, self.clock, self.settings = [], TurnedClock(START), settings
        self.memory = SqliteCloud(app_of(self.ran), path=":memory:", settings=settings, clock=self.clock)

    def scheduler(self, tenant_id):
        ports = JobPorts(self.memory.job_store, self.memory.routes)
        facts = {"clock": self.clock, "settings": self.settings, "jobs": ports}
        return Scheduler(self.memory.store, tenant_id=tenant_id, actor="ann", **facts)

    def send(self, source, type_, detail):
        about = {"time": self.clock.now().isoformat(), "source": source, "detail-type": type_}
        self.memory.event({"id": f"e-{source}-{detail}", **about, "detail": detail})
        self.advance(seconds=5)

    def advance(self, **span):
        advance(self.memory, self.clock, timedelta(**span))


def register(world, tenant_id, *cadences):
    registration = Registration(name="spy-job", handler="note-it", cadences=cadences)
    world.scheduler(tenant_id).jobs.register(registration)
    world.advance(minutes=1)


@pytest.fixture(params=[OverMemory, OverSqlite])
def world(request):
    made = request.param(SEVERAL)
    yield made
    made.memory.close()


def test_only_the_tenant_at_the_declared_field_owns_an_event(world):
    for tenant_id in ("acme", "globex", "EUR", "orders"):
        register(world, tenant_id, "on_event orders Placed", "on_event shop Paid")
    world.send("orders", "Placed", ORDER)
    world.send("shop", "Paid", ORDER)
    world.send("shop", "Paid", ORDER | {"tenant_id": ["acme", "globex"]})
    world.send("shop", "Paid", {"tenant_id": None})
    assert sorted(world.ran) == ["code for globex", "globex", "globex"]


@pytest.mark.parametrize("path", ["detail.mine", "source", "detail.currency", "region", "detail.tenant_id"])
def test_a_registration_names_no_field(world, path):
    with pytest.raises(DeclarationError, match="tenant is given; remove it"):
        register(world, "acme", f"on_event orders Placed tenant={path}")


@pytest.mark.parametrize(
    ("cadence", "problem"),
    [
        ("on_event stock Changed", "'stock' is not in the setting event_sources"),
        ('on_event shop Paid match={"tenant_id":["globex"]}', "match has detail.tenant_id"),
        ('on_event orders Placed match={"shop":["a"]}', "match has detail.shop.owner"),
    ],
)
def test_a_trigger_that_could_get_another_tenants_events_is_rejected(world, cadence, problem):
    with pytest.raises(DeclarationError, match=problem):
        register(world, "acme", cadence)


def test_a_job_that_was_written_past_the_check_gets_no_other_tenants_events():
    world = OverMemory(Settings(tenants="*", event_sources={**SOURCES, "stock": "detail.mine"}))
    register(world, "acme", "on_event stock Changed", "on_event shop Paid")
    job = world.memory.job_store.get(JobRef("acme", "spy-job"))
    world.memory.steps.dispatch_jobs._settings = SEVERAL
    event = {"id": "e", "time": "2026-01-01T00:00:00Z", "source": "stock", "detail": ORDER}
    for name, source in (("OnEvent_stock_Changed", "stock"), ("OnEvent_shop_Paid", "shop")):
        assert world.memory.steps.dispatch_jobs.event(job.ref, name, event | {"source": source}) is None
    assert [wake.pattern["source"] for wake in wakes_of(job, START, SEVERAL)] == [["shop"]]


def test_the_rule_has_the_tenant_in_its_pattern():
    world = OverMemory(SEVERAL)
    register(
        world,
        "acme",
        "on_event shop Paid",
        'on_event orders Placed match={"shop":{"kind":["a"]}}',
        'on_event duetime run.failed match={"action":{"job":["other-job"]}}',
    )
    job = world.memory.job_store.get(JobRef("acme", "spy-job"))
    assert {wake.pattern["source"][0]: wake.pattern["detail"] for wake in wakes_of(job, START, SEVERAL)} == {
        "shop": {"tenant_id": ["acme"]},
        "orders": {"shop": {"kind": ["a"], "owner": ["acme"]}},
        "duetime": {"action": {"job": ["other-job"]}, "tenant_id": ["acme"], "deployment": ["duetime-"]},
    }
    job = world.memory.job_store.get(JobRef("system", "code-counts"))
    assert [wake.pattern for wake in wakes_of(job, START, SEVERAL)] == [
        {"source": ["orders"], "detail-type": ["Placed"]}
    ]


@pytest.mark.parametrize(("tenants", "tenant_id"), [("acme", "acme"), ("", "default")])
def test_with_one_tenant_nothing_is_declared(tenants, tenant_id):
    world = OverMemory(Settings(tenants=tenants))
    register(world, tenant_id, "on_event stock Changed")
    world.send("stock", "Changed", {"size": 3})
    assert world.ran == [tenant_id]


def test_another_than_the_sole_tenant_gets_no_events_of_undeclared_sources():
    with pytest.raises(DeclarationError, match="or set tenants to 'acme' if there is no other tenant"):
        register(OverMemory(Settings()), "acme", "on_event stock Changed")


def test_an_embedded_tenant_is_the_only_one():
    ran = []
    with app_of(ran).embedded(tenant_id="acme") as scheduler:
        registration = Registration(name="spy-job", handler="note-it", cadences=["on_event stock Changed"])
        assert scheduler.jobs.register(registration).definition.cadences == ("on_event stock Changed",)


@pytest.mark.parametrize(
    "sources",
    [
        {"duetime": "detail.x"},
        {"": "detail.x"},
        {"shop": "source"},
        {"shop": "detail"},
        {"shop": "detail..x"},
    ],
)
def test_a_source_that_names_no_tenant_is_no_setting(sources):
    with pytest.raises(SettingsError, match="event_sources has"):
        Settings(event_sources=sources)
