import functools

import boto3
import botocore.session
import pytest
from hypothesis import HealthCheck, settings
from moto import mock_aws

from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from duetime.settings import Made, Settings
from tests.quick_collection import (  # noqa: F401 - hooks of pytest
    pytest_collection,
    pytest_collection_finish,
    pytest_configure,
)

settings.register_profile(
    "untimed",
    settings(),
    derandomize=True,
    deadline=None,  # whatever else runs on this machine
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],  # two: `tests.draws`
)
settings.load_profile("untimed")

botocore.session.create_loader = functools.cache(botocore.session.create_loader)
"""All sessions read a service's model once: the tests make hundreds."""


@pytest.fixture
def wide_terminal(monkeypatch):
    """A terminal that is wide enough for each row of a table on one line."""
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture
def mocked_aws(monkeypatch):
    """An empty account on moto, with credentials and a region in the environment."""
    credentials = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",  # moto knows no account's own endpoints
        "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",  # no test reads these 1,300 images
    }
    for name, value in credentials.items():
        monkeypatch.setenv(name, value)
    from tests.quick_moto import quick_moto  # noqa: PLC0415 - most tests need no local cloud

    with mock_aws(), quick_moto():
        yield


@pytest.fixture
def dynamodb(mocked_aws):
    """The client of DynamoDB in that account."""
    return boto3.client("dynamodb")


@pytest.fixture
def deployed(mocked_aws, monkeypatch):
    """A deployment on moto: the tables, the queue and the schedule group that the environment names."""
    dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")
    url = sqs.create_queue(QueueName="duetime-due-default")["QueueUrl"]
    settings = Settings(
        made=Made(
            queues={"default": url},
            failure_queue=sqs.create_queue(QueueName="duetime-failures")["QueueUrl"],
            dispatch_arn="arn:aws:lambda:eu-west-1:123456789012:function:duetime-dispatch",
            timer_role_arn="arn:aws:iam::123456789012:role/duetime-timers",
        ),
        app="examples.billing:app",
    )
    for shape, name in ((ACTIONS, settings.made.actions_table), (JOBS, settings.made.jobs_table)):
        dynamodb.create_table(**create_table_request(shape, name))
    boto3.client("scheduler").create_schedule_group(Name=settings.made.schedule_group)
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    return settings
