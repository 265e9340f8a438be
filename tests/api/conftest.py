"""The API over a memory store, asked with the sample events of ``events/``."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest

from duetime import App, Payload, Rate, RetryPolicy, Run
from duetime.api.app import make_api
from duetime.api.context import Access, ApiContext, Health
from duetime.embedded.cloud import MemoryCloud
from duetime.ids import ActionId, TenantId
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.model.action import ActionRef
from duetime.model.lease import ClaimTerms, Settlement
from duetime.ports.job_store import JobPorts
from duetime.ports.notifications import Inbox, InboxPorts, PreferencesStore
from duetime.settings import ROLES, Settings
from duetime.testing import TurnedClock
from tests.backends import MemoryAuditTrail, MemoryGrants

EVENTS = Path(__file__).parents[2] / "events"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOON = timedelta(minutes=5)


ADA = {"custom:tenant_id": "acme", "sub": "1", "email": "ada@acme.example"}
OPERATOR = {**ADA, "cognito:groups": "operators"}


class ApplyPlanChange(Payload):
    subscription_id: UUID
    new_plan_id: UUID


class Remark(Payload):
    text: str = ""
    number: float = 0
    price: Decimal = Decimal(0)
    rest: dict | None = None


def shop_app() -> App:
    app = App()

    @app.action
    def apply_plan_change(payload: ApplyPlanChange, run: Run) -> None:
        pass

    @app.action(rate=Rate(1_000, "second"))
    def remark(payload: Remark, run: Run) -> None:
        pass

    return app


def jobs_app() -> App:
    app = shop_app()

    @app.job("daily 02:30 tz=Europe/Paris", "weekly mon 06:00", name="billing-nightly", title="Nightly bills")
    def bill(run: Run) -> None:
        pass

    @app.job(name="billing-rebuild")
    def rebuild(payload: Remark, run: Run) -> None:
        pass

    @app.job("every 1h", name="billing-hourly", payload=Remark(text="hourly"), retry=RetryPolicy(5, 10))
    def hourly(payload: Remark, run: Run) -> None:
        pass

    return app


def empty_inboxes():
    """Empty lists of notifications, of tenants that have chosen nothing."""
    return InboxPorts(PreferencesStore(MemoryItems()), Inbox(MemoryItems()))


def empty_access():
    """No grants, and an empty audit trail."""
    return Access(MemoryGrants(), MemoryAuditTrail())


@dataclass
class Response:
    status: int
    headers: dict
    text: str

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def code(self):
        """The problem's code; only of a problem."""
        assert self.headers["Content-Type"] == "application/problem+json"
        assert self.json["status"] == self.status
        return self.json["type"].removeprefix("urn:duetime:problem:")


class Client:
    """Calls an API handler with a sample event, changed as the test says."""

    def __init__(self, handler):
        self.handler = handler

    def __call__(self, sample, **changes) -> Response:
        return self.send(sample_event(sample, **changes))

    def jobs(self, method, path="", **changes) -> Response:
        """Calls a route of jobs, as an operator of acme unless the test says otherwise."""
        return self.send(jobs_event(method, path, **{"claims": OPERATOR, **changes}))

    def send(self, event) -> Response:
        response = self.handler(event, None)
        headers = {name: values[0] for name, values in response["multiValueHeaders"].items()}
        return Response(response["statusCode"], headers, response["body"])

    def schedule(self, **changes) -> dict:
        response = self("schedule", **changes)
        assert response.status == 201, response.text
        return response.json


@cache
def _sample(name):
    return (EVENTS / f"api-{name}.json").read_text()


def sample_event(sample, *, action_id=None, body=..., claims=None, query=None, headers=None, **fields):
    event = json.loads(_sample(sample))
    if action_id is not None:
        event["path"] = event["path"].replace(event["pathParameters"]["id"], action_id)
        event["pathParameters"]["id"] = action_id
    if body is not ...:
        event["body"] = body if body is None or isinstance(body, str) else json.dumps(body)
    if claims is not None:
        event["requestContext"].setdefault("authorizer", {})["claims"] = claims
    if query is not None:
        event["queryStringParameters"] = query
        event["multiValueQueryStringParameters"] = {name: [value] for name, value in query.items()}
    event["headers"] |= headers or {}
    if "path" in fields and "resource" not in fields:
        parameters = {"proxy": fields["path"].removeprefix("/")}
        fields = {"resource": "/{proxy+}", "pathParameters": parameters, **fields}
    return event | fields


def jobs_event(method, path, **changes):
    event = sample_event("cancel", httpMethod=method, path=f"/api/v1/jobs{path}", **changes)
    event["requestContext"]["path"] = f"/prod{event['path']}"
    return event


class Worker:
    """Plays a worker on the rows: claims and settles, without running anything."""

    def __init__(self, store, clock):
        self.store, self.clock = store, clock

    def claim(self, action_id, nonce="n", tenant="acme"):
        now = self.clock.now()
        return self.store.claim(
            self.store.get(ActionRef(TenantId(tenant), ActionId(action_id))),
            ClaimTerms(
                now=now,
                lease_until=now + SOON,
                skew=timedelta(seconds=5),
                nonce=nonce,
                instance="worker-1",
                queued_at=now,
                retry="[1,[60],0.1,null]",
            ),
        ).action

    def settle(self, claimed, ending, status, **more):
        finished_at = self.clock.now()
        return self.store.settle(
            claimed, Settlement(status=status, ending=ending, finished_at=finished_at, **more)
        )


@pytest.fixture
def clock():
    return TurnedClock(NOW)


@pytest.fixture
def settings():
    """A deployment in which every caller may look after the own tenant."""
    return Settings(roles={**ROLES, "everyone": "actions:manage jobs:manage"})


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def app():
    return shop_app()


@pytest.fixture
def call_over(app, clock, settings):
    """Makes a client of the API over some back ends."""

    def make(store, bookmarks=None, jobs=None, **more):
        marks = bookmarks or MemoryBookmarks()
        jobs = jobs or JobPorts(
            MemoryJobStore(store if isinstance(store, MemoryStore) else MemoryStore()),
            MemoryRoutes([app.manifest]),
        )
        api = ApiContext(store, jobs, app, clock, settings)
        health = Health(marks)
        return Client(make_api(api, health, empty_access(), **more))

    return make


@pytest.fixture
def call(call_over, store):
    return call_over(store)


@pytest.fixture
def worker(store, clock):
    return Worker(store, clock)


@pytest.fixture
def cloud(clock, settings):
    """A cloud whose app declares jobs."""
    return MemoryCloud(jobs_app(), clock=clock, settings=settings)


@pytest.fixture
def call_cloud(cloud, clock, settings):
    """Calls the API over that cloud, with a sample event."""
    api = ApiContext(cloud.store, cloud.job_ports, jobs_app(), clock, settings, counts=cloud.run_counts)
    return Client(make_api(api, Health(MemoryBookmarks()), empty_access()))


@pytest.fixture
def ask(call_cloud):
    """Calls routes of jobs over that cloud: ``ask("GET", "/billing-nightly")``."""
    return call_cloud.jobs


@pytest.fixture
def run_until(cloud, clock):
    """Runs all that is due up to an instant."""

    def run(instant):
        while True:
            while delivery := cloud.turn():
                cloud.run(delivery)
            if (following := cloud.next_at()) > instant:
                break
            clock.wait_until(following)
        clock.wait_until(instant)

    return run
