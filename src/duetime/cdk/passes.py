"""The schedules of the passes: by default the sweep every minute and the catch-up every six hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from duetime.cdk.functions import DuetimeFunction
from duetime.cdk.wakes import ScheduleGroup, WakeRole
from duetime.wakeups.system_jobs import rate_expression


@dataclass(frozen=True, slots=True, kw_only=True)
class PassSpec:
    """One pass: its function, its rate, and the retries of a call that Lambda did not accept.

    The next pass does the work of a lost one.
    """

    name: str
    function: DuetimeFunction
    rate: timedelta
    retries: int


class PassFunctions(Construct):
    """Calls the passes by schedules in their own group."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        group_name: str,
        failures: str,
        key: str,
        passes: tuple[PassSpec, ...],
    ) -> None:
        super().__init__(scope, construct_id)
        group = ScheduleGroup(self, "Group", name=group_name)
        arns = [spec.function.function.function_arn for spec in passes]
        role = WakeRole(self, "Wake", groups=[group.name], functions=arns, failures=failures, key=key).role
        for spec in passes:
            schedule = scheduler.CfnSchedule(
                self,
                spec.name,
                name=spec.name,
                group_name=group.name,
                description=f"duetime: calls {spec.name}",
                schedule_expression=rate_expression(spec.rate),
                flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
                target=scheduler.CfnSchedule.TargetProperty(
                    arn=spec.function.function.function_arn,
                    role_arn=role.role_arn,
                    input="{}",
                    retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                        maximum_retry_attempts=spec.retries,
                        maximum_event_age_in_seconds=max(
                            60, int(min(spec.rate, _LONGEST_AGE).total_seconds())
                        ),
                    ),
                    dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=failures),
                ),
            )
            schedule.node.add_dependency(group.resource)


_LONGEST_AGE = timedelta(hours=1)
