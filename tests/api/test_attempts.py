"""The tracebacks of failed attempts, and what their workers logged, over HTTP."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.ids import ActionId, TenantId
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.model.action import ActionRef, Attempt, Ending, Status
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.ports.job_store import JobPorts
from duetime.ports.run_logs import LogLine, LogPage
from tests.api.charges import SECRET, Charges
from tests.api.conftest import Client, empty_access

SECOND = timedelta(seconds=1)
TEXT = "Traceback (most recent call last):\n  File …\nOSError: no"
URL = "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#xray:traces/"


def tick(clock):
    clock.wait_until(clock.now() + SECOND)


def attempt_at(at):
    return Attempt(queued_at=at, started_at=at, instance="worker-1")


class Logs:
    """Lines of a worker, and what was read of them."""

    def __init__(self, *lines, is_complete=True):
        self.page, self.reads = LogPage(lines, is_complete), []

    def lines(self, action, worker, since, until):
        self.reads.append((action.ref, worker, since, until))
        return self.page


@pytest.fixture
def failed(call, worker, store):
    """Make an action fail so often, with a traceback of each attempt; return its id."""
    return partial(fail, call, worker, store)


def fail(call, worker, store, attempts=1):
    made = call.schedule(body={"type": "remark", "payload": {}, "in": 0})
    ref = ActionRef(TenantId("acme"), ActionId(made["id"]))
    for number in range(1, attempts + 1):
        tick(worker.clock)
        claimed = worker.claim(made["id"], nonce=str(number))
        tick(worker.clock)
        if number < attempts:
            again = worker.clock.now()
            worker.settle(claimed, Ending.RETRY, Status.PENDING, message="OSError: no", due_at=again)
        else:
            worker.settle(claimed, Ending.FAILED, Status.FAILED, message="OSError: no")
        traceback = AttemptTraceback(claimed.attempts[-1].started_at, f"{TEXT} {number}")
        store.put_traceback(ref, traceback, worker.clock.now() + timedelta(days=1))
    return made["id"]


@pytest.fixture
def ask(call):
    def get(action_id, of, **query):
        return call("get", action_id=action_id, path=f"/api/v1/actions/{action_id}/{of}", query=query)

    return get


@pytest.fixture
def logs():
    return Logs()


@pytest.fixture
def call(store, app, clock, settings, logs):
    jobs = JobPorts(MemoryJobStore(store), MemoryRoutes([app.manifest]))
    api = ApiContext(store, jobs, app, clock, settings, run_logs=logs)
    return Client(make_api(api, Health(MemoryBookmarks()), empty_access()))


def test_each_failed_attempt_has_its_traceback_with_its_number(ask, failed):
    response = ask(failed(attempts=2), "tracebacks")
    assert response.json == {
        "items": [
            {"number": 1, "started_at": "2026-03-01T12:00:01Z", "text": f"{TEXT} 1"},
            {"number": 2, "started_at": "2026-03-01T12:00:03Z", "text": f"{TEXT} 2"},
        ]
    }


def test_an_action_without_a_failure_has_none(call, ask):
    made = call.schedule(body={"type": "remark", "payload": {}, "in": 0})
    assert ask(made["id"], "tracebacks").json == {"items": []}


@pytest.mark.parametrize("of", ["tracebacks", "log"])
def test_another_tenants_action_is_not_found(call, failed, of, logs):
    action_id = failed()
    claims = {"custom:tenant_id": "globex", "sub": "eve", "cognito:groups": "admins"}
    response = call(
        "get", action_id=action_id, path=f"/api/v1/actions/{action_id}/{of}", query={}, claims=claims
    )
    assert (response.status, response.code) == (404, "action-not-found")
    assert logs.reads == []


def test_the_lines_of_the_latest_attempt_are_read_from_its_start_to_just_after_its_end(
    ask, failed, logs, clock
):
    action_id = failed(attempts=2)
    at = clock.now()
    logs.page = LogPage((LogLine(at, "INFO", "charging token=ghp_" + "a1" * 18, "OSError"),), False)
    assert ask(action_id, "log").json == {
        "attempt": 2,
        "items": [
            {
                "at": "2026-03-01T12:00:04Z",
                "level": "INFO",
                "message": "charging token=[redacted]",
                "exception": "OSError",
            }
        ],
        "is_complete": False,
        "trace_url": None,
    }
    [(ref, worker_name, since, until)] = logs.reads
    assert (ref.id, worker_name) == (action_id, "default")
    assert (since, until) == (at - SECOND, at + 5 * SECOND)


def test_the_lines_of_an_earlier_attempt_are_read_by_its_number(ask, failed, logs, clock):
    assert ask(failed(attempts=2), "log", attempt="1").json["attempt"] == 1
    next_starts = clock.now() - SECOND
    assert logs.reads[0][2:] == (clock.now() - 3 * SECOND, next_starts - timedelta(milliseconds=1))


def test_an_attempt_that_the_action_does_not_list_is_rejected(ask, failed):
    response = ask(failed(), "log", attempt="7")
    assert (response.status, response.code) == (422, "invalid-request")
    assert "attempt is 7; the action lists the attempts 1 to 1" in response.json["detail"]


def test_an_action_whose_run_has_not_begun_has_no_lines(call, ask, logs):
    made = call.schedule(body={"type": "remark", "payload": {}, "in": 0})
    expected = {"attempt": None, "items": [], "is_complete": True, "trace_url": None}
    assert ask(made["id"], "log").json == expected
    assert logs.reads == []


def test_an_api_without_logs_answers_so(call_over, failed, store):
    call = call_over(store)
    action_id = failed()
    response = call("get", action_id=action_id, path=f"/api/v1/actions/{action_id}/log", query={})
    assert response.code == "unsupported"


def test_the_trace_of_the_invocation_and_of_the_caller_link_to_x_ray_in_a_function(
    call, failed, logs, store, monkeypatch
):
    action_id = failed()
    (row,) = store.rows()
    store.write(row, replace(row, trace="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
    trace = "1-67891233-abcdef012345678912345678"
    logs.page = LogPage((LogLine(row.attempts[0].started_at, "INFO", "x", trace_id=trace),), True)

    def links():
        action = call("get", action_id=action_id).json
        log = call("get", action_id=action_id, path=f"/api/v1/actions/{action_id}/log", query={}).json
        return action["trace_id"], action["trace_url"], log["trace_url"]

    assert links() == ("4bf92f3577b34da6a3ce929d0e0e4736", None, None)
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "duetime-api")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert links()[1:] == (f"{URL}1-4bf92f35-77b34da6a3ce929d0e0e4736", URL + trace)


@pytest.mark.parametrize(("group", "shown"), [("clerks", "[redacted]"), ("readers", SECRET)])
def test_only_readers_of_payloads_see_sensitive_values_in_lines(group, shown):
    charges = Charges()
    made = charges.schedule({"email": SECRET})
    row = charges.cloud.store.get(ActionRef(TenantId("acme"), ActionId(made["id"])))
    charges.cloud.store.write(row, replace(row, attempts=(attempt_at(charges.clock.now()),), attempt=1))
    logs = Logs(LogLine(charges.clock.now(), "INFO", f"mail to {SECRET}", f"OSError: {SECRET}"))
    (item,) = charges.with_logs(logs).ask("GET", f"/actions/{made['id']}/log", group).json["items"]
    assert (item["message"], item["exception"]) == (f"mail to {shown}", f"OSError: {shown}")


def test_lines_of_a_type_that_the_api_does_not_know_are_hidden_from_others():
    charges = Charges()
    made = charges.schedule({"email": SECRET})
    row = charges.cloud.store.get(ActionRef(TenantId("acme"), ActionId(made["id"])))
    changed = replace(row, type="gone", attempts=(attempt_at(charges.clock.now()),), attempt=1)
    charges.cloud.store.write(row, changed)
    logs = Logs(LogLine(charges.clock.now(), "INFO", f"mail to {SECRET}", f"OSError: {SECRET}"))
    with_logs = charges.with_logs(logs)
    (item,) = with_logs.ask("GET", f"/actions/{made['id']}/log").json["items"]
    assert (item["message"], item["exception"]) == ("[redacted]", None)
    assert with_logs.ask("GET", f"/actions/{made['id']}/log", "readers").json["items"][0]["exception"]
