"""Each route responds as the document describes: with its statuses, headers and bodies.

Requests are made of the document: such as it allows, and such as it does not. Fields that a random text would
never meet
are now and then given a plausible value, so that requests come through to the scheduler.
"""

import json
from datetime import timedelta

import pytest
import schemathesis
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks
from werkzeug.wrappers import Request

from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.api.document_route import FILE
from duetime.embedded.cloud import MemoryCloud
from duetime.jobs.trusted_reading import KnownPauses
from duetime.local.gateway import proxy_event, response_of
from duetime.memory.notes import MemoryBookmarks
from duetime.model.action import Ending, Status
from duetime.model.notification import NotificationKind
from duetime.notifications.mail.samples import sample
from duetime.ports.run_logs import LogPage
from duetime.settings import Settings
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, Client, Worker, empty_access, empty_inboxes, jobs_app
from tests.api.drawn import SUITES_PART, drawing
from tests.contract.rules.undelivered import given_up

EXAMPLES = 30
"""Requests of each kind, for each operation, in the proof."""


def names_its_field(_context, response, case):
    """A rejected request names each of its invalid fields."""
    if response.status_code == 422:
        flaws = response.json()["errors"]
        assert flaws, response.text
        assert all(flaw["where"] not in {"", "the request"} and flaw["problem"] for flaw in flaws)


DOCUMENT = json.loads(FILE.read_text())
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = {
    all_operation.ok().definition.raw["operationId"]: all_operation.ok()
    for all_operation in SCHEMA.get_all_operations()
}
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    names_its_field,
]

TIMES = ["2026-03-01T11:00:00Z", "2026-03-29T02:30:00", "2026-04-01T00:00:00+02:00", "9999-01-01T00:00:00Z"]
CADENCES = ["daily 02:30 tz=Europe/Paris", "every 1h", "*/5 * * * *", "30 2 29 2 *", "every 0s"]
PLAUSIBLE = {
    "type": ["remark", "apply-plan-change", "billing-nightly"],
    "payload": [{}, {"text": "x"}, {"number": "no"}],
    "at": [None, *TIMES],
    "in": [None, 0, 3_600],
    "tz": [None, "Europe/Paris", "Mars/Base"],
    "cadence": [None, "daily", "every", "0230", *CADENCES],
    "cadences": [[], *([cadence] for cadence in CADENCES)],
    "name": ["billing-nightly", "billing-hourly", "acme-remarks", "acme-new"],
    "job": ["billing-nightly", "acme-remarks"],
    "until": [None, *TIMES],
    "from": TIMES,
    "status": [["failed"], ["pending", "executed"]],
    "cursor": [None, "", "a b", "bmV4dA==", "é"],
    "limit": [1, 100],
    "language": [None, "fr", "xx", "Klingon"],
    "addresses": [None, [], ["ada@acme.example"], ["ada"], ["ada@acme.example"] * 21],
    **dict.fromkeys(("due_after", "due_until", "created_after", "created_until"), TIMES),
}

WHOLE = {
    "scheduleAction": {"type": "remark", "payload": {}, "in": 60, "idempotency_key": "k"},
    "rescheduleAction": {"in": 60},
    "redriveAction": {"in": 0},
    "dismissAction": {"reason": "done by hand"},
    "cancelActions": {"type": "remark", "status": ["pending"]},
    "redriveActions": {"type": "remark", "dry_run": True},
    "registerJob": {"name": "acme-new", "type": "remark", "payload": {}, "cadences": ["every 2h"]},
    "replaceJob": {"type": "remark", "payload": {}, "cadences": ["every 2h"]},
    "grantToRole": {"permissions": ["actions:read"]},
    "readNotifications": {"limit": 10},
    "setNotificationPreferences": {"language": "fr", "channels": {"jobs.recurring_failing": ["email"]}},
}
"""Bodies that are right."""


class NoLines:
    """Logs without a line."""

    def lines(self, *_):
        return LogPage((), is_complete=True)


class Deployment:
    """An API over a memory cloud in which something has happened; everybody is an admin."""

    def __init__(self):
        self._clock, settings_ = TurnedClock(NOW), Settings(roles={"everyone": "admin"})
        cloud = MemoryCloud(jobs_app(), clock=self._clock, settings=settings_)
        notified = empty_inboxes()
        self._cloud, ports = cloud, cloud.undelivered_ports
        pauses = KnownPauses(cloud.pauses, self._clock)
        api = ApiContext(
            cloud.store,
            cloud.job_ports,
            jobs_app(),
            self._clock,
            settings_,
            ports,
            notified,
            pauses=pauses,
            limits=cloud.limits,
            run_logs=NoLines(),
        )
        self._handler = make_api(api, Health(MemoryBookmarks()), empty_access())
        result = sample(NotificationKind.RECURRING_FAILING, is_digest=False)
        notified.inbox.add(result, expires_at=NOW + timedelta(days=30))
        thing = given_up("a", NOW)
        ports.store.keep(thing, expires_at=NOW + timedelta(days=30))
        self.known = {
            "action_id": self._actions(),
            "undelivered_id": [thing.id],
            "notification_id": [result.entry_id],
            "role": ["helpers"],
        }
        self._register()

    def _actions(self):
        """The ids of a pending action, of one that runs, and of one that has failed."""
        client, worker = Client(self._handler), Worker(self._cloud.store, self._clock)
        ids = [client.schedule(body={"type": "remark", "payload": {}, "in": 0})["id"] for _ in range(3)]
        worker.claim(ids[1])
        worker.settle(worker.claim(ids[2]), Ending.FAILED, Status.FAILED)
        return ids

    def _register(self):
        fields = {"name": "acme-remarks", "type": "remark", "payload": {}, "cadences": ["every 1h"]}
        Client(self._handler).jobs("POST", body=fields)

    def __call__(self, environ, start_response):
        """Serve one request as API Gateway would have it served."""
        event = proxy_event(Request(environ), now_ms=0)
        return response_of(self._handler(event, None))(environ, start_response)


def improved(case, known, data):
    """The case with some plausible values where a random one leads nowhere."""
    if (whole_body := WHOLE.get(case.operation.definition.raw["operationId"])) and data.draw(st.booleans()):
        case.body = {**whole_body}
    for parts, values in (
        (case.path_parameters, {**PLAUSIBLE, **known}),
        (case.query, PLAUSIBLE),
        (case.body, PLAUSIBLE),
    ):
        if isinstance(parts, dict):
            for name in sorted(parts.keys() & values.keys()):
                if data.draw(st.booleans()):
                    parts[name] = data.draw(st.sampled_from(values[name]))


def modes(operation):
    """Yield the modes of requests: valid ones, and invalid ones if the operation can have any."""
    yield GenerationMode.POSITIVE
    raw = operation.definition.raw
    if "requestBody" in raw or any(item["in"] == "query" for item in raw.get("parameters", ())):
        yield GenerationMode.NEGATIVE


def responses_match(operation, number):
    """Check the responses to so many requests of each mode."""
    deployment = Deployment()

    def ask(case, data):
        improved(case, deployment.known, data)
        case.call_and_validate(app=deployment, checks=CHECKS)

    for mode in modes(operation):
        drawing(number)(given(case=operation.as_strategy(generation_mode=mode), data=st.data())(ask))()


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_response_matches_the_document(operation):
    responses_match(operation, EXAMPLES // SUITES_PART // 2)


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_many_responses_match_the_document(operation):
    responses_match(operation, EXAMPLES)
