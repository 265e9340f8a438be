"""The health in detail: what lags, what waits and what is known, for operators alone."""

from datetime import timedelta
from unittest.mock import patch

import pytest

from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.errors import BackendUnavailable
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.action import Ending, Status
from duetime.model.work_pause import BreakerState, PauseScope, WorkPause
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SWEEP
from tests.api.conftest import ADA, NOW, OPERATOR, Client, Worker, empty_access, jobs_app

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def request_details(client, claims=OPERATOR):
    return client("health", claims=claims, path="/api/v1/health/details")


@pytest.fixture
def client_of(cloud, clock, settings):
    """A client of the API over the cloud, whose failure queue says what the test says."""

    def make(waiting=None, settings=settings, bookmarks=None):
        api = ApiContext(
            cloud.store,
            cloud.job_ports,
            jobs_app(),
            clock,
            settings,
            cloud.undelivered_ports,
            pauses=KnownPauses(cloud.pauses, clock),
        )
        health = Health(bookmarks or cloud.bookmarks, waiting)
        return Client(make_api(api, health, empty_access()))

    return make


@pytest.fixture
def details(client_of):
    """Asks for the details as an operator."""
    client = client_of()

    def ask():
        response = request_details(client)
        assert response.status == 200, response.text
        return response.json

    return ask


def sweep(cloud, clock):
    cloud.steps.sweep(stop_at=clock.now() + MINUTE)


def test_an_idle_deployment_is_healthy(details, cloud, clock):
    sweep(cloud, clock)
    result = details()
    assert (result["status"], result["ill"], result["enabled"]) == ("ok", [], True)
    assert result["swept_until"] == "2026-03-01T12:00:00Z"
    assert (result["oldest_overdue"], result["undelivered"]) == (None, {"count": 0, "more": False})
    assert (result["timers"], result["due_shards"], result["failure_queue"]) == ("eventbridge", 16, None)
    assert {"apply-plan-change", "billing-nightly", "remark"} <= set(result["types"])
    assert set(result["parts"].values()) == {"ok"}


def test_only_operators_get_the_details(client_of):
    client = client_of()
    response = request_details(client, ADA)
    assert (response.status, response.code) == (403, "forbidden")
    assert request_details(client, {**ADA, "cognito:groups": "operators"}).status == 200


def test_the_open_probe_contains_no_details(client_of):
    parts = {"actions table": "ok", "jobs table": "ok"}
    assert client_of()("health").json == {"status": "ok", "parts": parts}


@pytest.mark.parametrize(("ago", "ill"), [(180 * SECOND, []), (181 * SECOND, ["sweep"])])
def test_a_sweep_that_has_not_run_for_three_minutes_is_unhealthy(details, cloud, clock, ago, ill):
    sweep(cloud, clock)
    clock.wait_until(NOW + ago)
    assert details()["ill"] == ill


def test_nothing_is_late_while_all_is_switched_off(client_of, cloud, clock):
    sweep(cloud, clock)
    clock.wait_until(NOW + 20 * MINUTE)
    result = request_details(client_of(settings=Settings(enabled=False))).json
    assert (result["status"], result["enabled"]) == ("ok", False)


def test_an_overdue_action_that_no_sweep_sent_is_unhealthy(details, cloud, clock, client_of):
    client = client_of()
    made = client.schedule(claims=ADA, body={"type": "remark", "payload": {}, "in": 0})
    clock.wait_until(NOW + 7 * MINUTE)
    result = details()
    assert result["oldest_overdue"]["id"] == made["id"]
    assert (result["oldest_overdue"]["tenant_id"], result["ill"]) == ("acme", [])
    clock.wait_until(NOW + 9 * MINUTE)
    assert details()["ill"] == ["overdue"]


def test_an_action_that_waits_for_a_slot_is_not_overdue(details, clock, client_of):
    client_of().schedule(
        claims=ADA, body={"type": "remark", "payload": {}, "in": 0, "concurrency_key": "customer:42"}
    )
    clock.wait_until(NOW + 9 * MINUTE)
    assert details()["oldest_overdue"] is None


def test_the_details_list_the_latest_passes(details, cloud, clock):
    with cloud.journal.recording(SWEEP) as fields:
        fields.append("12 sent again")
    result = details()
    assert result["last_sweep"] == {
        "began_at": "2026-03-01T12:00:00Z",
        "status": "executed",
        "message": "12 sent again",
    }
    assert result["last_catch_up"] is None


def test_a_failed_action_of_the_last_day_is_counted(details, cloud, clock, client_of):
    client = client_of()
    made = client.schedule(claims=ADA, body={"type": "remark", "payload": {}, "in": 0})
    worker = Worker(cloud.store, clock)
    worker.settle(worker.claim(made["id"]), Ending.FAILED, Status.FAILED, message="no")
    assert details()["failed_last_day"] == {"count": 1, "more": False}
    clock.wait_until(NOW + timedelta(days=1))
    assert details()["failed_last_day"] == {"count": 0, "more": False}


def test_messages_in_the_failure_queue_are_counted(client_of):
    assert request_details(client_of(waiting=lambda: 3)).json["failure_queue"] == 3


def test_an_unavailable_part_is_unhealthy_and_the_others_are_reported(client_of, cloud, clock):
    sweep(cloud, clock)

    def silent():
        raise BackendUnavailable("SQS", "secret")

    response = request_details(client_of(waiting=silent))
    assert response.status == 200
    assert (response.json["status"], response.json["ill"]) == ("ill", ["failure queue"])
    assert response.json["parts"]["failure queue"] == "unavailable"
    assert response.json["swept_until"] is not None
    assert "secret" not in response.text


@pytest.fixture
def hold(cloud, clock, client_of):
    """Hold a due action by a pause of its type for an hour, and let time pass until an instant."""

    def begin(at, **more):
        client_of().schedule(claims=ADA, body={"type": "remark", "payload": {}, "in": 0})
        options = {"reason": "it is down", "by": "ada", "since": NOW, "until": NOW + HOUR} | more
        cloud.pauses.begin(
            WorkPause(id="p", scope=PauseScope.TYPE, name="remark", spread=timedelta(0), **options)
        )
        clock.wait_until(at)

    return begin


BREAKER = {"until": None, "breaker": BreakerState(open_for=HOUR, probes_at=NOW + HOUR)}


@pytest.mark.parametrize(
    ("more", "at", "counts"),
    [
        ({}, NOW + 59 * MINUTE, (1, 0, [])),
        ({}, NOW + HOUR + 8 * MINUTE, (0, 0, [])),
        ({}, NOW + HOUR + 9 * MINUTE, (0, 1, ["overdue"])),
        (BREAKER, NOW + HOUR + 4 * MINUTE, (1, 0, [])),
        (BREAKER, NOW + HOUR + 9 * MINUTE, (0, 1, ["overdue"])),
    ],
)
def test_what_waits_for_a_pause_or_a_probe_is_counted_and_is_overdue_only_after_it(
    details, hold, more, at, counts
):
    hold(at, **more)
    result = details()
    assert (result["held"]["count"], result["held_too_long"]["count"], result["ill"]) == counts


def test_pauses_that_cannot_be_read_are_an_unhealthy_part(details, cloud):
    with patch.object(cloud.pauses, "list", side_effect=BackendUnavailable("DynamoDB", "throttled")):
        result = details()
    assert (result["ill"], result["held"], result["oldest_overdue"]) == (["pauses"], None, None)
