"""A deployment in two regions on moto, which replicates nothing: a test copies rows itself."""

import io
import zipfile
from dataclasses import replace

import boto3
import pytest

from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.aws.tables import ACTIONS, FORMAT, JOBS, REGIONS, create_table_request

FIRST, SECOND = "eu-central-1", "eu-west-1"
REGIONS_TABLE = "arn:aws:dynamodb:eu-west-3:123456789012:table/duetime-regions"


def deploy(settings, region, *, is_new=True, is_fenced=True):
    """Create the tables, the queue, the groups and the function arm of one region; return its settings.

    Without `is_fenced`, the deployment does not have the setting `regions_table` yet.
    """
    clients.use_region(region)
    dynamodb, url = boto3.client("dynamodb"), boto3.client("sqs").create_queue(QueueName="due")["QueueUrl"]
    settings = settings.with_made(queues={"default": url, "system": url})
    for shape, name in ((ACTIONS, settings.made.actions_table), (JOBS, settings.made.jobs_table)):
        dynamodb.create_table(**create_table_request(shape, name))
    if is_new:
        DeployedTables.from_settings(settings).mark(FORMAT)
    for group in {settings.made.schedule_group, settings.made.job_group}:
        boto3.client("scheduler").create_schedule_group(Name=group)
    deploy_arm(settings if is_fenced else replace(settings, regions_table=""))
    return settings


def deploy_arm(settings):
    """Create the function whose environment has the deployment's settings."""
    iam, code = boto3.client("iam"), io.BytesIO()
    role = iam.create_role(
        RoleName=f"arm-{clients.dynamodb().meta.region_name}", AssumeRolePolicyDocument="{}"
    )
    with zipfile.ZipFile(code, "w") as bundle:
        bundle.writestr("index.py", "")
    boto3.client("lambda").create_function(
        FunctionName=f"{settings.prefix}arm",
        Runtime="python3.13",
        Role=role["Role"]["Arn"],
        Handler="index.handler",
        Code={"ZipFile": code.getvalue()},
        Environment={"Variables": settings.to_env()},
    )


def deploy_again(settings, region):
    """Give the function arm of a region these settings."""
    clients.use_region(region)
    boto3.client("lambda").update_function_configuration(
        FunctionName=f"{settings.prefix}arm", Environment={"Variables": settings.to_env()}
    )


def create_regions_table():
    """Create the table of the active region in a third region."""
    table = create_table_request(REGIONS, "duetime-regions")
    clients.dynamodb(region="eu-west-3").create_table(**table)


def backends_in(region, settings, clock):
    """Return the back ends of one region, with all clients in it."""
    clients.use_region(region)
    backends = AwsBackends(settings, clock)
    for name in (
        "store",
        "jobs",
        "queues",
        "timers",
        "job_wakes",
        "bookmarks",
        "routes",
        "regions",
        "pauses",
    ):
        getattr(backends, name)
    return backends


def replicate(settings, *, without=()):
    """Copy what the first region has to the second, but for some actions."""
    source, target = clients.dynamodb(region=FIRST), clients.dynamodb(region=SECOND)
    for table in (settings.made.actions_table, settings.made.jobs_table):
        for item in source.scan(TableName=table)["Items"]:
            if item["sk"]["S"] not in without:
                target.put_item(TableName=table, Item=item)


@pytest.fixture
def in_region(monkeypatch):
    """Set the region of the process back after the test."""
    before = boto3.DEFAULT_SESSION
    yield clients.use_region
    boto3.DEFAULT_SESSION = before
