"""Executions: targets that wait for the end of what they start, by a hand-over.

The name of an execution is the action's id, with the number of the attempt after the first. So a run that is
repeated, because its worker died, starts nothing: the service knows the name. The service's status event ends
the action (`duetime.targets.status_events`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from duetime.model.run import Run
from duetime.targets.grants import TargetGrant

if TYPE_CHECKING:
    from duetime.model.hand_over import HandedOver

LONGEST_NAME = 64
"""The limit of Lambda's names and of the client tokens of ECS; Step Functions allows 80, Batch 128."""
_HASHED = 16

ABOUT = "duetime"
"""The field of an execution's input that names its action."""
ACTION_VARIABLE, TENANT_VARIABLE = "DUETIME_ACTION", "DUETIME_TENANT"
"""The variables of a container that name its action."""


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


CallsOf = Callable[[TargetGrant], ExecutionCalls]
"""Returns the calls of a grant's service."""


class TargetFailed(Exception):
    """An invoked function raised, or an execution had ended without success; another attempt may succeed."""


def run_execution(payload: Any, grant: TargetGrant, run: Run, calls: ExecutionCalls) -> HandedOver | None:
    """Start the execution of an attempt, unless it runs already; return the hand-over until its end.

    The attempt before may have ended without an event that arrived, or may have passed its time-out.

    Raises:
        TargetFailed: the execution of this attempt has failed already.
    """
    if run.attempt > 1:
        before = execution_name(run.id, run.attempt - 1)
        status = calls.status(grant.arn, before)
        if status == ExecutionStatus.SUCCEEDED:
            return None
        if status == ExecutionStatus.RUNNING:
            calls.stop(grant.arn, before, "the next attempt of its action begins")
    name = execution_name(run.id, run.attempt)
    if run.fence > run.attempt:  # a worker died: it may have started the execution, and the event may be gone
        status = calls.status(grant.arn, name)
        if status == ExecutionStatus.SUCCEEDED:
            return None
        if status is not None and status != ExecutionStatus.RUNNING:
            raise TargetFailed(f"the execution {name} {status}")
    calls.start(grant.arn, payload, ExecutionStart(name=name, action_id=run.id, tenant_id=run.tenant_id))
    return run.hand_over(timeout=payload.timeout)


def calls_of(grant: TargetGrant) -> ExecutionCalls:
    """Return the calls of AWS for a grant."""
    from duetime.aws import execution_calls as aws  # noqa: PLC0415 - only where an execution is started

    options = grant.options
    calls: Any = {
        "states": aws.StateMachineCalls,
        "ecs": lambda: aws.EcsCalls(options["cluster"], options["container"], options),
        "batch": lambda: aws.BatchCalls(options["queue"]),
        "durable": aws.DurableCalls,
    }
    made: ExecutionCalls = calls[grant.service]()
    return made
