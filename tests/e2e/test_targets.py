"""Targets that wait for their end, deployed, with the emulator's Step Functions, ECS, Batch and Lambda.

The emulator sends no status events: the tests send those of the services' documentation to the bus, and the
deployed rules and functions do the rest. The guide of targets lists what else it lacks.
"""

import io
import json
import sys
import urllib.request
import zipfile
from dataclasses import dataclass
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler, Status
from duetime.environment import TARGETS
from duetime.rehearsal.emulator import ACCOUNT
from duetime.targets import BatchJob, DurableExecution, EcsTask, StateMachineExecution
from duetime.targets.executions import ExecutionStart, calls_of
from duetime.targets.grants import Grants
from tests.e2e.conftest import Bench
from tests.e2e.deployment import Deployment
from tests.e2e.targets_app import CLUSTER, DURABLE, FAMILY, JOB, MACHINE, QUEUE, STACK

pytestmark = pytest.mark.e2e

PREFIX = "targets-"
SETTINGS = {"prefix": PREFIX, "api": "false", "alarms": "false", "canary": 0, "mail_from": ""}
SETTINGS |= {"console_url": "", "identities": "{}"}
WITHIN = 60
"""Seconds."""

PAYLOADS = {
    "states": StateMachineExecution(state_machine=MACHINE, input={"wait": 3_600}),
    "ecs": EcsTask(task_definition=FAMILY),
    "batch": BatchJob(job_definition=JOB),
    "durable": DurableExecution(function=DURABLE, payload={"order": 17}),
}


@dataclass(frozen=True)
class Targets:
    """The deployed scheduler, and two actions of each kind that wait for their executions."""

    scheduler: Scheduler
    grants: Grants
    first: dict[str, str]
    second: dict[str, str]

    def start_again(self, kind, action_id):
        """Start an execution as a worker does that repeats a run."""
        payload = PAYLOADS[kind]
        grant = self.grants.find(payload, "acme")
        calls_of(grant).start(
            grant.arn, payload, ExecutionStart(name=action_id, action_id=action_id, tenant_id="acme")
        )

    def settled(self, action_id):
        """The action, once it is final."""

        def final():
            action = self.scheduler.get(action_id)
            return action if action.status.is_final else None

        return Bench.eventually(final, within=WITHIN)


@pytest.fixture(scope="module")
def targets(directory, tmp_path_factory):
    deployment = Deployment(tmp_path_factory.mktemp("targets"), "-m tests.e2e.targets_app")
    with pytest.MonkeyPatch.context() as patch:
        make_batch_job()
        make_durable_function()
        deployment.bootstrap()
        status, output = deployment.attempt("deploy", "--require-approval", "never", **SETTINGS)
        assert status == 0, output[-6_000:]
        patch.setenv("DUETIME_PREFIX", PREFIX)
        patch.setenv("DUETIME_ACTIONS_TABLE", f"{PREFIX}actions")
        patch.setenv("DUETIME_JOBS_TABLE", f"{PREFIX}jobs")
        scheduler = Scheduler.from_env(tenant_id="acme", actor="e2e")
        first, second = (
            {kind: scheduler.schedule(payload, at=timedelta(0)).id for kind, payload in PAYLOADS.items()}
            for _ in range(2)
        )
        for action_id in (*first.values(), *second.values()):
            Bench.eventually(lambda one=action_id: scheduler.get(one).handed_over, within=WITHIN)
        worker = boto3.client("lambda").get_function_configuration(FunctionName=f"{PREFIX}work-targets")
        grants = Grants.from_json(worker["Environment"]["Variables"][TARGETS])
        yield Targets(scheduler, grants, first, second)
        assert not scheduler.undelivered.list()
    boto3.client("cloudformation").delete_stack(StackName=STACK)  # no synthesis, as a destroy has
    boto3.client("cloudformation").get_waiter("stack_delete_complete").wait(
        StackName=STACK, WaiterConfig={"Delay": 1}
    )
    boto3.client("lambda").delete_function(FunctionName=DURABLE)


def make_batch_job():
    """Make a job definition and its queue."""
    client = boto3.client("batch")
    where = client.create_compute_environment(computeEnvironmentName=QUEUE, type="MANAGED")
    order = [{"order": 1, "computeEnvironment": where["computeEnvironmentArn"]}]
    client.create_job_queue(jobQueueName=QUEUE, priority=1, computeEnvironmentOrder=order)
    client.register_job_definition(
        jobDefinitionName=JOB, type="container", containerProperties={"image": "import"}
    )


def make_durable_function():
    """Make a durable function; the emulator's has a field that AWS' API, and so boto3, does not have."""
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("index.py", 'def handler(event, context):\n    return {"Status": "PENDING"}\n')
    client = boto3.client("lambda")
    client.create_function(
        FunctionName=DURABLE,
        Runtime=f"python{sys.version_info.major}.{sys.version_info.minor}",
        Handler="index.handler",
        Role=f"arn:aws:iam::{ACCOUNT}:role/approve",
        Code={"ZipFile": code.getvalue()},
    )
    url = f"{client.meta.endpoint_url}/2015-03-31/functions/{DURABLE}/configuration"
    body = json.dumps({"DurableConfig": {"Enabled": True}}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, method="PUT")) as answer:  # noqa: S310
        assert json.load(answer)["DurableConfig"]


# What the services have


def executions():
    client = boto3.client("stepfunctions")
    (machine,) = client.list_state_machines()["stateMachines"]
    return client.list_executions(stateMachineArn=machine["stateMachineArn"])["executions"]


def execution(action_id):
    (found,) = (one for one in executions() if one["name"] == action_id)
    return boto3.client("stepfunctions").describe_execution(executionArn=found["executionArn"])


def task(action_id):
    client = boto3.client("ecs")
    for status in ("RUNNING", "STOPPED"):
        arns = client.list_tasks(cluster=CLUSTER, startedBy=action_id, desiredStatus=status)["taskArns"]
        if arns:
            (found,) = client.describe_tasks(cluster=CLUSTER, tasks=arns)["tasks"]
            return found
    raise AssertionError("no task")


def jobs(action_id):
    listed = boto3.client("batch").list_jobs(jobQueue=QUEUE)["jobSummaryList"]
    return [job for job in listed if job["jobName"] == action_id]


def durable(action_id):
    client = boto3.client("lambda")
    listed = client.list_durable_executions_by_function(FunctionName=DURABLE)["DurableExecutions"]
    described = (
        client.get_durable_execution(DurableExecutionArn=one["DurableExecutionArn"]) for one in listed
    )
    (found,) = (one for one in described if action_id in one["InputPayload"])
    return found


def send(source, kind, detail):
    """Send an event as a service does; the test's account may send one of a service, as none may on AWS."""
    entry = {"Source": source, "DetailType": kind, "Detail": json.dumps(detail, default=str)}
    answer = boto3.client("events").put_events(Entries=[entry])
    assert answer["FailedEntryCount"] == 0


def test_an_execution_has_the_actions_id_as_its_name_and_a_second_start_starts_nothing(targets):
    action_id = targets.first["states"]
    targets.start_again("states", action_id)
    assert [one["name"] for one in executions()].count(action_id) == 1
    about = json.loads(execution(action_id)["input"])
    assert about == {"wait": 3_600, "duetime": {"action": action_id, "tenant": "acme"}}


def test_a_job_has_the_actions_id_as_its_name_and_a_second_start_starts_nothing(targets):
    action_id = targets.first["batch"]
    targets.start_again("batch", action_id)
    assert len(jobs(action_id)) == 1


def test_a_task_is_started_by_the_actions_id_and_runs_with_its_variables(targets):
    action_id = targets.first["ecs"]
    (override,) = task(action_id)["overrides"]["containerOverrides"]
    assert {entry["name"]: entry["value"] for entry in override["environment"]} == {
        "DUETIME_ACTION": action_id,
        "DUETIME_TENANT": "acme",
    }


def test_a_durable_execution_has_the_action_in_its_input(targets):
    action_id = targets.first["durable"]
    about = json.loads(durable(action_id)["InputPayload"])
    assert about == {"order": 17, "duetime": {"action": action_id, "tenant": "acme"}}


def test_the_status_event_of_each_service_ends_its_action(targets):
    first = targets.first
    machine, ran, approved = execution(first["states"]), task(first["ecs"]), durable(first["durable"])
    (job,) = boto3.client("batch").describe_jobs(jobs=[jobs(first["batch"])[0]["jobId"]])["jobs"]
    send(
        "aws.states",
        "Step Functions Execution Status Change",
        {key: machine[key] for key in ("executionArn", "stateMachineArn", "name", "input")}
        | {"status": "SUCCEEDED", "output": '{"settled": 3}'},
    )
    containers = [{"name": "Main", "lastStatus": "STOPPED", "exitCode": 0}]
    ended = {"lastStatus": "STOPPED", "stopCode": "EssentialContainerExited", "containers": containers}
    named = ("taskArn", "clusterArn", "taskDefinitionArn", "startedBy", "overrides")
    send(
        "aws.ecs",
        "ECS Task State Change",
        {key: ran[key] for key in named} | ended | {"group": f"family:{FAMILY}"},
    )
    variables = [
        {"name": "DUETIME_ACTION", "value": first["batch"]},
        {"name": "DUETIME_TENANT", "value": "acme"},
    ]
    send(
        "aws.batch",
        "Batch Job State Change",
        {key: job[key] for key in ("jobArn", "jobName", "jobId", "jobQueue", "jobDefinition", "status")}
        | {"container": {"environment": variables, "exitCode": 0}},
    )
    send(
        "aws.lambda",
        "Durable Execution Status Change",
        {
            "durableExecutionArn": approved["DurableExecutionArn"],
            "durableExecutionName": first["durable"],
            "functionArn": f"{approved['FunctionArn']}:$LATEST",
            "status": "SUCCEEDED",
        },
    )
    settled = {kind: targets.settled(action_id) for kind, action_id in first.items()}
    assert {action.status for action in settled.values()} == {Status.EXECUTED}
    assert json.loads(settled["states"].result) == {"settled": 3}


def test_a_cancel_stops_an_execution_and_a_task(targets):
    for kind in ("states", "ecs"):
        targets.scheduler.cancel(targets.second[kind])
    Bench.eventually(lambda: execution(targets.second["states"])["status"] == "ABORTED", within=WITHIN)
    Bench.eventually(lambda: task(targets.second["ecs"])["lastStatus"] == "STOPPED", within=WITHIN)
    stopped = task(targets.second["ecs"])
    assert stopped["stoppedReason"] == "its action is cancelled"
    assert targets.scheduler.get(targets.second["states"]).status is Status.CANCELLED


def test_an_execution_that_a_person_stops_fails_its_action(targets):
    action = targets.scheduler.schedule(PAYLOADS["ecs"], at=timedelta(0))
    Bench.eventually(lambda: targets.scheduler.get(action.id).handed_over, within=WITHIN)
    found = task(action.id)
    boto3.client("ecs").stop_task(cluster=CLUSTER, task=found["taskArn"], reason="a drill")
    stopped = task(action.id)
    named = ("taskArn", "clusterArn", "taskDefinitionArn", "startedBy", "overrides")
    fields = ("lastStatus", "stopCode", "stoppedReason", "containers")
    send(
        "aws.ecs",
        "ECS Task State Change",
        {key: stopped[key] for key in (*named, *fields)} | {"group": f"family:{FAMILY}"},
    )
    failed = targets.settled(action.id)
    assert failed.status is Status.FAILED
    assert "a drill" in failed.failure_reason
