"""Executions: one starts for an attempt, its event ends the action, and it stops with the action."""

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial

import boto3
import pytest
from botocore.stub import ANY, Stubber
from moto import mock_aws
from moto.stepfunctions.models import stepfunctions_backends

from duetime import App, Scheduler
from duetime.aws import clients
from duetime.aws.execution_calls import BatchCalls, DurableCalls, StateMachineCalls, ecs_status
from duetime.aws.messages import to_json
from duetime.aws.target_calls import AwsTargetCalls
from duetime.clock import SystemClock
from duetime.errors import BackendUnavailable, DeclarationError, InvalidPayload, StateConflict
from duetime.lambdas.deploy import Rollout
from duetime.lambdas.work import make_handler
from duetime.model.run import WorkerDied
from duetime.targets import (
    BatchJob,
    DurableCallback,
    DurableExecution,
    EcsTask,
    StateMachineExecution,
    TargetGrant,
    with_targets,
)
from duetime.targets.executions import ExecutionStart, calls_of, execution_name
from duetime.targets.grants import Grants
from duetime.targets.handlers import target_app
from duetime.targets.status_events import StatusEvents, is_event
from duetime.testing import SimulatedCloud
from duetime.wakeups.due_messages import message_of

ACCOUNT = "arn:aws:{}:eu-west-1:123456789012:{}"
DURABLE = ACCOUNT.format("lambda", "function:approve:live")
START = ExecutionStart(name="a-1", action_id="a", tenant_id="acme")


@pytest.fixture
def machine(mocked_aws):
    definition = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
    made = boto3.client("stepfunctions").create_state_machine(
        name="settle", definition=json.dumps(definition), roleArn="arn:aws:iam::123456789012:role/settle"
    )
    return made["stateMachineArn"]


class Stack:
    """A simulated cloud with granted executions, and their status events."""

    def __init__(self, *granted, describe=None):
        self.cloud = SimulatedCloud(with_targets(App(), granted))
        self.events = StatusEvents(Grants.of_all(granted), calls_of, describe, self.cloud.memory.backends)

    def started(self, payload):
        action = self.cloud.scheduler.schedule(payload, at=timedelta(0))
        self.cloud.advance(seconds=1)
        return action.id

    def row(self, action_id):
        return self.cloud.scheduler.get(action_id)

    def status(self, action_id):
        return self.row(action_id).status.value


def executions(machine):
    found = boto3.client("stepfunctions").list_executions(stateMachineArn=machine)["executions"]
    return {execution["name"]: execution["status"] for execution in found}


def described(machine, name):
    arn = f"{machine.replace('stateMachine', 'execution')}:{name}"
    return boto3.client("stepfunctions").describe_execution(executionArn=arn)


def reported(machine, name, status="SUCCEEDED", **more):
    """The event of Step Functions about an execution, with its real input."""
    given = described(machine, name)["input"]
    detail = {"name": name, "status": status, "stateMachineArn": machine, "input": given, **more}
    return {"source": "aws.states", "detail-type": "Step Functions Execution Status Change", "detail": detail}


def settle(stack, machine):
    return stack.started(StateMachineExecution(state_machine="settle", input={"order": 17}))


def test_an_execution_is_named_by_its_action_and_its_success_executes_the_action(machine):
    stack = Stack(machine)
    action_id = settle(stack, machine)
    assert executions(machine) == {action_id: "RUNNING"}
    given = json.loads(described(machine, action_id)["input"])
    assert given == {"order": 17, "duetime": {"action": action_id, "tenant": "acme"}}
    assert stack.row(action_id).is_handed_over
    event = reported(machine, action_id, output='{"paid": true}')
    for _ in range(2):  # EventBridge may deliver an event twice
        stack.events(event)
    assert (stack.status(action_id), stack.row(action_id).result) == ("executed", '{"paid":true}')


def test_a_large_output_is_not_stored_and_the_action_is_executed(machine):
    stack = Stack(machine)
    action_id = settle(stack, machine)
    stack.events(reported(machine, action_id, output=json.dumps("x" * 10_000)))
    assert (stack.status(action_id), stack.row(action_id).result) == ("executed", None)


def test_a_failure_begins_the_next_attempt_under_another_name(machine):
    stack = Stack(machine)
    action_id = settle(stack, machine)
    failure = reported(machine, action_id, "FAILED", error="NoMoney", cause="the card expired")
    stack.events(failure)
    row = stack.row(action_id)
    assert row.status.value == "pending"
    assert row.attempts[-1].message == "the execution failed: NoMoney: the card expired"
    stack.cloud.advance(minutes=5)
    assert set(executions(machine)) == {action_id, f"{action_id}-2"}
    stack.events(failure)  # late, of the first attempt
    assert stack.row(action_id).is_handed_over
    stack.events(reported(machine, f"{action_id}-2"))
    assert stack.status(action_id) == "executed"


def test_a_person_who_aborts_an_execution_ends_the_action(machine):
    stack = Stack(machine)
    action_id = settle(stack, machine)
    stack.events(reported(machine, action_id, "ABORTED"))
    assert stack.status(action_id) == "failed"


def test_a_repeated_start_starts_nothing(machine):
    calls = StateMachineCalls()
    for order in (1, 1, 2):
        calls.start(machine, StateMachineExecution(state_machine="settle", input={"order": order}), START)
    assert executions(machine) == {"a-1": "RUNNING"}
    calls.stop(machine, "a-1", "done")
    calls.stop(machine, "unknown", "done")
    calls.start(machine, StateMachineExecution(state_machine="settle"), START)
    assert executions(machine) == {"a-1": "ABORTED"}
    assert calls.status(machine, "unknown") is None


def test_a_run_that_is_taken_over_after_its_start_starts_nothing_more(machine, monkeypatch):
    stack, deaths = Stack(machine), [WorkerDied("after the start")]
    start = StateMachineCalls.start

    def dies_once(*given):
        start(*given)
        if deaths:
            raise deaths.pop()

    monkeypatch.setattr(StateMachineCalls, "start", dies_once)
    action = stack.cloud.scheduler.schedule(StateMachineExecution(state_machine="settle"), at=timedelta(0))
    with pytest.raises(WorkerDied):
        stack.cloud.advance(seconds=1)
    stack.cloud.advance(hours=1)
    assert executions(machine) == {action.id: "RUNNING"}
    assert (stack.row(action.id).is_handed_over, stack.row(action.id).recoveries) == (True, 1)
    stack.events(reported(machine, action.id))
    assert stack.status(action.id) == "executed"


def end_silently(machine, name, status):
    """End an execution whose event is lost."""
    [made] = stepfunctions_backends["123456789012"]["eu-west-1"].state_machines
    assert made.arn == machine
    [execution] = [found for found in made.executions if found.name == name]
    execution.status = status


def test_a_success_whose_event_was_lost_is_found_after_the_time_out_and_nothing_runs_again(machine):
    stack = Stack(machine)
    payload = StateMachineExecution(state_machine="settle", timeout=timedelta(hours=1))
    action_id = stack.started(payload)
    end_silently(machine, action_id, "SUCCEEDED")
    stack.cloud.advance(hours=2)
    assert stack.status(action_id) == "executed"
    assert set(executions(machine)) == {action_id}


def test_an_execution_that_passes_its_time_is_stopped_before_the_next_attempt_begins(machine):
    stack = Stack(machine)
    action_id = stack.started(StateMachineExecution(state_machine="settle", timeout=timedelta(hours=1)))
    stack.cloud.advance(hours=1, minutes=10)
    assert executions(machine) == {action_id: "ABORTED", f"{action_id}-2": "RUNNING"}


def test_a_cancel_stops_the_execution(machine):
    stack = Stack(machine)
    action_id = settle(stack, machine)
    stack.cloud.scheduler.cancel(action_id)
    stack.cloud.advance(seconds=5)
    ends = [event for event in stack.cloud.memory.bus.published if is_event(event)]
    for event in ends:
        stack.events(event)
    assert "action.cancelled" in {event["detail-type"] for event in ends}
    assert stack.status(action_id) == "cancelled"
    assert executions(machine) == {action_id: "ABORTED"}


def test_a_cancel_in_another_deployment_stops_nothing(machine):
    stack = Stack(machine)
    action_id = settle(stack, machine)
    stack.cloud.scheduler.cancel(action_id)
    stack.cloud.advance(seconds=5)
    for event in stack.cloud.memory.bus.published:
        stack.events({**event, "detail": {**event["detail"], "deployment": "other-"}})
    assert executions(machine) == {action_id: "RUNNING"}


def test_an_event_before_the_hand_over_comes_again(machine):
    stack = Stack(machine)
    action = stack.cloud.scheduler.schedule(StateMachineExecution(state_machine="settle"), at=timedelta(0))
    seen = []

    def early(arn, payload, start):
        StateMachineCalls().start(arn, payload, start)
        with pytest.raises(StateConflict, match="call again in a second"):
            stack.events(reported(machine, action.id))
        seen.append(action.id)

    calls = StateMachineCalls()
    calls.start = early
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duetime.targets.handlers.calls_of", lambda _: calls)
        stack.cloud.advance(seconds=1)
    assert seen == [action.id]
    stack.events(reported(machine, action.id))
    assert stack.status(action.id) == "executed"


@pytest.mark.parametrize(
    "forged",
    [
        {"name": "another"},
        {"stateMachineArn": ACCOUNT.format("states", "stateMachine:other")},
        {"input": "no json"},
        {"input": None},
        {"input": '{"duetime": 5}'},
        {"input": '{"duetime": {"action": "x/y", "tenant": "acme"}}'},
        {"input": '{"duetime": {"action": "ID", "tenant": "globex"}}'},
        {"input": '{"duetime": {"action": "ID", "tenant": "a#b"}}'},
        {"status": "RUNNING"},
    ],
)
def test_an_event_of_anything_else_changes_nothing(machine, forged):
    stack = Stack(machine)
    action_id = settle(stack, machine)
    if isinstance(forged.get("input"), str):
        forged["input"] = forged["input"].replace("ID", action_id)
    event = reported(machine, action_id)
    event["detail"] |= forged
    stack.events(event)
    assert stack.row(action_id).is_handed_over


@pytest.mark.parametrize("source", ["aws.states", "aws.ec2", "duetime"])
def test_an_event_of_another_type_is_ignored(machine, source):
    Stack(machine).events({"source": source, "detail-type": "Something Else", "detail": {}})


@pytest.fixture
def task(mocked_aws):
    client = boto3.client("ecs")
    cluster = client.create_cluster(clusterName="night")["cluster"]["clusterArn"]
    container = {"name": "main", "image": "report", "memory": 64}
    definition = client.register_task_definition(
        family="report",
        containerDefinitions=[container],
        requiresCompatibilities=["FARGATE"],
        networkMode="awsvpc",
        cpu="256",
        memory="512",
    )["taskDefinition"]["taskDefinitionArn"]
    subnet = boto3.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    options = {"cluster": cluster, "container": "main", "subnets": [subnet]}
    return TargetGrant(arn=definition, options=options)


def the_task(grant, **which):
    client, cluster = boto3.client("ecs"), grant.options["cluster"]
    [arn] = client.list_tasks(cluster=cluster, **which)["taskArns"]
    return client.describe_tasks(cluster=cluster, tasks=[arn])["tasks"][0]


def stopped(task, code, **more):
    """The event of ECS about a stopped task."""
    detail = json.loads(json.dumps(task, default=str))
    detail |= {"lastStatus": "STOPPED", "containers": [{"name": "main", "exitCode": code}], **more}
    return {"source": "aws.ecs", "detail-type": "ECS Task State Change", "detail": detail}


def test_a_task_gets_the_environment_and_its_exit_code_ends_the_action(task):
    stack = Stack(task)
    payload = EcsTask(task_definition="report", command=["make", "report"], environment={"DAY": "monday"})
    action_id = stack.started(payload)
    started = the_task(task)
    assert started["startedBy"] == action_id
    [override] = started["overrides"]["containerOverrides"]
    variables = {entry["name"]: entry["value"] for entry in override["environment"]}
    assert variables == {"DAY": "monday", "DUETIME_ACTION": action_id, "DUETIME_TENANT": "acme"}
    assert override["command"] == ["make", "report"]
    stack.events(stopped(started, 0, lastStatus="RUNNING"))
    assert stack.row(action_id).is_handed_over
    later = {"taskDefinitionArn": task.arn.rpartition(":")[0] + ":7"}  # a deploy made another revision
    stack.events(stopped(started, 0, **later))
    assert stack.status(action_id) == "executed"


def test_a_task_that_fails_fails_the_attempt(task):
    stack = Stack(task)
    action_id = stack.started(EcsTask(task_definition="report"))
    stack.events(stopped(the_task(task), 1, stoppedReason="Essential container in task exited"))
    row = stack.row(action_id)
    assert row.status.value == "pending"
    assert "Essential container in task exited: main exited with 1" in row.attempts[-1].message


def test_a_task_that_a_person_stops_ends_the_action(task):
    stack = Stack(task)
    action_id = stack.started(EcsTask(task_definition="report"))
    stack.events(stopped(the_task(task), None, stopCode="UserInitiated"))
    assert stack.status(action_id) == "failed"


@pytest.mark.parametrize(
    ("codes", "status"), [((0, 143), "executed"), ((1, 0), "pending"), ((None, 0), "pending")]
)
def test_the_container_with_the_actions_variables_decides_and_no_sidecar(task, codes, status):
    stack = Stack(task)
    action_id = stack.started(EcsTask(task_definition="report"))
    names = ("main", "proxy")
    containers = [{"name": name, "exitCode": code} for name, code in zip(names, codes, strict=True)]
    started = the_task(task)
    started["overrides"]["containerOverrides"].insert(0, {"name": "proxy"})  # ECS lists each container
    stack.events(stopped(started, None, containers=containers))
    assert stack.status(action_id) == status


def test_without_a_named_container_each_one_must_succeed():
    containers = [{"name": "main", "exitCode": 0}, {"name": "proxy", "exitCode": 143}]
    assert ecs_status({"lastStatus": "STOPPED", "containers": containers}) == "failed"
    assert ecs_status({"lastStatus": "STOPPED", "containers": containers[:1]}) == "succeeded"
    assert ecs_status({"lastStatus": "STOPPED", "containers": []}) == "failed"


def test_a_task_is_found_by_its_action_and_stopped(task):
    stack = Stack(task)
    action_id = stack.started(EcsTask(task_definition="report"))
    calls = calls_of(task)
    assert (calls.status(task.arn, action_id), calls.status(task.arn, "unknown")) == ("running", None)
    calls.stop(task.arn, action_id, "its action is cancelled")
    assert the_task(task, desiredStatus="STOPPED")["startedBy"] == action_id


def test_ecs_recognises_a_repeat_by_its_token_and_reports_missing_capacity(task):
    client = boto3.client("ecs")
    with pytest.MonkeyPatch.context() as patch, Stubber(client) as stubber:
        patch.setattr(clients, "of", lambda _: client)
        expected = {
            "cluster": ANY,
            "taskDefinition": task.arn,
            "launchType": "FARGATE",
            "count": 1,
            "clientToken": "a-1",
            "startedBy": "a-1",
            "networkConfiguration": ANY,
            "overrides": ANY,
        }
        stubber.add_response("run_task", {"tasks": [], "failures": [{"reason": "RESOURCE:CPU"}]}, expected)
        stubber.add_client_error("run_task", "ConflictException", http_status_code=409)
        start = partial(calls_of(task).start, task.arn, EcsTask(task_definition="report"), START)
        with pytest.raises(BackendUnavailable, match="RESOURCE:CPU"):
            start()
        start()


@pytest.fixture
def batch_job(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with mock_aws(config={"batch": {"use_docker": False}}):
        client, iam = boto3.client("batch"), boto3.client("iam")
        role = iam.create_role(RoleName="batch", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        environment = client.create_compute_environment(
            computeEnvironmentName="night", type="UNMANAGED", state="ENABLED", serviceRole=role
        )["computeEnvironmentArn"]
        queue = client.create_job_queue(
            jobQueueName="night",
            state="ENABLED",
            priority=1,
            computeEnvironmentOrder=[{"order": 1, "computeEnvironment": environment}],
        )["jobQueueArn"]
        definition = client.register_job_definition(
            jobDefinitionName="import",
            type="container",
            containerProperties={"image": "import", "vcpus": 1, "memory": 128},
        )["jobDefinitionArn"]
        yield TargetGrant(arn=definition, options={"queue": queue})


def batch_report(grant, name, status):
    filters = [{"name": "JOB_NAME", "values": [name]}]
    found = boto3.client("batch").list_jobs(jobQueue=grant.options["queue"], filters=filters)
    [job] = found["jobSummaryList"]
    about = {"DUETIME_ACTION": name, "DUETIME_TENANT": "acme"}
    variables = [{"name": variable, "value": value} for variable, value in about.items()]
    detail = {
        "jobName": job["jobName"],
        "status": status,
        "jobDefinition": grant.arn,
        "container": {"environment": variables},
    }
    return {"source": "aws.batch", "detail-type": "Batch Job State Change", "detail": detail}


def test_a_batch_job_is_submitted_once_and_its_end_ends_the_action(batch_job):
    stack = Stack(batch_job)
    action_id = stack.started(BatchJob(job_definition="import", environment={"DAY": "monday"}))
    calls_of(batch_job).start(
        batch_job.arn,
        BatchJob(job_definition="import"),
        ExecutionStart(name=action_id, action_id="", tenant_id=""),
    )
    stack.events(batch_report(batch_job, action_id, "RUNNING"))  # there is one job of that name
    assert stack.row(action_id).is_handed_over
    stack.events(batch_report(batch_job, action_id, "SUCCEEDED"))
    assert stack.status(action_id) == "executed"
    assert calls_of(batch_job).status(batch_job.arn, "unknown") is None


@pytest.mark.parametrize("field", ["isTerminated", "isCancelled"])
def test_a_batch_job_that_a_person_stops_ends_the_action(batch_job, field):
    stack = Stack(batch_job)
    action_id = stack.started(BatchJob(job_definition="import"))
    event = batch_report(batch_job, action_id, "FAILED")
    event["detail"][field] = True
    stack.events(event)
    assert stack.status(action_id) == "failed"
    assert stack.row(action_id).attempts[-1].message == "the execution stopped"


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"isTerminated": True}, "stopped"), ({"isCancelled": True}, "stopped"), ({}, "failed")],
)
def test_a_failed_job_is_described_to_find_whether_a_person_stopped_it(
    mocked_aws, monkeypatch, fields, status
):
    """moto's jobs have neither field: the requests are held against the SDK's model of the service."""
    client = boto3.client("batch")
    monkeypatch.setattr(clients, "of", lambda _: client)
    job = {"jobId": "j", "jobName": "a-1", "jobQueue": "night", "startedAt": 1, "jobDefinition": "import"}
    with Stubber(client) as stubber:
        summary = {"jobId": "j", "jobName": "a-1", "status": "FAILED"}
        stubber.add_response(
            "list_jobs", {"jobSummaryList": [summary]}, {"jobQueue": "night", "filters": ANY}
        )
        stubber.add_response(
            "describe_jobs", {"jobs": [{**job, "status": "FAILED", **fields}]}, {"jobs": ["j"]}
        )
        assert BatchCalls("night").status("", "a-1") == status


@pytest.fixture
def stubbed_lambda(mocked_aws, monkeypatch):
    client = boto3.client("lambda")
    monkeypatch.setattr(clients, "functions", lambda *_: client)
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def test_a_durable_function_is_started_by_name_and_its_end_ends_the_action(stubbed_lambda):
    """moto has no durable functions: the requests are held against the SDK's model of the service."""
    granted = TargetGrant(arn=DURABLE, service="durable")
    started = {}

    def describe(arn):
        assert arn == "the-execution"
        return {"InputPayload": json.dumps({"duetime": started}), "Result": '{"approved": true}'}

    stack = Stack(granted, describe=describe)
    stubbed_lambda.add_response(
        "invoke",
        {"StatusCode": 202},
        {"FunctionName": DURABLE, "InvocationType": "Event", "DurableExecutionName": ANY, "Payload": ANY},
    )
    action_id = stack.started(DurableExecution(function="approve"))
    started |= {"action": action_id, "tenant": "acme"}
    detail = {
        "durableExecutionArn": "the-execution",
        "durableExecutionName": action_id,
        "functionArn": ACCOUNT.format("lambda", "function:approve:3"),
        "status": "SUCCEEDED",
    }
    event = {"source": "aws.lambda", "detail-type": "Durable Execution Status Change", "detail": detail}
    stack.events({**event, "detail": {**detail, "status": "RUNNING"}})
    stack.events(event)
    assert (stack.status(action_id), stack.row(action_id).result) == ("executed", '{"approved":true}')


def test_a_durable_execution_is_found_by_its_name_and_stopped(stubbed_lambda):
    calls = DurableCalls()
    arn = ACCOUNT.format("lambda", "function:approve:3/durable-execution/a-1/x")
    found = {
        "DurableExecutionArn": arn,
        "DurableExecutionName": "a-1",
        "FunctionArn": DURABLE,
        "Status": "RUNNING",
        "StartTimestamp": SystemClock().now(),
    }
    by_name = {"FunctionName": DURABLE, "DurableExecutionName": "a-1"}
    stubbed_lambda.add_client_error("invoke", "DurableExecutionAlreadyStartedException", http_status_code=409)
    for _ in range(2):
        stubbed_lambda.add_response(
            "list_durable_executions_by_function", {"DurableExecutions": [found]}, by_name
        )
    stubbed_lambda.add_response(
        "stop_durable_execution",
        {"StopTimestamp": SystemClock().now()},
        {"DurableExecutionArn": arn, "Error": {"ErrorType": "duetime", "ErrorMessage": "cancelled"}},
    )
    calls.start(DURABLE, DurableExecution(function="approve"), START)  # it runs already: no error
    assert calls.status(DURABLE, "a-1") == "running"
    calls.stop(DURABLE, "a-1", "cancelled")


def callback_sent(stubbed_lambda, *, is_closed=False):
    if is_closed:
        stubbed_lambda.add_client_error(
            "send_durable_execution_callback_success", "CallbackTimeoutException", http_status_code=400
        )
        return
    expected = {"CallbackId": "Y2FsbGJhY2s=", "Result": b'{"approved": true}'}
    stubbed_lambda.add_response("send_durable_execution_callback_success", {}, expected)


CALLBACK = DurableCallback(function="approve", callback_id="Y2FsbGJhY2s=", result={"approved": True})


def test_an_action_lets_a_durable_function_go_on_and_can_be_moved_and_cancelled(stubbed_lambda):
    """As a timer that callers of the function can list, move and cancel."""
    scheduler = (cloud := Stack(TargetGrant(arn=DURABLE, service="callback")).cloud).scheduler
    timers = [scheduler.schedule(CALLBACK, at=timedelta(days=1), correlation_id="order:17") for _ in range(2)]
    assert len(scheduler.list(correlation_id="order:17")) == 2
    scheduler.cancel(timers[0].id)
    scheduler.reschedule(timers[1].id, timedelta(days=3))
    cloud.advance(days=2)
    callback_sent(stubbed_lambda)
    cloud.advance(days=2)
    assert scheduler.get(timers[1].id).status.value == "executed"


def test_a_callback_that_has_ended_fails_the_action(stubbed_lambda):
    stack = Stack(TargetGrant(arn=DURABLE, service="callback"))
    callback_sent(stubbed_lambda, is_closed=True)
    action_id = stack.started(CALLBACK)
    assert stack.status(action_id) == "failed"
    assert "has expired, or was ended" in stack.row(action_id).attempts[-1].message


def test_a_callback_that_a_dead_worker_ended_is_no_failure(stubbed_lambda, monkeypatch):
    stack = Stack(TargetGrant(arn=DURABLE, service="callback"))
    callback_sent(stubbed_lambda)
    callback_sent(stubbed_lambda, is_closed=True)
    send, deaths = AwsTargetCalls.end_callback, [WorkerDied("after the call")]

    def dies_once(*given):
        ended = send(*given)
        if deaths:
            raise deaths.pop()
        return ended

    monkeypatch.setattr(AwsTargetCalls, "end_callback", dies_once)
    action = stack.cloud.scheduler.schedule(CALLBACK, at=timedelta(0))
    with pytest.raises(WorkerDied):
        stack.cloud.advance(seconds=1)
    stack.cloud.advance(hours=1)
    assert (stack.status(action.id), stack.row(action.id).recoveries) == ("executed", 1)


def test_a_callback_that_ended_although_the_response_was_lost_is_no_failure(stubbed_lambda, monkeypatch):
    """The first attempt ends the callback, its response is lost; the second one finds the callback ended."""
    stack = Stack(TargetGrant(arn=DURABLE, service="callback"))
    callback_sent(stubbed_lambda)
    callback_sent(stubbed_lambda, is_closed=True)
    send, losses = AwsTargetCalls.end_callback, [BackendUnavailable("Lambda", "the response was lost")]

    def loses_once(*given):
        ended = send(*given)
        if losses:
            raise losses.pop()
        return ended

    monkeypatch.setattr(AwsTargetCalls, "end_callback", loses_once)
    action = stack.cloud.scheduler.schedule(CALLBACK, at=timedelta(0))
    stack.cloud.advance(hours=1)
    assert (stack.status(action.id), stack.row(action.id).attempt) == ("executed", 2)


def test_the_client_sends_the_end_of_a_callback_once(monkeypatch, receiver):
    """A repeat by the client would find its own end, and no attempt could recognise it."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", receiver.url)
    receiver.answers += [(500, {}, b"{}")] * 2
    with pytest.raises(BackendUnavailable):
        AwsTargetCalls().end_callback("Y2FsbGJhY2s=", None)
    assert len(receiver.requests) == 1


def test_names_fit_every_service():
    run = f"{'nightly-' * 8}x.1.20270101T000000Z"
    assert execution_name("0190-7abc", 1) == "0190-7abc"
    assert execution_name("0190-7abc", 3) == "0190-7abc-3"
    assert len(execution_name(run, 1)) == 64
    assert "." not in execution_name(run, 1)
    assert execution_name(run, 1) != execution_name(run, 2)


@pytest.mark.parametrize(
    ("arn", "missing"),
    [("ecs", "task-definition/report:1"), ("batch", "job-definition/import:1")],
)
def test_a_grant_without_its_options_is_rejected(arn, missing):
    with pytest.raises(DeclarationError, match="needs the option"):
        TargetGrant(arn=ACCOUNT.format(arn, missing))


@pytest.mark.parametrize("seconds", [0, 9, 366 * 86_400 + 1])
def test_a_time_out_that_no_hand_over_has_is_rejected(seconds):
    with pytest.raises(InvalidPayload, match="timeout"):
        StateMachineExecution.from_json(json.dumps({"state_machine": "settle", "timeout": seconds}))


def test_the_workers_function_starts_an_execution_and_takes_its_event(machine, deployed, monkeypatch):
    """The path over moto's tables: a due message, then an event beside other messages."""
    grants = Grants.of_all([machine])
    monkeypatch.setenv("DUETIME_TARGETS", grants.to_json())
    settings = replace(
        deployed,
        made=replace(deployed.made, queues={**deployed.made.queues, "targets": deployed.made.failure_queue}),
    )
    app = target_app(grants)
    Rollout(settings, SystemClock()).publish(app.manifest)
    scheduler = Scheduler.from_env(tenant_id="acme", actor="test")
    action = scheduler.schedule(StateMachineExecution(state_machine="settle"), at=timedelta(0))
    handler = make_handler(settings, app.handler_set, instance="test", metrics=lambda *_: None)
    assert handler({"Records": [due(action)]}, None) == {"batchItemFailures": []}
    assert scheduler.get(action.id).is_handed_over
    event = reported(machine, action.id)
    records = [record(json.dumps(event), "1"), record("[]", "2"), due(action)]
    assert handler({"Records": records}, Context()) == {"batchItemFailures": [{"itemIdentifier": "2"}]}
    assert scheduler.get(action.id).status.value == "executed"


class Context:
    @staticmethod
    def get_remaining_time_in_millis():
        return 60_000


def record(body, number):
    times = {"SentTimestamp": "0", "ApproximateFirstReceiveTimestamp": "0"}
    return {"messageId": number, "receiptHandle": number, "body": body, "attributes": times}


def due(action):
    return record(to_json(message_of(action)), "due")
