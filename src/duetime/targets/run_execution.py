"""Start an execution, and hand its action over until its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duetime.model.run import Run
from duetime.targets.executions import (
    BatchJob,
    DurableExecution,
    EcsTask,
    ExecutionCalls,
    ExecutionStart,
    ExecutionStatus,
    StateMachineExecution,
    execution_name,
)
from duetime.targets.grants import AnyTarget, TargetGrant

if TYPE_CHECKING:
    from duetime.model.hand_over import HandedOver

CallsOf = Callable[[TargetGrant], ExecutionCalls]
"""Returns the calls of a grant's service."""

NAMED_BY: dict[type[AnyTarget], str] = {
    StateMachineExecution: "state_machine",
    EcsTask: "task_definition",
    BatchJob: "job_definition",
    DurableExecution: "function",
}
"""The field of each payload that names its target."""


class ExecutionFailed(Exception):
    """An execution had ended without success when a repeated run looked for it."""


def run_execution(payload: Any, grant: TargetGrant, run: Run, calls: ExecutionCalls) -> HandedOver | None:
    """Start the execution of an attempt, unless it runs already; return the hand-over until its end.

    The attempt before may have ended without an event that arrived, or may have passed its time-out.

    Raises:
        ExecutionFailed: the execution of this attempt has failed already.
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
            raise ExecutionFailed(f"the execution {name} {status}")
    calls.start(grant.arn, payload, ExecutionStart(name=name, action_id=run.id, tenant_id=run.tenant_id))
    return run.hand_over(timeout=payload.timeout)


def calls_of(grant: TargetGrant) -> ExecutionCalls:
    """Return the calls of AWS for a grant."""
    from duetime.aws import execution_calls as aws  # noqa: PLC0415 - only where an execution is started

    options = grant.options
    made: Any
    match grant.service:
        case "states":
            made = aws.StateMachineCalls()
        case "ecs":
            made = aws.EcsCalls(options["cluster"], options["container"], options)
        case "batch":
            made = aws.BatchCalls(options["queue"])
        case _:
            made = aws.DurableCalls()
    calls: ExecutionCalls = made
    return calls
