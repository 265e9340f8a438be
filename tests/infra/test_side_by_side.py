"""Two versions of one app, deployed beside each other in one account under different prefixes."""

from duetime.settings import Settings
from tests.infra.synthesis import synth

NAMED = (
    "TableName",
    "FunctionName",
    "QueueName",
    "TopicName",
    "AlarmName",
    "LogGroupName",
    "UserPoolName",
)
"""What must be unique in an account and region. Schedules are named within their group."""


def names(synthesised):
    """Each name that AWS would refuse a second time, with its kind."""
    resources = [(resource["Type"], resource["Properties"]) for resource in synthesised.resources.values()]
    names = {
        (kind, properties[name])
        for kind, properties in resources
        for name in NAMED
        if isinstance(properties.get(name), str)
    }
    return names | {
        (kind, properties["Name"]) for kind, properties in resources if kind.endswith("::ScheduleGroup")
    }


def test_deployments_of_different_prefixes_share_no_name(synthesised):
    blue, green = names(synthesised), names(synth(settings=Settings(prefix="green-")))
    assert blue.isdisjoint(green)
    assert len(blue) == len(green)
    assert {kind for kind, _ in blue} >= {
        "AWS::DynamoDB::Table",
        "AWS::Lambda::Function",
        "AWS::SQS::Queue",
        "AWS::Scheduler::ScheduleGroup",
    }
