"""Names fit what AWS allows, with the longest prefix and worker, in each partition."""

import re

import pytest

from duetime.cdk import Deployment, Handlers
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, synth, text

LONGEST_PREFIX = "p" * 39 + "-"
LONGEST_WORKER = "w" * (64 - len(f"{LONGEST_PREFIX}work-"))
ALLOWED = {
    "AWS::DynamoDB::Table": ("TableName", r"[A-Za-z0-9_.-]{3,255}"),
    "AWS::SQS::Queue": ("QueueName", r"[A-Za-z0-9_-]{1,80}"),
    "AWS::Lambda::Function": ("FunctionName", r"[A-Za-z0-9_-]{1,64}"),
    "AWS::Scheduler::ScheduleGroup": ("Name", r"(?!default$)[A-Za-z0-9_.-]{1,64}"),
    "AWS::Scheduler::Schedule": ("Name", r"[A-Za-z0-9_.-]{1,64}"),
    "AWS::SNS::Topic": ("TopicName", r"[A-Za-z0-9_-]{1,256}"),
    "AWS::Logs::LogGroup": ("LogGroupName", r"(?!aws/)[A-Za-z0-9_./#-]{1,512}"),
    "AWS::CloudWatch::Alarm": ("AlarmName", r"[ -~]{1,255}"),
    "AWS::Cognito::UserPool": ("UserPoolName", r"[\w\s+=,.@-]{1,128}"),
    "AWS::Cognito::UserPoolGroup": ("GroupName", r"[^\s]{1,128}"),
    "AWS::ApiGateway::RestApi": ("Name", r".{1,1024}"),
}
"""The property with the name, and the names that the service allows."""


@pytest.fixture(scope="module")
def longest():
    reports = Handlers(app="tests.infra.apps.reports:app", worker=LONGEST_WORKER, source=ROOT)
    settings = Settings(prefix=LONGEST_PREFIX, mail_from="ops@example.com")
    deployment = Deployment(alarms="all")
    return synth(settings=settings, deployment=deployment, handlers=[BILLING, reports])


@pytest.mark.parametrize("kind", ALLOWED)
def test_the_longest_names_are_allowed(longest, kind):
    name, pattern = ALLOWED[kind]
    names = [properties[name] for properties in longest.of_type(kind)]
    assert names
    assert [row for row in names if not re.fullmatch(pattern, text(row))] == []


def test_the_longest_names_of_mails_templates_are_allowed(longest):
    names = [row["Template"]["TemplateName"] for row in longest.of_type("AWS::SES::Template")]
    assert names
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)] == []


def test_no_arn_names_a_partition(longest):
    def arns(value):
        match value:
            case str():
                yield from re.findall(r"arn:aws[\w-]*:", value)
            case dict():
                for nested in value.values():
                    yield from arns(nested)
            case list():
                for nested in value:
                    yield from arns(nested)

    assert list(arns(longest.resources)) == []
