"""The function as it is deployed, over DynamoDB as moto plays it."""

import importlib
import logging
import sys

import boto3
import pytest
from moto import mock_aws

from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from duetime.lambdas.api import make_handler
from duetime.settings import Settings

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
    assert [each["id"] for each in deployed("query").json["items"]] == [made["id"]]
    assert deployed("reschedule", action_id=made["id"]).status == 200
    assert deployed("redrive", action_id=made["id"]).status == 409
    assert deployed("cancel", action_id=made["id"]).json["status"] == "cancelled"
    assert deployed("cancel", action_id=made["id"]).code == "action-conflict"


def test_a_payload_kept_apart_comes_back_whole(deployed):
    made = deployed.schedule(body=LARGE)
    assert deployed("get", action_id=made["id"]).json["payload"]["text"] == LARGE["payload"]["text"]
    assert deployed("query", query={}).json["items"][0]["id"] == made["id"]


def test_the_deployed_parts_are_well(deployed):
    assert deployed("health").status == 200


def test_tables_that_are_not_there_are_told_as_misconfigured(aws, client_of):
    client = client_of()
    assert client("health").json["parts"] == {"actions table": "misconfigured", "jobs table": "misconfigured"}
    answer = client("get")
    assert (answer.status, answer.code) == (500, "misconfigured")
    assert "arn:" not in answer.text


def test_the_entry_point_serves_the_app_that_the_environment_names(aws, monkeypatch, call, clean_logs):
    monkeypatch.setenv("DUETIME_APP", "examples.billing:app")
    sys.modules.pop("functions.api", None)
    entry = importlib.import_module("functions.api")
    answer = type(call)(entry.handler)("schedule", body={"type": "nothing", "payload": {}, "in": 1})
    assert "known are: apply-plan-change, send-receipt" in answer.json["detail"]


@pytest.fixture
def clean_logs():
    """An entry point sets up its process' logs; the other tests want theirs back."""
    root = logging.getLogger("duetime")
    before = root.handlers, root.propagate, root.level
    yield
    root.handlers, root.propagate = before[0], before[1]
    root.setLevel(before[2])
