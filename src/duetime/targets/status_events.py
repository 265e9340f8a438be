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
from duetime.errors import HandOverEnded, InvalidArgument, InvalidPayload, NotFound, truncate
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT, ActionId, TenantId
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.action import Action, ActionRef, Status
from duetime.model.hand_over_token import token_of
from duetime.ports.backends import Backends
from duetime.retry import Fatal
from duetime.targets.executions import (
    ABOUT,
    ACTION_VARIABLE,
    TENANT_VARIABLE,
    CallsOf,
    ExecutionStatus,
    execution_name,
)
from duetime.targets.grants import Grants, TargetGrant
from duetime.targets.payloads import (
    EXECUTIONS,
    BatchJob,
    DurableExecution,
    EcsTask,
    Execution,
    StateMachineExecution,
)

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
DescribeDurable = Callable[[str], Mapping[str, Any]]
"""Returns the description of a durable execution by its ARN."""

ENDS = frozenset({"action.cancelled", "action.failed", "run.cancelled", "run.failed"})
"""The lifecycle events that stop an execution."""

_REPORTS: Mapping[tuple[str, str], tuple[type[Execution], str, str]] = {
    ("aws.states", "Step Functions Execution Status Change"): (
        StateMachineExecution,
        "stateMachineArn",
        "name",
    ),
    ("aws.ecs", "ECS Task State Change"): (EcsTask, "taskDefinitionArn", "startedBy"),
    ("aws.batch", "Batch Job State Change"): (BatchJob, "jobDefinition", "jobName"),
    ("aws.lambda", "Durable Execution Status Change"): (
        DurableExecution,
        "functionArn",
        "durableExecutionName",
    ),
}
"""By an event's source and type: what has ended, and the fields of its ARN and its name."""
_STATUSES = {
    "RUNNING": ExecutionStatus.RUNNING,
    "PENDING_REDRIVE": ExecutionStatus.RUNNING,
    "SUCCEEDED": ExecutionStatus.SUCCEEDED,
    "ABORTED": ExecutionStatus.STOPPED,
    "STOPPED": ExecutionStatus.STOPPED,
}
"""Of Step Functions and of durable functions; the others are failures."""


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
        except InvalidArgument:
            return None
        return ActionRef(owner, ActionId(action))


class StatusEvents:
    """Handles the events of a stack's granted executions, and the ends of their actions."""

    def __init__(
        self,
        grants: Grants,
        calls_of: CallsOf,
        describe: DescribeDurable,
        backends: Backends,
    ) -> None:
        self._grants, self._calls_of, self._describe = grants, calls_of, describe
        self._store, self._prefix = backends.store, backends.settings.prefix
        self._hand_overs = HandOvers(
            backends.store,
            lambda: backends.jobs,
            clock=backends.clock,
            settings=backends.settings,
            tenants=None,
            region=KnownRegion(backends.regions, backends.clock),
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
        except (HandOverEnded, NotFound) as ended:
            log.info("event changes nothing", extra={"action": row.id, "reason": truncate(ended)})

    def _complete(self, token: str, result: Any) -> None:
        try:
            self._hand_overs.complete(token, result)
        except InvalidArgument:  # too large to store
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
            found = self._grants.find(payload_type.from_json(row.payload), row.tenant_id)
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
    detail, report = event["detail"], _REPORTS.get((str(event.get("source")), event["detail-type"]))
    if report is None or (status := _status_of(report[0], detail)) is ExecutionStatus.RUNNING:
        return None
    payload, arn, name = report
    about: Mapping[str, Any]
    texts: tuple[object, object]
    output: object = None
    if payload is EcsTask:
        overrides = detail.get("overrides", {}).get("containerOverrides", [])
        codes = [
            f"{one.get('name')} exited with {one.get('exitCode')}" for one in detail.get("containers", [])
        ]
        about = _of_variables([entry for one in overrides for entry in one.get("environment", [])])
        texts = detail.get("stoppedReason"), ", ".join(codes)
    elif payload is BatchJob:
        container = detail.get("container", {})
        about = _of_variables(container.get("environment", []))
        texts = detail.get("statusReason"), container.get("reason")
    elif payload is StateMachineExecution:
        about, output = _about(detail.get("input")), detail.get("output")
        texts = detail.get("error"), detail.get("cause")
    else:
        found = describe(str(detail.get("durableExecutionArn")))
        error = found.get("Error") or {}
        about, output = _about(found.get("InputPayload")), found.get("Result")
        texts = error.get("ErrorType"), error.get("ErrorMessage")
    return ExecutionEnd(
        about=about,
        payload=payload,
        arn=str(detail.get(arn)),
        name=str(detail.get(name)),
        status=status,
        message=truncate(": ".join(str(text) for text in texts if text), 400),
        result=_parsed(output),
    )


def _status_of(payload: type[Execution], detail: Event) -> ExecutionStatus:
    from duetime.aws.execution_calls import batch_status, ecs_status  # noqa: PLC0415 - only where events come

    if payload is EcsTask:
        return ExecutionStatus(ecs_status(detail))
    if payload is BatchJob:
        return ExecutionStatus(batch_status(detail))
    return _STATUSES.get(str(detail.get("status")), ExecutionStatus.FAILED)


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
