"""The alarms of a deployment, and the topic at which they are told."""

from datetime import timedelta

import pytest

from duetime.cdk import Handlers
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, made_with

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)


def alarms_of(template):
    return {each["AlarmName"]: each for each in template.of_type("AWS::CloudWatch::Alarm")}


def dimensions(alarm):
    return {each["Name"]: each["Value"] for each in alarm["Dimensions"]}


def topic_of(template):
    """The resource's name of the topic that operators are told at, if there is one."""
    return next(
        (
            name
            for name, resource in template.resources.items()
            if resource["Properties"].get("TopicName", "").endswith("-alarms")
        ),
        None,
    )


def statements_of_the_topic(template):
    [policy] = [
        each
        for each in template.of_type("AWS::SNS::TopicPolicy")
        if each["Topics"] == [{"Ref": topic_of(template)}]
    ]
    return policy["PolicyDocument"]["Statement"]


@pytest.fixture(scope="module")
def alarms(synthesised):
    return alarms_of(synthesised)


@pytest.fixture(scope="module")
def another():
    """A deployment in which all is named and chosen otherwise."""
    return made_with(
        Settings(prefix="billing-", actions_table="restored", events="off"),
        handlers=[BILLING, REPORTS],
        sweep_rate=timedelta(minutes=10),
        catch_up_rate=timedelta(days=1),
        lateness_alarm=timedelta(seconds=30),
        failed_alarm=20,
        worker_timeout=timedelta(minutes=15),
    )
