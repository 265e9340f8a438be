"""Status events: a service's report ends the action that waits for it; an action's end stops its execution.

An event may come twice, late or not at all. It changes an action only if it is of the execution that the
action's present attempt started. A lost one is found by the next attempt, after the time-out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from duetime import ids
from duetime.actions.hand_overs import HandOvers
from duetime.clock import Clock
from duetime.errors import InvalidIdentifier, InvalidPayload, truncate
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT, ActionId, TenantId
from duetime.jobs.known_region import KnownRegion
from duetime.model.action import Action, ActionRef, Status
from duetime.model.hand_over import HandOverEnded, InvalidHandOver, InvalidToken
from duetime.model.hand_over_token import token_of
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.ports.regions import NoRegions
from duetime.retry import Fatal
from duetime.settings import Settings
from duetime.targets.executions import (
    ABOUT,
    ACTION_VARIABLE,
    EXECUTIONS,
    TENANT_VARIABLE,
    BatchJob,
    DurableExecution,
    EcsTask,
    Execution,
    ExecutionStatus,
    StateMachineExecution,
    execution_name,
)
from duetime.targets.grants import Grants, TargetGrant
from duetime.targets.run_execution import NAMED_BY, CallsOf

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
DescribeDurable = Callable[[str], Mapping[str, Any]]
"""Returns the description of a durable execution by its ARN."""

ENDS = frozenset({"action.cancelled", "action.failed", "run.cancelled", "run.failed"})
"""The lifecycle events that stop an execution."""

_STATES = {"SUCCEEDED": ExecutionStatus.SUCCEEDED, "ABORTED": ExecutionStatus.STOPPED}
_DURABLE = {"SUCCEEDED": ExecutionStatus.SUCCEEDED, "STOPPED": ExecutionStatus.STOPPED}


def is_event(body: object) -> bool:
    """Return whether the content of a message is an event of EventBridge, and no due message."""
    return isinstance(body, Mapping) and "detail-type" in body and isinstance(body.get("detail"), Mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnd:
    """An execution that has ended, as its service reports it."""

    about: Mapping[str, Any]
    """The action and the tenant, as the start wrote them."""
    payload: type[Execution]
    arn: str
    """What was executed."""
    name: str
    status: ExecutionStatus
    message: str = ""
    result: Any = None

    @property
    def ref(self) -> ActionRef | None:
        """The action; None if the event names none."""
        tenant, action = self.about.get("tenant"), self.about.get("action")
        if not isinstance(action, str) or not ids.is_action_id(action):
            return None
        try:
            owner = SYSTEM_TENANT if tenant == SYSTEM_TENANT else ids.tenant(str(tenant))
        except InvalidIdentifier:
            return None
        return ActionRef(owner, ActionId(action))


class StatusEvents:
    """Handles the events of a stack's granted executions, and the ends of their actions."""

    def __init__(
        self,
        grants: Grants,
        calls_of: CallsOf,
        describe: DescribeDurable,
        *,
        store: ActionStore,
        jobs: Callable[[], JobStore] | None,
        clock: Clock,
        settings: Settings,
        region: KnownRegion | None = None,
    ) -> None:
        self._grants, self._calls_of, self._describe, self._store = grants, calls_of, describe, store
        self._prefix = settings.prefix
        self._hand_overs = HandOvers(
            store,
            jobs,
            clock=clock,
            settings=settings,
            tenants=None,
            region=region or KnownRegion(NoRegions(), clock),
            jitter_draw=lambda: 0.0,
        )

    def __call__(self, event: Event) -> None:
        """Handle an event.

        Raises:
            DuetimeError: it must come again: its action is not handed over yet, or a service did not answer.
        """
        if event.get("source") == EVENT_SOURCE:
            self._stop(event)
        elif (end := _end_of(event, self._describe)) is not None:
            self._end(end)

    def _end(self, end: ExecutionEnd) -> None:
        row = None if end.ref is None else self._store.get(end.ref)
        if row is None or row.status is not Status.PROCESSING or not self._started(row, end):
            log.info("event of no waiting action", extra={"execution": end.name})
            return
        token = token_of(row)
        try:
            if end.status is ExecutionStatus.SUCCEEDED:
                self._complete(token, end.result)
            else:
                retry = end.status is ExecutionStatus.FAILED
                reason = f"the execution {end.status.value}: {end.message}".removesuffix(": ")
                self._hand_overs.fail(token, reason, retry)
        except (HandOverEnded, InvalidToken) as ended:
            log.info("event changes nothing", extra={"action": row.id, "reason": truncate(ended)})

    def _complete(self, token: str, result: Any) -> None:
        try:
            self._hand_overs.complete(token, result)
        except InvalidHandOver:  # too large to store
            self._hand_overs.complete(token)

    def _started(self, row: Action, end: ExecutionEnd) -> bool:
        """Return whether the row's present attempt started the execution, of what its payload names."""
        if row.type != end.payload.type_name or end.name != execution_name(row.id, row.attempt):
            return False
        grant = self._grant_of(row)
        return grant is not None and _family(grant.arn) == _family(end.arn)

    def _stop(self, event: Event) -> None:
        detail = event["detail"]
        about = detail.get("action", {})
        if event["detail-type"] not in ENDS or detail.get("deployment") != self._prefix:
            return
        row = self._store.get(ActionRef(TenantId(str(detail["tenant_id"])), ActionId(str(about.get("id")))))
        grant = None if row is None else self._grant_of(row)
        if row is None or grant is None or row.status not in {Status.CANCELLED, Status.FAILED}:
            return
        name = execution_name(row.id, row.attempt)
        self._calls_of(grant).stop(grant.arn, name, f"its action is {row.status.value}")

    def _grant_of(self, row: Action) -> TargetGrant | None:
        payload_type = next((kind for kind in EXECUTIONS if kind.type_name == row.type), None)
        if payload_type is None or row.payload is None:
            return None
        try:
            payload = payload_type.from_json(row.payload)
            found = self._grants.find(payload_type, getattr(payload, NAMED_BY[payload_type]), row.tenant_id)
        except (Fatal, InvalidPayload):  # no longer granted, or damaged
            return None
        return found if isinstance(found, TargetGrant) else None


def _family(arn: str) -> str:
    """Return an ARN without its revision or qualifier: a deploy changes those while executions run."""
    parts = arn.split(":")
    longest = 7 if parts[2] in {"lambda", "states"} else 6
    return ":".join(parts[:longest])


def _end_of(event: Event, describe: DescribeDurable) -> ExecutionEnd | None:
    """Return the end that an event reports; None if it reports none."""
    detail = event["detail"]
    match event.get("source"), event["detail-type"]:
        case "aws.states", "Step Functions Execution Status Change":
            return _of_state_machine(detail)
        case "aws.ecs", "ECS Task State Change":
            return _of_task(detail)
        case "aws.batch", "Batch Job State Change":
            return _of_job(detail)
        case "aws.lambda", "Durable Execution Status Change":
            return _of_durable(detail, describe)
    return None


def _of_state_machine(detail: Event) -> ExecutionEnd | None:
    status = str(detail.get("status"))
    if status in {"RUNNING", "PENDING_REDRIVE"}:
        return None
    return ExecutionEnd(
        about=_about(detail.get("input")),
        payload=StateMachineExecution,
        arn=str(detail.get("stateMachineArn")),
        name=str(detail.get("name")),
        status=_STATES.get(status, ExecutionStatus.FAILED),
        message=_joined(detail.get("error"), detail.get("cause")),
        result=_parsed(detail.get("output")),
    )


def _of_task(detail: Event) -> ExecutionEnd | None:
    from duetime.aws.execution_calls import ecs_status  # noqa: PLC0415 - only where events come

    status = ExecutionStatus(ecs_status(detail))
    if status is ExecutionStatus.RUNNING:
        return None
    overrides = detail.get("overrides", {}).get("containerOverrides", [])
    codes = [f"{one.get('name')} exited with {one.get('exitCode')}" for one in detail.get("containers", [])]
    return ExecutionEnd(
        about=_of_variables([entry for one in overrides for entry in one.get("environment", [])]),
        payload=EcsTask,
        arn=str(detail.get("taskDefinitionArn")),
        name=str(detail.get("startedBy")),
        status=status,
        message=_joined(detail.get("stoppedReason"), ", ".join(codes)),
    )


def _of_job(detail: Event) -> ExecutionEnd | None:
    from duetime.aws.execution_calls import batch_status  # noqa: PLC0415 - only where events come

    status = ExecutionStatus(batch_status(detail))
    if status is ExecutionStatus.RUNNING:
        return None
    return ExecutionEnd(
        about=_of_variables(detail.get("container", {}).get("environment", [])),
        payload=BatchJob,
        arn=str(detail.get("jobDefinition")),
        name=str(detail.get("jobName")),
        status=status,
        message=_joined(detail.get("statusReason"), detail.get("container", {}).get("reason")),
    )


def _of_durable(detail: Event, describe: DescribeDurable) -> ExecutionEnd | None:
    status = str(detail.get("status"))
    if status == "RUNNING":
        return None
    found = describe(str(detail.get("durableExecutionArn")))
    error = found.get("Error") or {}
    return ExecutionEnd(
        about=_about(found.get("InputPayload")),
        payload=DurableExecution,
        arn=str(detail.get("functionArn")),
        name=str(detail.get("durableExecutionName")),
        status=_DURABLE.get(status, ExecutionStatus.FAILED),
        message=_joined(error.get("ErrorType"), error.get("ErrorMessage")),
        result=_parsed(found.get("Result")),
    )


def _about(given: object) -> Mapping[str, Any]:
    found = _parsed(given)
    about = found.get(ABOUT) if isinstance(found, Mapping) else None
    return about if isinstance(about, Mapping) else {}


def _of_variables(entries: object) -> Mapping[str, Any]:
    listed = entries if isinstance(entries, list) else []
    found = {entry.get("name"): entry.get("value") for entry in listed if isinstance(entry, Mapping)}
    return {"action": found.get(ACTION_VARIABLE), "tenant": found.get(TENANT_VARIABLE)}


def _parsed(written: object) -> Any:
    try:
        return json.loads(written) if isinstance(written, str) else None
    except (ValueError, RecursionError):
        return None


def _joined(*texts: object) -> str:
    return truncate(": ".join(str(text) for text in texts if text), 400)
