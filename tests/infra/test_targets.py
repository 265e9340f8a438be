"""Targets in the stack: nothing without a grant; with one, a worker that reaches what is granted alone."""

import json

import pytest
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_ssm as ssm
from aws_cdk import aws_stepfunctions as stepfunctions

from duetime.cdk import (
    BatchJobTarget,
    Deployment,
    DurableFunctionTarget,
    EcsTaskTarget,
    Handlers,
    WebhookTarget,
)
from duetime.errors import SettingsError
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, Synthesised, caller, stack, synth, text


@pytest.fixture(scope="module")
def granted():
    made, scheduler = stack(deployment=Deployment(alarms="all"))
    scheduler.grant_target(sqs.Queue(made, "Orders"))
    scheduler.grant_target(sns.Topic(made, "News"), tenants=["acme", "globex"])
    scheduler.grant_target(events.EventBus(made, "Shop"))
    scheduler.grant_target(caller(made, "Resize"))
    secret = secretsmanager.Secret(made, "Signing")
    scheduler.grant_target(WebhookTarget(host="hooks.acme.example", secret=secret))
    parameter = ssm.StringParameter.from_secure_string_parameter_attributes(
        made, "Other", parameter_name="/hooks/other", version=1
    )
    scheduler.grant_target(WebhookTarget(host="hooks.globex.example:8443", secret=parameter))
    return Synthesised.from_stack(made)


@pytest.fixture(scope="module")
def usual():
    return synth(deployment=Deployment(alarms="all"))


def with_property(synthesised, name, value):
    """The resources with such a property, by their logical ids."""
    return {
        logical: part["Properties"]
        for logical, part in synthesised.resources.items()
        if part.get("Properties", {}).get(name) == value
    }


def names(synthesised, kind, name):
    parts = (part.get("Properties", {}) for part in synthesised.resources.values() if part["Type"] == kind)
    return {found[name] for found in parts if name in found}


def test_without_a_grant_nothing_is_added(synthesised):
    assert "targets" not in json.dumps(synthesised.resources)


def test_the_grants_add_one_worker_its_queue_and_its_alarms_and_nothing_else(usual, granted):
    added = {
        kind: names(granted, kind, name) - names(usual, kind, name)
        for kind, name in (
            ("AWS::SQS::Queue", "QueueName"),
            ("AWS::Lambda::Function", "FunctionName"),
            ("AWS::CloudWatch::Alarm", "AlarmName"),
        )
    }
    assert added == {
        "AWS::SQS::Queue": {"duetime-due-targets"},
        "AWS::Lambda::Function": {"duetime-work-targets"},
        "AWS::CloudWatch::Alarm": {
            "duetime-due-targets-age",
            "duetime-work-targets-errors",
            "duetime-work-targets-throttled",
        },
    }
    changed = {
        part["Type"]
        for name, part in usual.resources.items()
        if part.get("Properties") != granted.resources.get(name, {}).get("Properties")
    }
    deployed_again = {"AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage"}
    assert changed - deployed_again == {
        "AWS::Lambda::Function",
        "AWS::IAM::Role",
    }


def test_the_environment_has_the_allow_list(granted):
    entries = json.loads(text(granted.environment("work-targets")["DUETIME_TARGETS"]))
    assert [entry.get("service", entry.get("host")) for entry in entries] == [
        "sqs",
        "sns",
        "events",
        "lambda",
        "hooks.acme.example",
        "hooks.globex.example:8443",
    ]
    assert entries[1]["tenants"] == ["acme", "globex"]
    assert not {"deliver_to"} & set().union(*entries)
    assert entries[5]["secret"].endswith(":parameter/hooks/other")
    assert [name for name in granted.functions() if "DUETIME_TARGETS" in granted.environment(name)] == [
        "work-targets"
    ]


def test_the_role_reaches_the_granted_resources_alone(granted):
    reference = granted.functions()["work-targets"]["Role"]["Fn::GetAtt"][0]
    [policy] = [
        policy["PolicyDocument"]["Statement"]
        for policy in granted.of_type("AWS::IAM::Policy")
        if {"Ref": reference} in policy["Roles"]
    ]
    reached = {
        action: text(statement["Resource"])
        for statement in policy
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert set(reached) == {
        "sqs:SendMessage",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
        "sns:Publish",
        "events:PutEvents",
        "lambda:InvokeFunction",
        "secretsmanager:GetSecretValue",
        "secretsmanager:DescribeSecret",
        "ssm:DescribeParameters",
        "ssm:GetParameters",
        "ssm:GetParameter",
        "ssm:GetParameterHistory",
    }
    assert not [resource for resource in reached.values() if "*" in resource]
    assert len(set(reached.values())) == 6
    own = {name for name in granted.functions() if name.startswith("work-")} - {"work-targets"}
    for name in own:
        assert not [right for right in granted.rights(name) if "Orders" in json.dumps(right)]


@pytest.mark.parametrize(
    "name", ["arm", "dispatch", "sweep", "catch-up", "work-default", "work-targets", "undelivered"]
)
def test_each_function_that_wakes_workers_finds_the_queue_and_may_send_to_it(granted, name):
    queues = json.loads(text(granted.environment(name)["DUETIME_QUEUES"]))
    assert set(queues) >= {"default", "targets"}
    due = queues["targets"].strip("<>")
    sends = [right for right in granted.rights(name) if "sqs:SendMessage" in right["Action"]]
    assert due in json.dumps(sends)


def test_its_dead_letters_go_to_the_failure_queue(granted):
    [due] = with_property(granted, "QueueName", "duetime-due-targets").values()
    [failures] = with_property(granted, "QueueName", "duetime-failures")
    assert due["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": [failures, "Arn"]}


def test_the_api_reads_their_payloads_and_the_manifest_has_the_granted_kinds(granted):
    assert granted.environment("api")["DUETIME_APP"] == "examples.billing:app duetime.targets.worker_app:app"
    [manifest] = with_property(granted, "Worker", "targets").values()
    assert set(json.loads(manifest["Manifest"])["types"]) - {"duetime-probe-targets"} == {
        "target-sqs-message",
        "target-sns-message",
        "target-event",
        "target-lambda-invocation",
        "target-webhook",
    }


def test_a_kind_that_is_not_granted_is_not_in_the_manifest():
    made, scheduler = stack()
    scheduler.grant_target(
        sqs.Queue.from_queue_arn(made, "Orders", "arn:aws:sqs:eu-west-1:123456789012:orders")
    )
    one = Synthesised.from_stack(made)
    [manifest] = with_property(one, "Worker", "targets").values()
    assert set(json.loads(manifest["Manifest"])["types"]) == {"duetime-probe-targets", "target-sqs-message"}
    assert scheduler.worker("targets")


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (WebhookTarget(host="169.254.169.254"), "cannot be granted: its host is"),
        (WebhookTarget(host="localhost"), "cannot be granted: its host is"),
        (WebhookTarget(host="https://hooks.acme.example"), "cannot be granted"),
        ("orders", "allowed is a queue, a topic, an event bus, a function, a state machine"),
    ],
)
def test_a_target_that_cannot_be_reached_is_rejected(target, problem):
    _, scheduler = stack()
    with pytest.raises(SettingsError, match=problem):
        scheduler.grant_target(target)


def test_no_tenants_are_rejected_and_a_worker_of_that_name():
    made, scheduler = stack()
    with pytest.raises(SettingsError, match="tenants is empty"):
        scheduler.grant_target(sqs.Queue(made, "Orders"), tenants=[])
    own = Handlers(app="tests.infra.apps.reports:app", worker="targets", source=ROOT)
    made, scheduler = stack(handlers=[BILLING, own])
    with pytest.raises(SettingsError, match="choose another name"):
        scheduler.grant_target(sqs.Queue(made, "Orders"))


@pytest.fixture(scope="module")
def executing():
    made, scheduler = stack()
    scheduler.grant_target(
        stepfunctions.StateMachine.from_state_machine_arn(
            made, "Machine", "arn:aws:states:eu-west-1:123456789012:stateMachine:settle"
        )
    )
    vpc = ec2.Vpc(made, "Vpc", max_azs=2)
    cluster = ecs.Cluster(made, "Cluster", vpc=vpc)
    definition = ecs.FargateTaskDefinition(made, "Report", family="report")
    definition.add_container("main", image=ecs.ContainerImage.from_registry("report"))
    scheduler.grant_target(EcsTaskTarget(cluster=cluster, task_definition=definition))
    job = batch.EcsJobDefinition.from_job_definition_arn(
        made, "Job", "arn:aws:batch:eu-west-1:123456789012:job-definition/import:1"
    )
    queue = batch.JobQueue.from_job_queue_arn(
        made, "JobQueue", "arn:aws:batch:eu-west-1:123456789012:job-queue/night"
    )
    scheduler.grant_target(BatchJobTarget(job_definition=job, job_queue=queue))
    scheduler.grant_target(DurableFunctionTarget(function=caller(made, "Durable"), qualifier="live"))
    return Synthesised.from_stack(made)


def test_what_waits_for_its_end_has_a_rule_into_the_workers_queue(executing):
    [due] = with_property(executing, "QueueName", "duetime-due-targets")
    rules = [
        rule
        for rule in executing.of_type("AWS::Events::Rule")
        if [target["Arn"] for target in rule["Targets"]] == [{"Fn::GetAtt": [due, "Arn"]}]
    ]
    by_source = {rule["EventPattern"]["source"][0]: rule["EventPattern"] for rule in rules}
    assert set(by_source) == {"aws.states", "aws.ecs", "aws.batch", "aws.lambda", "duetime"}
    assert by_source["aws.ecs"]["detail"]["group"] == ["family:report"]
    assert by_source["duetime"]["detail-type"] == [
        "action.cancelled",
        "action.failed",
        "run.cancelled",
        "run.failed",
    ]
    assert by_source["duetime"]["detail"]["deployment"] == ["duetime-"]
    assert by_source["duetime"]["detail"]["action"]["type"] == [
        "target-state-machine-execution",
        "target-ecs-task",
        "target-batch-job",
        "target-durable-execution",
    ]
    policies = json.dumps(executing.of_type("AWS::SQS::QueuePolicy"))
    assert "events.amazonaws.com" in policies


def test_an_execution_has_its_options_in_the_allow_list_and_its_rights_in_the_role(executing):
    entries = json.loads(text(executing.environment("work-targets")["DUETIME_TARGETS"]))
    assert [entry["service"] for entry in entries] == ["states", "ecs", "batch", "durable", "callback"]
    assert entries[1]["options"]["container"] == "main"
    assert len(entries[1]["options"]["subnets"]) == 2
    assert entries[2]["options"]["queue"].endswith(":job-queue/night")
    assert entries[3]["arn"].endswith(":live")
    reference = executing.functions()["work-targets"]["Role"]["Fn::GetAtt"][0]
    granted = json.dumps(
        [policy for policy in executing.of_type("AWS::IAM::Policy") if {"Ref": reference} in policy["Roles"]]
    )
    for action in (
        "states:StartExecution",
        "states:StopExecution",
        "ecs:RunTask",
        "ecs:StopTask",
        "iam:PassRole",
        "batch:SubmitJob",
        "batch:TerminateJob",
        "batch:DescribeJobs",
        "lambda:StopDurableExecution",
        "lambda:SendDurableExecutionCallbackSuccess",
    ):
        assert action in granted, action


def test_an_execution_needs_lifecycle_events():
    made, scheduler = stack(settings=Settings(events="off"))
    machine = stepfunctions.StateMachine.from_state_machine_name(made, "Machine", "settle")
    with pytest.raises(SettingsError, match="events is 'off', so a cancel could not stop"):
        scheduler.grant_target(machine)
