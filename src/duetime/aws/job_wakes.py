"""The jobs' wakes on EventBridge: a cron schedule for each heartbeat, a rule for each trigger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, ignoring, translate_errors
from duetime.aws.timers import SERVICE as SCHEDULER
from duetime.aws.timers import target
from duetime.errors import BackendUnavailable, truncate
from duetime.ids import JobName, TenantId
from duetime.model.job import JobRef, Precision
from duetime.ports.jobs import JobWake
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

SERVICE = "EventBridge"
_TARGET = "dispatch"
_GONE = "ResourceNotFoundException"
_PATHS = {
    "id": "$.id",
    "time": "$.time",
    "source": "$.source",
    "type": "$.detail-type",
    "detail": "$.detail",
}
_EVENT = '{"id":<id>,"time":<time>,"source":<source>,"detail-type":<type>,"detail":<detail>}'
"""The event in the input of dispatch. EventBridge inserts its parts as JSON."""

_BEFORE_EVENT = ', "event": '
_KEYS = ("id", "time", "source", "detail-type", "detail")
_DESCRIPTION_LIMIT = 512


class EventBridgeJobWakes:
    """Schedules in a group of their own, and rules on the bus with names that begin with the prefix.

    Of a bus' rules, this deployment owns those that invoke its dispatcher, because prefixes may overlap. See
    `duetime.ports.jobs.JobWakes`.
    """

    precision: Precision = "second"
    """The queue's delay provides the seconds."""

    def __init__(self, scheduler: EventBridgeSchedulerClient, events: Any, settings: Settings) -> None:
        self._scheduler, self._events, self._settings = scheduler, events, settings
        self._bus = settings.event_bus

    def known(self) -> Sequence[tuple[str, str]]:
        return [*self._schedules(), *self._rules()]

    def _schedules(self) -> Iterator[tuple[str, str]]:
        with translate_errors(SCHEDULER):
            listed = self._scheduler.get_paginator("list_schedules")
            for page in listed.paginate(GroupName=self._settings.made.job_group):
                yield from (("schedule", schedule["Name"]) for schedule in page["Schedules"])

    def _rules(self) -> Iterator[tuple[str, str]]:
        prefix = self._settings.prefix
        with translate_errors(SERVICE):
            listed = self._events.get_paginator("list_rule_names_by_target")
            for page in listed.paginate(TargetArn=self._settings.made.dispatch_arn, EventBusName=self._bus):
                names = (name for name in page["RuleNames"] if name.startswith(prefix))
                yield from (("rule", name.removeprefix(prefix)) for name in names)

    def owner(self, kind: str, name: str) -> JobRef | None:
        content = self._schedule_input(name) if kind == "schedule" else self._rule_input(name)
        with suppress(ValueError, LookupError, TypeError):  # of another origin
            about = json.loads(content or "")
            return JobRef(TenantId(str(about["tenant"])), JobName(str(about["job"])))
        return None

    def _schedule_input(self, name: str) -> str | None:
        with translate_errors(SCHEDULER), ignoring(_GONE):
            found = self._scheduler.get_schedule(Name=name, GroupName=self._settings.made.job_group)
            return found["Target"].get("Input")
        return None

    def _rule_input(self, name: str) -> str | None:
        rule = self._settings.prefix + name
        with translate_errors(SERVICE), ignoring(_GONE):
            listed = self._events.list_targets_by_rule(Rule=rule, EventBusName=self._bus)
            return next((_without_event(template) for template in _templates(listed)), None)
        return None

    def put(self, wake: JobWake) -> None:
        if wake.kind == "schedule":
            with translate_errors(SCHEDULER, lambda: self._schedule_cures(wake)):
                self._put_schedule(wake)
        else:
            with translate_errors(SERVICE, lambda: self._rule_cures(wake)):
                self._put_rule(wake)

    def _schedule_cures(self, wake: JobWake) -> Mapping[str, str]:
        schedule = f"The schedule {wake.name} of the group {self._settings.made.job_group}"
        return {
            "ServiceQuotaExceededException": f"{schedule} has no room: an account and region may have as many"
            " schedules as its quota allows. Raise the quota of EventBridge Scheduler in Service Quotas, or"
            " delete schedules",
            _GONE: f"{schedule} needs its group, which the stack creates. Deploy the stack again",
        }

    def _rule_cures(self, wake: JobWake) -> Mapping[str, str]:
        rule, bus = f"The rule {self._settings.prefix}{wake.name}", f"the event bus {self._bus}"
        return {
            "LimitExceededException": f"{rule} has no room: {bus} may have as many rules as its quota allows,"
            " 300 by default, in some regions 100. Raise the quota of EventBridge in Service Quotas, delete"
            " rules, or set event_bus to another bus",
            _GONE: f"{rule} needs {bus}, which does not exist in this account and region. Set event_bus to an"
            " existing bus, or to <prefix>events, which the stack creates",
        }

    def _put_schedule(self, wake: JobWake) -> None:
        request: Any = {  # complete each time: an update resets each omitted argument
            "Name": wake.name,
            "GroupName": self._settings.made.job_group,
            "Description": truncate(wake.description, _DESCRIPTION_LIMIT),
            "ScheduleExpression": wake.expression,
            "ScheduleExpressionTimezone": wake.tz,
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "State": _state(wake),
            "Target": target(self._settings, json.dumps(_owner(wake))),
        }
        try:
            self._scheduler.create_schedule(**request)
        except ClientError as error:
            if code_of(error) != "ConflictException":
                raise
            self._scheduler.update_schedule(**request)

    def _put_rule(self, wake: JobWake) -> None:
        name = self._settings.prefix + wake.name
        self._events.put_rule(
            Name=name,
            EventBusName=self._bus,
            EventPattern=json.dumps(wake.pattern),
            State=_state(wake),
            Description=truncate(wake.description, _DESCRIPTION_LIMIT),
        )
        _raise_if_rejected(
            self._events.put_targets(Rule=name, EventBusName=self._bus, Targets=[self._target(wake)])
        )

    def _target(self, wake: JobWake) -> dict[str, Any]:
        target: dict[str, Any] = {
            "Id": _TARGET,
            "Arn": self._settings.made.dispatch_arn,
            "InputTransformer": {"InputPathsMap": _PATHS, "InputTemplate": _template(wake)},
        }
        if self._settings.made.timer_dlq_arn:
            target["DeadLetterConfig"] = {"Arn": self._settings.made.timer_dlq_arn}
        return target

    def remove(self, kind: str, name: str) -> None:
        if kind == "schedule":
            with translate_errors(SCHEDULER), ignoring(_GONE):
                self._scheduler.delete_schedule(Name=name, GroupName=self._settings.made.job_group)
        else:
            with translate_errors(SERVICE), ignoring(_GONE):
                rule = self._settings.prefix + name
                _raise_if_rejected(
                    self._events.remove_targets(Rule=rule, EventBusName=self._bus, Ids=[_TARGET])
                )
                self._events.delete_rule(Name=rule, EventBusName=self._bus)

    def dispatch_input(self, rule_arn: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input of dispatch that a rule creates from an event.

        Raises:
            LookupError: the rule does not exist, or does not invoke dispatch.
        """
        name = rule_arn.rpartition("/")[2]
        with translate_errors(SERVICE):
            try:
                listed = self._events.list_targets_by_rule(Rule=name, EventBusName=self._bus)
            except ClientError as error:
                if code_of(error) != _GONE:
                    raise
                raise LookupError(f"the rule {name} does not exist") from error
        template = next(_templates(listed), None)
        if template is None:
            raise LookupError(f"the rule {name} has no target")
        content: dict[str, Any] = json.loads(_without_event(template))
        return {**content, "event": {key: event.get(key) for key in _KEYS}}


def _owner(wake: JobWake) -> dict[str, str]:
    return {"job": wake.ref.name, "tenant": wake.ref.tenant_id}


def _template(wake: JobWake) -> str:
    """Return the template of the input of dispatch. A ``<`` is escaped, because it begins a placeholder."""
    content = json.dumps({**_owner(wake), "cadence": wake.cadence})
    escaped = content.replace("<", "\\u003c").replace(">", "\\u003e")
    return f"{escaped[:-1]}{_BEFORE_EVENT}{_EVENT}}}"


def _templates(listed: Any) -> Iterator[str]:
    targets = (entry for entry in listed["Targets"] if "InputTransformer" in entry)
    return (entry["InputTransformer"]["InputTemplate"] for entry in targets)


def _without_event(template: str) -> str:
    """Return the part of a template that names the job, as JSON."""
    return template.partition(_BEFORE_EVENT)[0] + "}"


def _state(wake: JobWake) -> Any:
    return "ENABLED" if wake.is_enabled else "DISABLED"


def _raise_if_rejected(answer: Any) -> None:
    """Raise for rejected targets: the response lists them and is no error."""
    failed = [entry for entry in answer.get("FailedEntries", ()) if entry.get("ErrorCode") != _GONE]
    if failed:
        raise BackendUnavailable(SERVICE, f"{failed[0].get('ErrorCode')}: {failed[0].get('ErrorMessage')}")
