"""Executions: targets that wait for the end of what they start, by a hand-over.

The name of an execution is the action's id, with the number of the attempt after the first. So a run that is
repeated, because its worker died, starts nothing: the service knows the name. The service's status event ends
the action (`duetime.targets.status_events`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Protocol

from pydantic import Field, JsonValue

from duetime.payload import Payload

_Name = Annotated[str, Field(min_length=1, max_length=2_048)]
_Texts = dict[Annotated[str, Field(min_length=1, max_length=255)], Annotated[str, Field(max_length=32_768)]]
_Timeout = Annotated[timedelta, Field(ge=timedelta(seconds=10), le=timedelta(days=366))]
_A_DAY = timedelta(days=1)

LONGEST_NAME = 64
"""The limit of Lambda's names and of the client tokens of ECS; Step Functions allows 80, Batch 128."""
_HASHED = 16

ABOUT = "duetime"
"""The field of an execution's input that names its action."""
ACTION_VARIABLE, TENANT_VARIABLE = "DUETIME_ACTION", "DUETIME_TENANT"
"""The variables of a container that name its action."""


class StateMachineExecution(Payload, name="target-state-machine-execution"):
    """Run a state machine of Step Functions."""

    state_machine: _Name
    """The state machine's name or ARN."""
    input: dict[str, JsonValue] = Field(default_factory=dict)
    """duetime adds ``duetime``, with the action and the tenant."""
    timeout: _Timeout = _A_DAY
    """The longest time of an attempt, here and below."""


class EcsTask(Payload, name="target-ecs-task"):
    """Run a task of ECS."""

    task_definition: _Name
    """The task definition's family, family and revision, or ARN."""
    command: list[str] | None = None
    """In place of the command of the first container."""
    environment: _Texts = Field(default_factory=dict)
    """duetime adds ``DUETIME_ACTION`` and ``DUETIME_TENANT``."""
    timeout: _Timeout = _A_DAY


class BatchJob(Payload, name="target-batch-job"):
    """Run a job of AWS Batch."""

    job_definition: _Name
    """The job definition's name, name and revision, or ARN."""
    parameters: _Texts = Field(default_factory=dict)
    environment: _Texts = Field(default_factory=dict)
    timeout: _Timeout = _A_DAY


class DurableExecution(Payload, name="target-durable-execution"):
    """Run a durable function of Lambda."""

    function: _Name
    """The function's name or ARN, as granted."""
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    """duetime adds ``duetime``, with the action and the tenant."""
    timeout: _Timeout = _A_DAY


Execution = StateMachineExecution | EcsTask | BatchJob | DurableExecution
EXECUTIONS = (StateMachineExecution, EcsTask, BatchJob, DurableExecution)


class ExecutionStatus(StrEnum):
    """The status of an execution, the same for all services."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    """By a person or a program: no attempt follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionStart:
    """What a service starts.

    Attributes:
        name: the execution's, by which the service recognises a repeat.
        action_id: of the action.
        tenant_id: of the action.
    """

    name: str
    action_id: str
    tenant_id: str

    @property
    def about(self) -> dict[str, str]:
        """The action, for the input of an execution."""
        return {"action": self.action_id, "tenant": self.tenant_id}

    @property
    def variables(self) -> dict[str, str]:
        """The action, for the environment of a container."""
        return {ACTION_VARIABLE: self.action_id, TENANT_VARIABLE: self.tenant_id}


class ExecutionCalls(Protocol):
    """The calls of one service.

    Each raises `BackendMisconfigured` if a repeat does not help, and `BackendUnavailable` otherwise.
    """

    def start(self, arn: str, payload: Any, start: ExecutionStart, /) -> None:
        """Start an execution; one that has the name already stays the only one."""

    def status(self, arn: str, name: str, /) -> ExecutionStatus | None:
        """Return the status of an execution; None if the service knows none of that name."""

    def stop(self, arn: str, name: str, reason: str, /) -> None:
        """Stop an execution, if it runs."""


def execution_name(action_id: str, attempt: int) -> str:
    """Return the name of an attempt's execution: the action's id, in characters that all services allow."""
    name = action_id.replace(".", "_") + ("" if attempt == 1 else f"-{attempt}")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - _HASHED - 1]}-{sha256(name.encode()).hexdigest()[:_HASHED]}"
