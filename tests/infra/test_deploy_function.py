"""The function that CloudFormation calls, on moto's tables. A server in the test receives its responses."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from duetime.aws.notes import DynamoRoutes
from duetime.aws.tables import JOBS, create_table_request
from duetime.clock import SystemClock
from duetime.lambdas.deploy import make_handler
from duetime.model.manifest import Manifest
from duetime.settings import Settings
from tests.quick_moto import fast_path, quick_moto

MANIFEST = Manifest("default", {"ping": 1})
SAMPLE = json.loads((Path(__file__).parents[2] / "events/deploy.json").read_text())


@pytest.fixture
def client(monkeypatch):
    for name, value in (
        ("ACCESS_KEY_ID", "test"),
        ("SECRET_ACCESS_KEY", "test"),
        ("DEFAULT_REGION", "eu-west-1"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    options = {"core": {"mock_credentials": False, "passthrough": {"urls": ["127.0.0.1"]}}}
    with mock_aws(config=options), quick_moto(), fast_path():
        yield boto3.client("dynamodb")


@pytest.fixture
def tables(client):
    client.create_table(**create_table_request(JOBS, Settings().made.jobs_table))


@pytest.fixture
def answers():
    """What was put to the address that the request named."""
    caught = []

    class Catch(BaseHTTPRequestHandler):
        def do_PUT(self):
            caught.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_about):
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Catch)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.server_port, caught
    server.shutdown()
    thread.join()
    server.server_close()


def caller(handler, answers):
    """Return a function that calls `handler` like CloudFormation, and returns its response."""
    port, caught = answers

    def call(request, kind, **properties):
        event = SAMPLE | {
            "RequestType": request,
            "ResourceType": f"Custom::Duetime{kind}",
            "ResourceProperties": {"Format": "1", **properties},
            "ResponseURL": f"http://127.0.0.1:{port}/answer",
            "LogicalResourceId": f"{kind}Resource",
        }
        handler(event, None)
        return caught.pop()

    return call


@pytest.fixture
def deploy(client, answers):
    return caller(make_handler(Settings()), answers)


def published():
    return {"Worker": "default", "Manifest": MANIFEST.to_json()}


def queue_for(client, type_name):
    return DynamoRoutes(client, Settings().made.jobs_table, clock=SystemClock()).queue_for(type_name)


def test_a_first_deploy_finds_no_table_and_goes_on(deploy):
    answer = deploy("Create", "Format")
    assert answer["Status"] == "SUCCESS"
    assert answer["PhysicalResourceId"] == "FormatResource"


def test_the_sample_event_publishes_the_example_apps_types(deploy, tables, client):
    about = {name: SAMPLE["ResourceProperties"][name] for name in ("Worker", "Manifest")}
    assert deploy(SAMPLE["RequestType"], "Manifest", **about)["Status"] == "SUCCESS"
    assert queue_for(client, "send-receipt") == "default"


def test_a_manifest_is_published_and_the_tables_are_marked(deploy, tables, client):
    assert deploy("Create", "Manifest", **published())["Status"] == "SUCCESS"
    assert queue_for(client, "ping") == "default"
    assert deploy("Update", "Format")["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("stored", "named"),
    [({"N": "2"}, "format 2"), ({"N": "1.5"}, "an unreadable format"), ({"S": "1"}, "an unreadable format")],
)
@pytest.mark.parametrize("resource", ["Format", "Manifest"])
@pytest.mark.usefixtures("tables")
def test_a_deploy_over_tables_of_another_format_fails_with_one_message_and_writes_nothing(
    deploy, client, resource, stored, named
):
    key = {"pk": {"S": "system#format"}, "sk": {"S": "tables"}}
    client.put_item(TableName="duetime-jobs", Item={**key, "version": stored})
    before = client.scan(TableName="duetime-jobs")["Items"]
    answer = deploy("Update", resource, **(published() if resource == "Manifest" else {}))
    assert answer["Status"] == "FAILED"
    assert f"duetime-jobs have {named}; this version of duetime reads format 1. Nothing" in answer["Reason"]
    assert client.scan(TableName="duetime-jobs")["Items"] == before


def test_a_rejected_deploy_can_be_rolled_back(deploy, tables):
    deploy("Create", "Manifest", **published())
    deploy("Update", "Format", Format="2")
    assert deploy("Update", "Format", Format="1")["Status"] == "SUCCESS"


def test_a_manifest_is_not_published_into_tables_of_another_format(deploy, tables, client):
    deploy(
        "Create", "Manifest", Format="2", Worker="default", Manifest=Manifest("default", {"old": 1}).to_json()
    )
    assert deploy("Update", "Manifest", **published())["Status"] == "FAILED"
    assert queue_for(client, "ping") is None


def test_a_worker_that_goes_takes_its_manifest_along(deploy, tables, client):
    deploy("Create", "Manifest", **published())
    assert deploy("Delete", "Manifest", **published())["Status"] == "SUCCESS"
    assert queue_for(client, "ping") is None


def test_a_stack_without_its_tables_can_be_deleted(deploy):
    assert deploy("Delete", "Manifest", **published())["Status"] == "SUCCESS"
    assert deploy("Delete", "Format")["Status"] == "SUCCESS"


def test_whatever_goes_wrong_is_answered(deploy, tables):
    answer = deploy("Create", "Manifest", Worker="default", Manifest="no json")
    assert answer["Status"] == "FAILED"
    assert answer["Reason"].startswith("JSONDecodeError")


def test_a_table_of_another_application_is_refused_by_its_keys(deploy, client):
    client.create_table(
        TableName=Settings().made.jobs_table,
        KeySchema=[{"AttributeName": "order", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "order", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    answer = deploy("Create", "Format")
    assert answer["Status"] == "FAILED"
    assert "the name of the table duetime-jobs is taken by another application" in answer["Reason"]
    assert "its keys are order, those of duetime pk, sk. Choose another prefix" in answer["Reason"]
