"""The repeated passes: EventBridge Scheduler calls the sweep each minute and the catch-up every six hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from duetime.cdk.functions import DuetimeFunction
from duetime.cdk.timers import ScheduleGroup
from duetime.cdk.wakes import WakeRole

_UNITS = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PassSpec:
    """One function, and how often it is called."""

    name: str
    function: DuetimeFunction
    rate: timedelta
    retries: int
    """How often a call is repeated that Lambda did not take; the next pass makes up for one that is lost."""


class PassFunctions(Construct):
    """The schedules of the passes, in a group of their own."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        group_name: str,
        failures: str,
        passes: tuple[PassSpec, ...],
    ) -> None:
        super().__init__(scope, construct_id)
        group = ScheduleGroup(self, "Group", name=group_name)
        arns = [each.function.function.function_arn for each in passes]
        role = WakeRole(self, "Wake", groups=[group.name], functions=arns, failures=failures).role
        for each in passes:
            schedule = scheduler.CfnSchedule(
                self,
                each.name,
                name=each.name,
                group_name=group.name,
                description=f"duetime: calls {each.name}",
                schedule_expression=rate(each.rate),
                flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
                target=scheduler.CfnSchedule.TargetProperty(
                    arn=each.function.function.function_arn,
                    role_arn=role.role_arn,
                    input="{}",
                    retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                        maximum_retry_attempts=each.retries,
                        maximum_event_age_in_seconds=max(
                            60, int(min(each.rate, _LONGEST_AGE).total_seconds())
                        ),
                    ),
                    dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=failures),
                ),
            )
            schedule.node.add_dependency(group.resource)


_LONGEST_AGE = timedelta(hours=1)


def rate(every: timedelta) -> str:
    """``rate(6 hours)``: in the largest unit that divides it; EventBridge wants a singular for one."""
    unit, length = next((unit, length) for unit, length in _UNITS if not every % length)
    count = every // length
    return f"rate({count} {unit}{'' if count == 1 else 's'})"
