"""What wakes far actions: EventBridge Scheduler's group of one-shots, and the role in which it wakes dispatch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from duetime.cdk.functions import Function
from duetime.cdk.rights import may, send
from duetime.cdk.rules import accept_wildcard
from duetime.settings import Settings


class ScheduleGroup(Construct):
    """A group of schedules; they go with it, so that nothing wakes a stack that is gone."""

    def __init__(self, scope: Construct, construct_id: str, *, name: str) -> None:
        super().__init__(scope, construct_id)
        self.name = name
        self.resource = scheduler.CfnScheduleGroup(self, "Group", name=name)
        stack = Stack.of(self)
        self.arn = stack.format_arn(service="scheduler", resource="schedule-group", resource_name=name)
        self.schedules_arn = stack.format_arn(
            service="scheduler", resource="schedule", resource_name=f"{name}/*"
        )


class WakeRole(Construct):
    """The role in which EventBridge Scheduler calls some functions, for the schedules of one group only."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        group: ScheduleGroup,
        functions: Sequence[str],
        failures: str,
    ) -> None:
        super().__init__(scope, construct_id)
        of_this_group = {
            "StringEquals": {"aws:SourceAccount": Stack.of(self).account},
            "ArnEquals": {"aws:SourceArn": group.arn},
        }
        wake = [may("lambda:InvokeFunction", on=functions), send(failures)]
        self.role = iam.Role(
            self,
            "Role",
            description=f"duetime: wakes by the schedules of {group.name}",
            assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=of_this_group),
            inline_policies={"wake": iam.PolicyDocument(statements=wake)},
        )


class Timers(Construct):
    """The one-shots that wake dispatch, and who may set them.

    With ``timers="wheel"`` nobody sets or clears any; those that are still set fire, and their messages are doubles.
    """

    def __init__(
        self, scope: Construct, construct_id: str, settings: Settings, *, dispatch: str, failures: str
    ) -> None:
        super().__init__(scope, construct_id)
        self._group = ScheduleGroup(self, "Group", name=settings.schedule_group)
        self._role = WakeRole(self, "Wake", group=self._group, functions=[dispatch], failures=failures).role
        self._are_set = settings.timers == "eventbridge"
        self.settings = replace(
            settings, dispatch_arn=dispatch, timer_role_arn=self._role.role_arn, timer_dlq_arn=failures
        )
        """What a function that sets timers must know besides."""

    def rights_to_set(self) -> list[iam.PolicyStatement]:
        """Create one-shots, and hand them the role that wakes dispatch."""
        if not self._are_set:
            return []
        to_scheduler: dict[str, object] = {"iam:PassedToService": "scheduler.amazonaws.com"}
        return [
            may("scheduler:CreateSchedule", on=self._group.schedules_arn),
            may("iam:PassRole", on=self._role.role_arn, StringEquals=to_scheduler),
        ]

    def rights_to_clear(self) -> list[iam.PolicyStatement]:
        """Delete one-shots."""
        return [may("scheduler:DeleteSchedule", on=self._group.schedules_arn)] if self._are_set else []

    def accept_wildcard(self, function: Function) -> None:
        """Tell cdk-nag why a function's rights name no single schedule."""
        reason = "One-shots are named by the actions that they wake."
        accept_wildcard(function.role, self._group.schedules_arn, reason)
