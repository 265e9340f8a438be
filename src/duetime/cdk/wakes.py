"""The groups of schedules, the role in which EventBridge wakes dispatch, and the rights to set wakes.

Everything is referred to by name: the deploy function sets the jobs' wakes, and is created before dispatch.
"""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from duetime.cdk.functions import DuetimeFunction
from duetime.cdk.hardening import use_key
from duetime.cdk.rights import may, send
from duetime.cdk.rules import accept, accept_wildcard
from duetime.settings import Settings

DEFAULT_BUS = "default"
DISPATCH, FAILURES = "dispatch", "failures"
"""The names of the function and of the queue, without the prefix."""


class ScheduleGroup(Construct):
    """A group of schedules. They are deleted with it, so that nothing wakes a deleted stack."""

    def __init__(self, scope: Construct, construct_id: str, *, name: str) -> None:
        super().__init__(scope, construct_id)
        self.name = name
        self.resource = scheduler.CfnScheduleGroup(self, "Group", name=name)


class TimerResources(Construct):
    """The groups whose schedules wake dispatch. Functions create the schedules."""

    def __init__(self, scope: Construct, construct_id: str, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        ScheduleGroup(self, "Group", name=settings.made.schedule_group)
        ScheduleGroup(self, "Jobs", name=settings.made.job_group)


class WakeRole(Construct):
    """The role in which EventBridge Scheduler calls functions, only for the schedules of some groups."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        groups: Sequence[str],
        functions: Sequence[str],
        failures: str,
        key: str,
    ) -> None:
        super().__init__(scope, construct_id)
        from_groups = {
            "StringEquals": {"aws:SourceAccount": Stack.of(self).account},
            "ArnEquals": {
                "aws:SourceArn": [_scheduler_arn(self, "schedule-group", group) for group in groups]
            },
        }
        wake = [may("lambda:InvokeFunction", on=functions), send(failures), *use_key(key)]
        self.role = iam.Role(
            self,
            "Role",
            description=f"duetime: wakes by the schedules of {' and '.join(groups)}",
            assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=from_groups),
            inline_policies={"wake": iam.PolicyDocument(statements=wake)},
        )


class Wakes(Construct):
    """The role in which timers and schedules wake dispatch, and the rights to set all wakes.

    With ``timers="wheel"`` no function sets or clears timers. Existing timers still fire; their messages are
    duplicates. Jobs' schedules and rules are the same in both modes.
    """

    def __init__(self, scope: Construct, construct_id: str, settings: Settings, *, key: str) -> None:
        super().__init__(scope, construct_id)
        stack, prefix = Stack.of(self), settings.prefix
        dispatch = stack.format_arn(
            service="lambda",
            resource="function",
            resource_name=prefix + DISPATCH,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        self._dispatch = dispatch
        failures = stack.format_arn(service="sqs", resource=prefix + FAILURES)
        groups = [settings.made.schedule_group, settings.made.job_group]
        self._role = WakeRole(
            self, "Wake", groups=groups, functions=[dispatch], failures=failures, key=key
        ).role
        self.are_timers_set = settings.timers == "eventbridge"
        self._timers = _scheduler_arn(self, "schedule", f"{settings.made.schedule_group}/*")
        self._schedules = _scheduler_arn(self, "schedule", f"{settings.made.job_group}/*")
        bus = "" if settings.event_bus == DEFAULT_BUS else f"{settings.event_bus}/"
        self.rules_arn = stack.format_arn(service="events", resource="rule", resource_name=f"{bus}{prefix}*")
        """The ARN pattern of jobs' rules, which functions create later. The default bus is not named."""
        self.settings = settings.with_made(
            dispatch_arn=dispatch, timer_role_arn=self._role.role_arn, timer_dlq_arn=failures
        )
        """The settings of a function that sets wakes."""

    def let_set_timers(self) -> list[iam.PolicyStatement]:
        """Allow to create timers, and to pass them the role that wakes dispatch."""
        if not self.are_timers_set:
            return []
        return [may("scheduler:CreateSchedule", on=self._timers), self._pass_role()]

    def let_clear_timers(self) -> list[iam.PolicyStatement]:
        """Allow to delete timers."""
        return [may("scheduler:DeleteSchedule", on=self._timers)] if self.are_timers_set else []

    def let_set_jobs(self) -> list[iam.PolicyStatement]:
        """Allow to maintain jobs' schedules, and rules with the prefix whose only target is dispatch."""
        return [
            may(
                *(f"scheduler:{verb}Schedule" for verb in ("Create", "Update", "Delete")),
                on=self._schedules,
            ),
            self._pass_role(),
            may("events:PutRule", "events:RemoveTargets", "events:DeleteRule", on=self.rules_arn),
            self._put_targets(),
        ]

    def let_list_jobs(self) -> list[iam.PolicyStatement]:
        """Allow to list schedules and rules, which AWS cannot restrict, and to read which job each has."""
        return [
            may("scheduler:ListSchedules", "events:ListRuleNamesByTarget", on="*"),
            may("scheduler:GetSchedule", on=self._schedules),
            may("events:ListTargetsByRule", on=self.rules_arn),
        ]

    def accept_timers(self, function: DuetimeFunction) -> None:
        """Accept that a function's rights name no single timer."""
        accept_wildcard(function.role, self._timers, "Timers are named by the actions that they wake.")

    def accept_jobs(self, function: DuetimeFunction) -> None:
        """Accept that a function's rights name no single schedule or rule."""
        accept_wildcard(function.role, self._schedules, "Schedules are named by the jobs that they wake.")
        accept_wildcard(function.role, self.rules_arn, "Rules are named by the jobs that they start.")

    def accept_lists(self, function: DuetimeFunction) -> None:
        """Accept that a function may list all names."""
        accept(function.role, "AwsSolutions-IAM5[Resource::*]", "Lists of names, which AWS cannot restrict.")

    def _put_targets(self) -> iam.PolicyStatement:
        """Allow to put targets, of which each must be dispatch; a request without a target is denied."""
        conditions: dict[str, dict[str, object]] = {
            "ForAllValues:ArnEquals": {"events:TargetArn": self._dispatch},
            "Null": {"events:TargetArn": "false"},
        }
        return may("events:PutTargets", on=self.rules_arn, **conditions)

    def _pass_role(self) -> iam.PolicyStatement:
        to_scheduler: dict[str, object] = {"iam:PassedToService": "scheduler.amazonaws.com"}
        return may("iam:PassRole", on=self._role.role_arn, StringEquals=to_scheduler)


def _scheduler_arn(scope: Construct, resource: str, name: str) -> str:
    return Stack.of(scope).format_arn(service="scheduler", resource=resource, resource_name=name)
