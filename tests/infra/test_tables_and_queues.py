import pytest

from duetime.aws.tables import ACTIONS, JOBS, actions_shape, create_table_request
from duetime.cdk import Deployment
from duetime.cdk.queues import NOTIFY_RECEIVES
from duetime.settings import Settings
from tests.infra.synthesis import synth


@pytest.fixture(params=[ACTIONS, JOBS], ids=lambda shape: shape.name)
def shape(request):
    return request.param


def table(synthesised, shape):
    return synthesised.one("AWS::DynamoDB::Table", TableName=f"duetime-{shape.name}")


def test_the_actions_table_has_the_due_order_if_a_setting_enables_it():
    indexes = table(synth(settings=Settings(due_order=True)), ACTIONS)["GlobalSecondaryIndexes"]
    expected = create_table_request(actions_shape(due_order=True), "duetime-actions")
    assert indexes == expected["GlobalSecondaryIndexes"]
    assert {index["IndexName"] for index in indexes} >= {"tenant_due"}


def test_a_table_has_the_shape_that_the_back_end_was_written_for(synthesised, shape):
    deployed, expected = table(synthesised, shape), create_table_request(shape, f"duetime-{shape.name}")
    for name in ("KeySchema", "BillingMode"):
        assert deployed[name] == expected[name]
    assert deployed.get("GlobalSecondaryIndexes", []) == expected.get("GlobalSecondaryIndexes", [])
    assert sorted(deployed["AttributeDefinitions"], key=str) == sorted(
        expected["AttributeDefinitions"], key=str
    )
    stream = expected.get("StreamSpecification", {}).get("StreamViewType")
    assert deployed.get("StreamSpecification", {}).get("StreamViewType") == stream


def test_a_table_is_encrypted_recoverable_and_protected(synthesised, shape):
    deployed = table(synthesised, shape)
    assert deployed["SSESpecification"] == {"SSEEnabled": True}
    assert deployed["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
    assert deployed["DeletionProtectionEnabled"]
    assert deployed["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def policies(synthesised):
    tables = [
        resource for resource in synthesised.resources.values() if resource["Type"] == "AWS::DynamoDB::Table"
    ]
    return {(table["DeletionPolicy"], table["UpdateReplacePolicy"]) for table in tables}


def test_tables_outlive_the_stack_unless_a_setting_disables_it(synthesised):
    assert policies(synthesised) == {("Retain", "Retain")}
    thrown_away = synth(deployment=Deployment(keep_data=False))
    assert policies(thrown_away) == {("Delete", "Delete")}
    assert not any(
        table["DeletionProtectionEnabled"] for table in thrown_away.of_type("AWS::DynamoDB::Table")
    )


def test_a_due_queue_hides_a_message_longer_than_its_worker_may_run(synthesised):
    queue = synthesised.one("AWS::SQS::Queue", QueueName="duetime-due-default")
    worker = synthesised.functions()["work-default"]
    assert queue["VisibilityTimeout"] == worker["Timeout"] + 5
    assert synthesised.environment("work-default")["DUETIME_QUEUE_VISIBILITY"] == str(
        queue["VisibilityTimeout"]
    )


def test_the_failing_messages_of_all_queues_go_to_the_failure_queue(synthesised):
    receives = {}
    for queue in synthesised.of_type("AWS::SQS::Queue"):
        if policy := queue.get("RedrivePolicy"):
            failures = synthesised.resources[policy["deadLetterTargetArn"]["Fn::GetAtt"][0]]["Properties"]
            assert failures["QueueName"] == "duetime-failures"
            receives[queue["QueueName"]] = policy["maxReceiveCount"]
    assert receives == {
        "duetime-due-default": 5,
        "duetime-due-system": 5,
        "duetime-notifications": NOTIFY_RECEIVES,
    }


def test_every_queue_is_encrypted_retains_messages_for_two_weeks_and_needs_tls(synthesised):
    queues = synthesised.of_type("AWS::SQS::Queue")
    assert len(queues) == 4
    assert all(queue["SqsManagedSseEnabled"] for queue in queues)
    assert all(queue["MessageRetentionPeriod"] == 14 * 86_400 for queue in queues)
    refused = [
        statement["Effect"]
        for policy in synthesised.of_type("AWS::SQS::QueuePolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]
    assert refused == ["Deny"] * 4


def test_everything_is_named_by_the_prefix():
    named = synth(settings=Settings(prefix="eu_"))
    assert {table["TableName"] for table in named.of_type("AWS::DynamoDB::Table")} == {
        "eu_actions",
        "eu_jobs",
    }
    assert all(
        function["FunctionName"].startswith("eu_") for function in named.of_type("AWS::Lambda::Function")
    )
    assert {group["Name"] for group in named.of_type("AWS::Scheduler::ScheduleGroup")} == {
        "eu_actions",
        "eu_jobs",
        "eu_passes",
    }
