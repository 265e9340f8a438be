"""The function as it is deployed, over DynamoDB as moto plays it."""

import importlib
import logging
import sys

import boto3
import pytest
from moto import mock_aws

from duetime.aws.notes import publish
from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from duetime.lambdas.api import make_handler
from duetime.settings import Made, Settings
from tests.api.conftest import OPERATOR, sample_event

LARGE = {"type": "remark", "payload": {"text": "ü" * 4_000}, "in": 60}


@pytest.fixture
def aws(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with mock_aws():
        yield boto3.client("dynamodb")


@pytest.fixture
def client_of(app, call):
    return lambda: type(call)(make_handler(Settings(), app))


@pytest.fixture
def deployed(aws, client_of):
    for shape in (ACTIONS, JOBS):
        aws.create_table(**create_table_request(shape, f"duetime-{shape.name}"))
    return client_of()


def test_an_action_is_scheduled_found_moved_and_cancelled(deployed):
    made = deployed.schedule()
    assert deployed("get", action_id=made["id"]).json == made
    assert [item["id"] for item in deployed("query").json["items"]] == [made["id"]]
    assert deployed("reschedule", action_id=made["id"]).status == 200
    assert deployed("redrive", action_id=made["id"]).status == 409
    assert deployed("cancel", action_id=made["id"]).json["status"] == "cancelled"
    assert deployed("cancel", action_id=made["id"]).code == "action-conflict"


def test_the_document_has_the_tag_that_the_deployment_chose(aws, app, call):
    client = type(call)(make_handler(Settings(api_tag="Ours"), app))
    event = sample_event("health", path="/api/v1/openapi.json")
    assert [item["name"] for item in client.send(event).json["tags"]] == ["Ours"]


def test_many_actions_are_cancelled_by_their_correlation_id(deployed):
    made = [deployed.schedule()["id"] for _ in range(3)]
    step = deployed("cancel-many").json
    assert {item["id"] for item in step["changed"]} == set(made)
    assert deployed("cancel-many").json["changed"] == []
    assert deployed("dead-letters").json == {
        "items": [],
        "next_cursor": None,
        "includes_runs": True,
        "scanned": None,
    }
    assert deployed("redrive-many").json["changed"] == []


def test_a_payload_in_its_own_item_is_read_completely(deployed):
    made = deployed.schedule(body=LARGE)
    assert deployed("get", action_id=made["id"]).json["payload"]["text"] == LARGE["payload"]["text"]
    assert deployed("query", query={}).json["items"][0]["id"] == made["id"]


@pytest.fixture
def jobs(aws, deployed, app):
    """Calls routes of jobs of a deployment whose worker runs the app."""
    publish(aws, "duetime-jobs", app.manifest)
    return deployed.jobs


REPORT = {"name": "acme-report", "type": "remark", "payload": {"text": "hourly"}, "cadences": ["every 1h"]}


def test_a_job_is_registered_paused_triggered_and_removed(jobs, deployed):
    made = jobs("POST", body=REPORT | {"trigger": True, "idempotency_key": "k-1"})
    assert made.status == 201, made.text
    again = jobs("POST", body=REPORT | {"trigger": True, "idempotency_key": "k-1"})
    assert (again.status, again.json["run_id"]) == (200, made.json["run_id"])
    assert deployed("get", action_id=made.json["run_id"]).json["payload"]["text"] == "hourly"
    assert [item["name"] for item in jobs("GET").json["items"]] == ["acme-report"]
    skipped = jobs("POST", "/acme-report/skip-next").json["nominal_at"]
    assert skipped not in [item["at"] for item in jobs("GET", "/acme-report").json["next_runs"]]
    assert jobs("POST", "/acme-report/pause", body={"reason": "audit"}).status == 204
    assert jobs("GET", "/acme-report").json["paused"]["reason"] == "audit"
    assert jobs("POST", "/acme-report/resume").status == 204
    assert jobs("PUT", "/acme-report/settings", body={"attempts": 2}).json["tuning"][0]["attempts"] == 2
    assert jobs("POST", "/acme-report/trigger").status == 202
    replaced = jobs("PUT", "/acme-report", body={"type": "remark", "payload": {}, "cadences": ["every 2h"]})
    assert (replaced.status, replaced.json["version"]) == (200, 2)
    assert jobs("DELETE", "/acme-report").status == 204
    assert jobs("GET", "/acme-report").code == "job-not-found"


def test_runs_and_occurrences_are_listed(jobs):
    run = jobs("POST", body=REPORT | {"trigger": True}).json["run_id"]
    first = jobs("GET", "/acme-report/runs", query={"limit": "1"}).json
    rest = jobs("GET", "/acme-report/runs", query={"cursor": first["next_cursor"]}).json
    assert run in [item["id"] for item in [*first["items"], *rest["items"]]]
    accounts = {item["account"] for item in jobs("GET", "/acme-report/occurrences").json["items"]}
    assert accounts <= {"pending", "upcoming"}
    assert accounts


@pytest.mark.parametrize(
    "cursor", ["x", "", "acme-report", "acme-other.000001.20260101T000000Z", "\ud800", "9" * 9_000]
)
def test_a_forged_cursor_of_runs_is_rejected(jobs, cursor):
    jobs("POST", body=REPORT)
    response = jobs("GET", "/acme-report/runs", query={"cursor": cursor})
    assert (response.status, response.code) == (422, "invalid-cursor")


def test_the_deployed_parts_are_healthy(deployed):
    assert deployed("health").status == 200


def test_missing_tables_are_reported_as_misconfigured(aws, client_of):
    client = client_of()
    assert client("health").json["parts"] == {"actions table": "misconfigured", "jobs table": "misconfigured"}
    response = client("get")
    assert (response.status, response.code) == (500, "misconfigured")
    assert "arn:" not in response.text


def test_the_entry_point_serves_the_app_that_the_environment_names(deployed, monkeypatch, call, clean_logs):
    monkeypatch.setenv("DUETIME_APP", "examples.billing:app")
    sys.modules.pop("functions.api", None)
    entry = importlib.import_module("functions.api")
    response = type(call)(entry.handler)("schedule", body={"type": "nothing", "payload": {}, "in": 1})
    assert "known are: apply-plan-change, send-receipt" in response.json["detail"]


@pytest.fixture
def clean_logs():
    """An entry point sets up its process' logs; the other tests want theirs back."""
    root = logging.getLogger("duetime")
    before = root.handlers, root.propagate, root.level
    yield
    root.handlers, root.propagate = before[0], before[1]
    root.setLevel(before[2])


def test_the_health_details_count_messages_in_the_failure_queue(deployed, app, call):
    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="duetime-failures")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="{}")
    client = type(call)(make_handler(Settings(made=Made(failure_queue=url)), app))
    details = client("health", path="/api/v1/health/details", claims=OPERATOR).json
    assert (details["status"], details["failure_queue"]) == ("ok", 1)
    sqs.delete_queue(QueueUrl=url)
    details = client("health", path="/api/v1/health/details", claims=OPERATOR).json
    assert (details["ill"], details["failure_queue"]) == (["failure queue"], None)


def test_the_health_details_have_the_runbooks_address_if_it_is_set(deployed, app, call):
    there = "https://wiki.example.com/duetime"
    for runbook in (there, None):
        client = type(call)(make_handler(Settings(), app, runbook=runbook))
        details = client("health", path="/api/v1/health/details", claims=OPERATOR).json
        assert details["runbook"] == runbook
