"""Each route has a sample event in ``events/``, and its response has a documented status."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import check_ins
from duetime.api import PREFIX
from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.api.openapi.document import every_route
from duetime.api.routes import RouteTable
from duetime.embedded.cloud import MemoryCloud
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.notes import MemoryBookmarks
from duetime.model.action import Ending, Status
from duetime.model.hand_over import Approval, HandedOver
from duetime.model.hand_over_token import token_of
from duetime.model.notification import NotificationKind
from duetime.notifications.mail.samples import sample
from duetime.scheduler import Scheduler
from tests.api.conftest import EVENTS, NOW, Client, Worker, empty_access, empty_inboxes, jobs_app
from tests.contract.rules.undelivered import given_up

SAMPLES = {path.stem: json.loads(path.read_text()) for path in sorted(EVENTS.glob("api-*.json"))}
DIRECTORY = RouteTable(list(every_route()), PREFIX)


def sampled_app():
    """The app of the other tests, with check-ins."""
    app = jobs_app()
    app.include(check_ins)
    return app


@pytest.fixture
def cloud(clock, settings):
    """A cloud that runs it."""
    return MemoryCloud(sampled_app(), clock=clock, settings=settings)


def route_of(event):
    return DIRECTORY.find(event["path"]).route(event["httpMethod"])


def test_every_route_has_a_sample():
    sampled = {(route_of(item).method, route_of(item).path) for item in SAMPLES.values()}
    assert sampled == {(item.method, item.path) for item in every_route()}


@pytest.fixture
def api(cloud, clock, settings):
    """Return a deployment with a job, actions in each state, and an undelivered input."""
    ports = cloud.undelivered_ports
    pauses = KnownPauses(cloud.pauses, clock)
    return ApiContext(
        cloud.store,
        cloud.job_ports,
        sampled_app(),
        clock,
        settings,
        ports,
        empty_inboxes(),
        pauses=pauses,
        limits=cloud.limits,
    )


@pytest.fixture
def client(api, clock):
    return Client(make_api(api, Health(MemoryBookmarks()), empty_access()))


def found(event, api, client, clock):
    """Return the event with the id of an existing action, undelivered input or notification in its path."""
    operation = route_of(event).operation
    if "undelivered/u." in event["path"]:
        thing = given_up("a", NOW)
        api.undelivered.store.keep(thing, expires_at=NOW + timedelta(days=30))
        return _with_path(event, "u.20250721T093000Z.260de8800e9eb6f0", thing.id)
    if "notifications/n." in event["path"]:
        result = replace(sample(NotificationKind.RECURRING_FAILING, is_digest=False), at=NOW)
        api.notified.inbox.add(result, expires_at=NOW + timedelta(days=30))
        return _with_path(event, "n.20250721T093000000000Z.0123456789abcdef", result.entry_id)
    segments = route_of(event).path.split("/")
    for parameter in BEGUN.keys() & {*segments}:
        begun = client.send(SAMPLES[BEGUN[parameter]]).json["id"]
        place = segments.index(parameter) - len(segments)
        return _with_path(event, event["path"].split("/")[place], begun)
    if "/batches/" in event["path"]:
        tenant = event["requestContext"]["authorizer"]["claims"]["custom:tenant_id"]
        Scheduler(api.store, tenant_id=tenant, actor="ada", clock=clock, settings=api.settings).batch(
            "import-2027-03"
        ).open()
    if (segment := event["path"].split("/")[3]) in MADE and event["path"].count("/") > 3:
        return _with_path(event, event["path"].split("/")[4], MADE[segment](api, client, clock))
    there = (event.get("pathParameters") or {}).get("id")
    if there is None:
        return event
    made = client.schedule(body={"type": "remark", "payload": {}, "in": 0})["id"]
    if operation and operation.name in {"complete", "fail"}:
        hand_over(api, clock, made, HandedOver(timedelta(hours=1)))
    if operation and operation.name in {"redrive", "dismiss"}:
        worker = Worker(api.store, clock)
        worker.settle(worker.claim(made), Ending.FAILED, Status.FAILED)
    if operation and operation.name in {"approve", "reject"}:
        hand_over(api, clock, made, HandedOver(timedelta(hours=1), None, Approval("Pay?")))
    return _with_path(event, there, made)


BEGUN = {"<pause_id>": "api-pause-work", "<backfill_id>": "api-backfill-job"}
"""The sample that must have begun what a path names."""


def handed_over(api, client, clock):
    """Return the token of an action that was handed over."""
    made = client.schedule(body={"type": "remark", "payload": {}, "in": 0})["id"]
    return token_of(hand_over(api, clock, made, HandedOver(timedelta(hours=1))))


MADE = {"handovers": handed_over}
"""What makes the object whose id follows this segment of a path."""


def hand_over(api, clock, action_id, handed_over):
    """Claim an action, and hand it over."""
    claimed = Worker(api.store, clock).claim(action_id)
    assert api.store.hand_over(claimed, handed_over.by(claimed, clock.now()))
    return claimed


def _with_path(event, previous, new):
    return json.loads(json.dumps(event).replace(previous, new))


BEFORE = {
    "api-register-job": [],
    "api-resume-job": ["api-register-job", "api-pause-job"],
    "api-roll-back-job": ["api-register-job", "api-replace-job"],
}
"""What must have been asked for first; of all others, that there is the job."""


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - {"api-signed"}))  # see test_signed_callers
def test_the_response_to_a_sample_matches_the_document(name, api, client, clock):
    event = SAMPLES[name]
    for item in BEFORE.get(name, ["api-register-job"]):
        assert client.send(SAMPLES[item]).status < 300
    response = client.send(found(event, api, client, clock))
    route = route_of(event)
    assert response.status in {route.status, route.second_status}, response.text
