"""The alarms of a deployment, and the topic of operators."""

from datetime import timedelta

import pytest

from duetime.cdk import Handlers
from duetime.settings import Made, Settings
from tests.infra.synthesis import BILLING, ROOT, made_with

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)


def alarms_of(template):
    return {alarm["AlarmName"]: alarm for alarm in template.of_type("AWS::CloudWatch::Alarm")}


def dimensions(alarm):
    return {dimension["Name"]: dimension["Value"] for dimension in alarm["Dimensions"]}


def topic_of(template):
    """Return the logical id of the operators' topic, if there is one."""
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
        policy
        for policy in template.of_type("AWS::SNS::TopicPolicy")
        if policy["Topics"] == [{"Ref": topic_of(template)}]
    ]
    return policy["PolicyDocument"]["Statement"]


@pytest.fixture(scope="module")
def synthesised():
    """The deployment with every alarm."""
    return made_with(alarms="all")


@pytest.fixture(scope="module")
def alarms(synthesised):
    return alarms_of(synthesised)


@pytest.fixture(scope="module")
def another():
    """A deployment in which all is named and chosen otherwise."""
    return made_with(
        Settings(
            prefix="billing-",
            made=Made(actions_table="restored"),
            events="off",
            sweep_rate=timedelta(minutes=10),
            catch_up_rate=timedelta(days=1),
            job_grace=timedelta(minutes=20),
        ),
        handlers=[BILLING, REPORTS],
        lateness_alarm=timedelta(seconds=30),
        failed_alarm=20,
        alarms="all",
        worker_timeout=timedelta(minutes=15),
    )
