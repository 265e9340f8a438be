"""The custom resources' calls in a first, a second and a failed deploy, judged as IAM judges them."""

import json
from datetime import timedelta

import boto3
import pytest

from duetime.aws.tables import JOBS, actions_shape, create_table_request
from duetime.clock import SystemClock
from duetime.model.manifest import Manifest, packed
from duetime.settings import Settings
from duetime.testing import TurnedClock
from duetime.wakeups import system_jobs
from tests.infra.strict_iam import StrictIam
from tests.infra.synthesis import ROOT
from tests.infra.test_deploy_function import answers as answers  # noqa: PLC0414 - fixtures
from tests.infra.test_deploy_function import caller, make_handler
from tests.infra.test_deploy_function import client as client  # noqa: PLC0414

PING = Manifest("default", {"ping": 1})
SYSTEM = system_jobs.manifest(Settings())
BILLING_JOBS = json.loads((ROOT / "events/deploy-jobs.json").read_text())["ResourceProperties"]


@pytest.fixture
def schedules(client):
    """CloudFormation's own client: its calls are not those of the deploy function's role."""
    return boto3.client("scheduler")


@pytest.fixture
def iam(client, schedules, synthesised):
    with StrictIam(synthesised, synthesised.rights("deploy")).enforcing() as enforced:
        yield enforced


@pytest.fixture
def clock():
    return TurnedClock(SystemClock().now())


@pytest.fixture
def deploy(iam, clock, answers, synthesised):
    """Call the deploy function like CloudFormation; return its response."""
    wakes = {
        "DISPATCH_ARN": "arn:aws:lambda:eu-west-1:123456789012:function:duetime-dispatch",
        "TIMER_ROLE_ARN": "arn:aws:iam::123456789012:role/duetime-wakes",
    }
    settings = Settings.from_env({f"DUETIME_{name}": value for name, value in wakes.items()})
    return caller(make_handler(settings, clock=clock), answers)


@pytest.fixture
def create_resources(client, schedules):
    """Create what a deploy creates between the check of the format and the manifests."""

    def create():
        tables = (
            (JOBS, Settings().made.jobs_table),
            (actions_shape(due_order=False), Settings().made.actions_table),
        )
        for shape, name in tables:
            client.create_table(**create_table_request(shape, name))
        schedules.create_schedule_group(Name=Settings().made.job_group)

    return create


def properties_of(manifest):
    jobs = packed(manifest.jobs_json())
    return {"Worker": manifest.worker, "Manifest": manifest.to_json(), "Jobs": jobs}


def publish_all(deploy, request="Create"):
    for properties in (properties_of(PING), properties_of(SYSTEM), BILLING_JOBS | {"Worker": "default"}):
        response = deploy(request, "Manifest", **properties)
        assert response["Status"] == "SUCCESS", response["Reason"]


def test_a_call_on_an_absent_table_is_denied_if_its_right_depends_on_a_key(iam, client):
    with pytest.raises(client.exceptions.ClientError, match="not authorized to perform: dynamodb:GetItem"):
        boto3.client("dynamodb").get_item(
            TableName=Settings().made.jobs_table, Key={"pk": {"S": "system#format"}, "sk": {"S": "format"}}
        )


def test_a_first_deploy_checks_a_table_that_does_not_exist(deploy, iam):
    response = deploy("Create", "Format")
    assert (response["Status"], iam.denied) == ("SUCCESS", [])


def test_a_first_and_a_second_deploy_make_only_allowed_calls(deploy, iam, create_resources, client):
    assert deploy("Create", "Format")["Status"] == "SUCCESS"
    create_resources()
    publish_all(deploy)
    assert deploy("Update", "Format")["Status"] == "SUCCESS"
    publish_all(deploy, "Update")
    assert iam.denied == []
    actions = {call.action for call in iam.made}
    assert {
        "dynamodb:DescribeTable",
        "dynamodb:PutItem",
        "scheduler:CreateSchedule",
        "iam:PassRole",
    } <= actions


def test_a_failed_first_deploy_rolls_back_before_and_after_its_tables_exist(deploy, iam, create_resources):
    deploy("Create", "Format")
    assert deploy("Delete", "Manifest", **properties_of(PING))["Status"] == "SUCCESS"
    assert deploy("Delete", "Format")["Status"] == "SUCCESS"
    create_resources()
    publish_all(deploy)
    iam.denied.clear()
    for properties in (properties_of(SYSTEM), BILLING_JOBS):
        assert deploy("Delete", "Manifest", **properties)["Status"] == "SUCCESS"
    assert deploy("Delete", "Format")["Status"] == "SUCCESS"
    assert iam.denied == []


def test_rights_that_are_not_yet_distributed_are_awaited(deploy, iam, clock):
    iam.is_distributed = False
    began, wait_until = clock.now(), clock.wait_until

    def wait(at):
        iam.is_distributed = at - began >= timedelta(seconds=30)
        wait_until(at)

    clock.wait_until = wait
    assert deploy("Create", "Format")["Status"] == "SUCCESS"
    assert clock.now() - began == timedelta(seconds=30)


def test_rights_that_stay_missing_fail_the_deploy_after_a_minute(deploy, iam, clock):
    iam.is_distributed, began = False, clock.now()
    response = deploy("Create", "Format")
    assert response["Status"] == "FAILED"
    assert "not authorized to perform: dynamodb:DescribeTable" in response["Reason"]
    assert clock.now() - began == timedelta(minutes=1)
    assert (
        "a permissions boundary or a service control policy denies it: allow it there" in response["Reason"]
    )
