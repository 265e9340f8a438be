"""A local cloud with three tenants' data, and the role of a function that is bound to one of them."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings

from duetime import App, Payload, RetryPolicy, Run, daily, on_event
from duetime.cdk import Duetime
from duetime.cdk.grant import grant_manage_jobs
from tests.emulated import EmulatedCloud, EmulatedOptions
from tests.emulated.conftest import SHORT, eventually
from tests.hostile.bound_role import BoundRole, statements_of
from tests.hostile.forgeries import forgeries

BOUNDED = settings(
    max_examples=200, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
EVENT_JOB, NIGHTLY = "kb-index", "nightly-purge"


class Note(Payload):
    text: str


class Failing(Payload):
    text: str


class Shop:
    """An app with two actions and two jobs of code; it stores what ran, and for which tenant."""

    def __init__(self):
        self.app, self.ran = App(), []

        @self.app.action
        def note(payload: Note, run: Run) -> None:
            self.ran.append((run.tenant_id, payload.text))

        @self.app.action(retry=RetryPolicy(attempts=1))
        def failing(payload: Failing) -> None:
            raise RuntimeError(payload.text)

        @self.app.job(daily("03:15", tz="UTC"), name=NIGHTLY)
        def purge(run: Run) -> None:
            self.ran.append((run.tenant_id, NIGHTLY))

        @self.app.job(on_event("kb", "Uploaded", tenant="detail.tenant_id"), name=EVENT_JOB)
        def index(run: Run) -> None:
            self.ran.append((run.tenant_id, EVENT_JOB))

    def ran_for(self, tenant):
        return [what for who, what in self.ran if who == tenant]


@pytest.fixture(scope="module")
def shop():
    return Shop()


@pytest.fixture(scope="module")
def forged():
    """Return forgeries that Hypothesis draws, before a cloud starts: its threads draw random numbers too."""
    drawn = []

    @BOUNDED
    @given(forgeries())
    def draw(forgery):
        drawn.append(forgery)

    draw()
    return drawn


@pytest.fixture(scope="module")
def cloud(shop, forged):
    del forged  # it comes first
    own = replace(SHORT, tenants="acme globex", due_order=True, quotas={"*": "requests=10000"})
    with EmulatedCloud(shop.app, EmulatedOptions(settings=own)) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def victim(cloud, shop):
    """Globex's scheduler: it has a far action, a failed one, and one that ran; its event started a run."""
    globex = cloud.scheduler(tenant_id="globex", actor="checkout")
    globex.schedule(Note(text="far"), at=timedelta(days=30), correlation_id="order:7", idempotency_key="k-1")
    globex.schedule(Note(text="now"), at=timedelta(0), correlation_id="order:7")
    globex.schedule(Failing(text="failed"), at=timedelta(0))
    cloud.client("events").put_events(
        Entries=[
            {"Source": "kb", "DetailType": "Uploaded", "Detail": json.dumps({"tenant_id": "globex"})},
        ]
    )
    eventually(lambda: len(shop.ran_for("globex")) == 2, "globex' runs")
    eventually(lambda: len(globex.list(status="failed")) == 1, "globex' dead letter")
    return globex


@pytest.fixture(scope="module")
def scheduling_role():
    return BoundRole(
        statements_of(lambda made, function: Duetime.grant_schedule(made, function, tenants=["acme"]))
    )


@pytest.fixture(scope="module")
def managing_role():
    def grant(made, function):
        grant_manage_jobs(function, made.tables, made.settings, ["acme"], [EVENT_JOB])

    return BoundRole(statements_of(grant))
