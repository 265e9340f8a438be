"""The calls that start, find and stop executions: of Step Functions, ECS, Batch and durable functions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.faults import code_of, ignoring, translate_calls
from duetime.errors import BackendUnavailable, truncate

_REASON_LIMIT = 200
_STATES = {"RUNNING": "running", "PENDING_REDRIVE": "running", "SUCCEEDED": "succeeded", "ABORTED": "stopped"}
_DURABLE = {"RUNNING": "running", "SUCCEEDED": "succeeded", "STOPPED": "stopped"}
_BATCH = {"SUCCEEDED": "succeeded", "FAILED": "failed"}
_ACTION_VARIABLE = "DUETIME_ACTION"
"""The variable of `ExecutionStart.variables` by which a task's overridden container is found."""


class StateMachineCalls:
    """Step Functions."""

    def start(self, arn: str, payload: Any, start: Any) -> None:
        """See `duetime.targets.executions.ExecutionCalls`, here and below."""
        given = json.dumps({**payload.input, "duetime": start.about}, sort_keys=True)
        with translate_calls("Step Functions"), ignoring("ExecutionAlreadyExists"):
            clients.of("stepfunctions").start_execution(stateMachineArn=arn, name=start.name, input=given)

    def status(self, arn: str, name: str) -> str | None:
        with translate_calls("Step Functions"):
            try:
                found = clients.of("stepfunctions").describe_execution(executionArn=_execution(arn, name))
            except ClientError as error:
                if code_of(error) != "ExecutionDoesNotExist":
                    raise
                return None
        return _STATES.get(found["status"], "failed")

    def stop(self, arn: str, name: str, reason: str) -> None:
        with translate_calls("Step Functions"), ignoring("ExecutionDoesNotExist"):
            clients.of("stepfunctions").stop_execution(
                executionArn=_execution(arn, name), error="duetime", cause=truncate(reason, _REASON_LIMIT)
            )


def _execution(machine: str, name: str) -> str:
    return f"{machine.replace(':stateMachine:', ':execution:')}:{name}"


class EcsCalls:
    """ECS, in one cluster.

    Args:
        cluster: its ARN.
        container: the container whose command and environment are overridden.
        network: the subnets, the security groups and whether the task has a public address.
    """

    def __init__(self, cluster: str, container: str, network: Mapping[str, Any]) -> None:
        self._cluster, self._container, self._network = cluster, container, network

    def start(self, arn: str, payload: Any, start: Any) -> None:
        variables = {**payload.environment, **start.variables}
        override: dict[str, Any] = {
            "name": self._container,
            "environment": [{"name": name, "value": value} for name, value in sorted(variables.items())],
        }
        if payload.command is not None:
            override["command"] = payload.command
        network = {
            "subnets": list(self._network.get("subnets", ())),
            "securityGroups": list(self._network.get("security_groups", ())),
            "assignPublicIp": "ENABLED" if self._network.get("public") else "DISABLED",
        }
        with translate_calls("ECS"), ignoring("ConflictException"):  # the token of a task with other terms
            answer = clients.of("ecs").run_task(
                cluster=self._cluster,
                taskDefinition=arn,
                launchType="FARGATE",
                count=1,
                clientToken=start.name,
                startedBy=start.name,
                networkConfiguration={"awsvpcConfiguration": network},
                overrides={"containerOverrides": [override]},
            )
            if failures := answer.get("failures"):
                raise BackendUnavailable("ECS", str(failures[0].get("reason")))

    def status(self, _arn: str, name: str) -> str | None:
        task = self._find(name)
        if task is None:
            return None
        return ecs_status(task)

    def stop(self, _arn: str, name: str, reason: str) -> None:
        task = self._find(name, statuses=("RUNNING",))
        if task is not None:
            with translate_calls("ECS"):
                clients.of("ecs").stop_task(
                    cluster=self._cluster, task=task["taskArn"], reason=truncate(reason, _REASON_LIMIT)
                )

    def _find(self, name: str, statuses: Sequence[str] = ("RUNNING", "STOPPED")) -> Mapping[str, Any] | None:
        client = clients.of("ecs")
        with translate_calls("ECS"):
            for status in statuses:
                found = client.list_tasks(cluster=self._cluster, startedBy=name, desiredStatus=status)
                if found["taskArns"]:
                    tasks = client.describe_tasks(cluster=self._cluster, tasks=found["taskArns"][:1])["tasks"]
                    return tasks[0] if tasks else None
        return None


def ecs_status(task: Mapping[str, Any]) -> str:
    """Return the status of a task, as ECS describes it or sends it in an event.

    The exit code of the container decides whose environment was overridden, not those of its sidecars.
    Without such a container, all must succeed.
    """
    if task.get("lastStatus") != "STOPPED":
        return "running"
    if task.get("stopCode") == "UserInitiated":
        return "stopped"
    overrides = task.get("overrides", {}).get("containerOverrides", ())
    ours = {override.get("name") for override in overrides if _names_an_action(override)}
    containers = task.get("containers", ())
    codes = [one.get("exitCode") for one in containers if not ours or one.get("name") in ours]
    return "succeeded" if codes and all(code == 0 for code in codes) else "failed"


def _names_an_action(override: Mapping[str, Any]) -> bool:
    return any(entry.get("name") == _ACTION_VARIABLE for entry in override.get("environment", ()))


class BatchCalls:
    """AWS Batch, in one job queue. Batch knows no client token, so a repeat looks for the name first."""

    def __init__(self, queue: str) -> None:
        self._queue = queue

    def start(self, arn: str, payload: Any, start: Any) -> None:
        if self._find(start.name) is not None:
            return
        variables = {**payload.environment, **start.variables}
        with translate_calls("Batch"):
            clients.of("batch").submit_job(
                jobName=start.name,
                jobQueue=self._queue,
                jobDefinition=arn,
                parameters=payload.parameters,
                containerOverrides={
                    "environment": [
                        {"name": name, "value": value} for name, value in sorted(variables.items())
                    ]
                },
            )

    def status(self, _arn: str, name: str) -> str | None:
        job = self._find(name)
        if job is None or job["status"] != "FAILED":
            return None if job is None else _BATCH.get(job["status"], "running")
        with translate_calls("Batch"):
            jobs = clients.of("batch").describe_jobs(jobs=[job["jobId"]])["jobs"]
        return batch_status(jobs[0] if jobs else job)

    def stop(self, _arn: str, name: str, reason: str) -> None:
        job = self._find(name)
        if job is not None and job["status"] not in _BATCH:
            with translate_calls("Batch"):
                clients.of("batch").terminate_job(jobId=job["jobId"], reason=truncate(reason, _REASON_LIMIT))

    def _find(self, name: str) -> Mapping[str, Any] | None:
        filters = [{"name": "JOB_NAME", "values": [name]}]
        with translate_calls("Batch"):
            found = clients.of("batch").list_jobs(jobQueue=self._queue, filters=filters)["jobSummaryList"]
        return next((job for job in found if job["jobName"] == name), None)


def batch_status(job: Mapping[str, Any]) -> str:
    """Return the status of a job, as Batch describes it or sends it in an event."""
    status = _BATCH.get(str(job.get("status")), "running")
    is_stopped = job.get("isTerminated") or job.get("isCancelled")
    return "stopped" if status == "failed" and is_stopped else status


class DurableCalls:
    """Durable functions of Lambda."""

    def start(self, arn: str, payload: Any, start: Any) -> None:
        given = json.dumps({**payload.payload, "duetime": start.about}, sort_keys=True)
        with translate_calls("Lambda"), ignoring("DurableExecutionAlreadyStartedException"):
            clients.functions().invoke(
                FunctionName=arn,
                InvocationType="Event",
                DurableExecutionName=start.name,
                Payload=given.encode(),
            )

    def status(self, arn: str, name: str) -> str | None:
        found = self._find(arn, name)
        return None if found is None else _DURABLE.get(found["Status"], "failed")

    def stop(self, arn: str, name: str, reason: str) -> None:
        found = self._find(arn, name)
        if found is not None and found["Status"] == "RUNNING":
            error = {"ErrorType": "duetime", "ErrorMessage": truncate(reason, _REASON_LIMIT)}
            with translate_calls("Lambda"):
                clients.functions().stop_durable_execution(
                    DurableExecutionArn=found["DurableExecutionArn"], Error=error
                )

    def _find(self, arn: str, name: str) -> Mapping[str, Any] | None:
        with translate_calls("Lambda"):
            found = clients.functions().list_durable_executions_by_function(
                FunctionName=arn, DurableExecutionName=name
            )
        return next(iter(found.get("DurableExecutions", ())), None)


def durable_input(execution_arn: str) -> Mapping[str, Any]:
    """Return the description of a durable execution: its input, its result and its error."""
    with translate_calls("Lambda"):
        return dict(clients.functions().get_durable_execution(DurableExecutionArn=execution_arn))
