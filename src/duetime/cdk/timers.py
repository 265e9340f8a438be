"""The groups of EventBridge Scheduler's schedules: of timers, which wake far actions, and of jobs."""

from __future__ import annotations

from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from duetime.settings import Settings


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
        ScheduleGroup(self, "Group", name=settings.schedule_group)
        ScheduleGroup(self, "Jobs", name=settings.job_group)
