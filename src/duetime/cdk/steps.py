"""The functions dispatch, arm, sweep and catch-up. They contain no user code, and share one bundle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws.tables import DUE
from duetime.cdk.bundle import Bundle
from duetime.cdk.changes import StreamSource
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec, memory_of
from duetime.cdk.job_rights import (
    CHECKS,
    CODES,
    JOBS,
    let_backfill,
    let_find_due,
    let_plan,
    let_start_by_events,
)
from duetime.cdk.queues import visibility_of
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import (
    keep_bookmarks,
    let_follow,
    may,
    may_by_key,
    read_stream,
    take_from,
)
from duetime.cdk.rules import accept_wildcard
from duetime.cdk.wakes import DISPATCH, TimerResources
from duetime.cdk.worker import feed
from duetime.lambdas.arm import FILTERS
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER

CATCH_UP_TIMEOUT = timedelta(minutes=15)
"""The function also serves the queue of the system's worker, whose visibility time-out is longer for it."""

DISPATCH_MEMORY_SHARE, ARM_MEMORY_SHARE = 0.25, 0.5
"""Parts of `function_memory`, as both sleep for most of their time and pay for their memory meanwhile.

Arm has more: the first near action waits for arm's start.
"""

_HOUR = timedelta(hours=1)
_ARM_RETRIES = 10
_ARMED_WITHIN = _HOUR
"""The sweep sends unarmed actions long before that."""


class StepFunctions(Construct):
    """The functions between a row and its worker."""

    def __init__(self, scope: Construct, construct_id: str, resources: SharedResources) -> None:
        super().__init__(scope, construct_id)
        self._resources, self._wakes, self._tables = resources, resources.wakes, resources.tables
        actions, jobs = self._tables.actions.table_arn, self._tables.jobs.table_arn
        self._to_plan = let_plan(actions, jobs)
        self._to_scan = [
            may("dynamodb:Query", on=self._tables.index_arn(DUE.name)),
            may("dynamodb:BatchGetItem", on=actions),
            keep_bookmarks(jobs),
        ]
        self._to_maintain = [
            *self._to_plan,
            *let_backfill(actions),
            *let_find_due(jobs),
            *self._wakes.let_set_jobs(),
            *self._wakes.let_set_timers(),
        ]
        self._code = Bundle.for_deployment(resources.deployment).code()
        self._settings_to_wake = replace(self._wakes.settings, app="").with_made(
            queues=resources.queue_urls,
            failure_queue=resources.failures.queue_url,
            sleeps_from=_sleeps_from(resources.deployment),
        )
        TimerResources(self, "Timers", resources.settings)
        self.dispatch = self._dispatch()
        self.sweep = self._sweep()
        self.catch_up = self._catch_up()
        self.arm = self._arm()

    def _dispatch(self) -> DuetimeFunction:
        """Create dispatch. Its own policy allows EventBridge's rules to call it, since a rule has no role."""
        dispatch = self._function(
            DISPATCH,
            "turns a timer's wake into a due message, and plans and starts jobs",
            [*self._to_plan, *let_start_by_events(self._tables.actions.table_arn)],
            timeout=timedelta(seconds=30),
            settings=replace(self._resources.settings, app="").with_made(queues=self._resources.queue_urls),
            retries=2,
            memory_share=DISPATCH_MEMORY_SHARE,
        )
        dispatch.function.add_permission(
            "Rules",
            principal=iam.ServicePrincipal("events.amazonaws.com"),
            source_arn=self._wakes.rules_arn,
        )
        return dispatch

    def _sweep(self) -> DuetimeFunction:
        """Create the sweep. A failed sweep is not retried: the next one follows within a minute."""
        canary = self._resources.deployment.canary
        sweep = self._function(
            "sweep",
            "sends overdue rows again, maintains jobs, and is the wheel if timers=wheel",
            [
                *self._to_scan,
                *self._to_maintain,
                *let_follow(self._tables.actions.table_arn),
            ],
            timeout=timedelta(seconds=55),
            settings=self._settings_to_wake.with_made(canary=canary),
            retries=0,
        )
        self._wakes.accept_timers(sweep)
        self._wakes.accept_jobs(sweep)
        return sweep

    def _catch_up(self) -> DuetimeFunction:
        """Create the catch-up. It is also the worker of triggered passes and of checks of deadlines."""
        queue = self._resources.due[SYSTEM_WORKER].queue
        rows = self._tables.actions.table_arn
        to_run_passes = ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem")
        catch_up = self._function(
            "catch_up",
            "sends all overdue rows again, however late, and repairs schedules and rules on EventBridge",
            [
                *self._to_scan,
                *self._to_maintain,
                *let_follow(rows),
                *self._wakes.let_list_jobs(),
                may_by_key(*to_run_passes, on=rows, keys=[*CODES, *CHECKS]),
                may_by_key("dynamodb:GetItem", on=rows, keys=JOBS),
                take_from(queue.queue_arn),
            ],
            timeout=CATCH_UP_TIMEOUT,
            settings=self._settings_to_wake.with_made(queue_visibility=visibility_of(CATCH_UP_TIMEOUT)),
            retries=1,
            sends_to_own_queue=True,
        )
        self._wakes.accept_timers(catch_up)
        self._wakes.accept_jobs(catch_up)
        self._wakes.accept_lists(catch_up)
        feed(self, "System", catch_up, queue)
        return catch_up

    def _arm(self) -> DuetimeFunction:
        stream = self._tables.action_stream
        arm = self._function(
            "arm",
            "creates the wake of each new pending action",
            [
                *read_stream(stream),
                may_by_key(
                    "dynamodb:DeleteItem",
                    on=self._tables.actions.table_arn,
                    keys=["*#payload#*", "*#key#*"],
                ),
                *let_follow(self._tables.actions.table_arn),
                *self._wakes.let_set_timers(),
                *self._wakes.let_clear_timers(),
                *([keep_bookmarks(self._tables.jobs.table_arn)] if self._wakes.are_timers_set else ()),
            ],
            timeout=timedelta(seconds=60),
            settings=self._settings_to_wake.with_made(
                sleeps_from=_sleeps_from(self._resources.deployment, ARM_MEMORY_SHARE)
            ),
            memory_share=ARM_MEMORY_SHARE,
        )
        self._wakes.accept_timers(arm)
        accept_wildcard(arm.role, stream.pattern, "A stream is named by the time of its creation.")
        StreamSource(
            self,
            "Changes",
            arm,
            stream=stream.arn,
            filters=FILTERS,
            failures=self._resources.failures.queue_arn,
            longest=_ARMED_WITHIN,
            retries=_ARM_RETRIES,
        )
        return arm

    def _function(
        self,
        entry: str,
        about: str,
        rights: Sequence[iam.PolicyStatement],
        *,
        timeout: timedelta,
        settings: Settings,
        retries: int | None = None,
        memory_share: float = 1,
        sends_to_own_queue: bool = False,
    ) -> DuetimeFunction:
        """Create a function that sends messages.

        Args:
            entry: its entry point.
            about: its description.
            rights: its rights, beside those to send messages.
            timeout: Lambda's.
            settings: its environment.
            retries: the retries of asynchronous calls; `None` if nothing calls it asynchronously.
            memory_share: see `FunctionSpec`, also of `sends_to_own_queue`.
            sends_to_own_queue: as above.
        """
        spec = FunctionSpec(
            name=f"{settings.prefix}{entry.replace('_', '-')}",
            about=about,
            entry=entry,
            timeout=timeout,
            environment=settings.to_env(),
            rights=[*self._resources.rights_to_send(), *rights],
            memory_share=memory_share,
            sends_to_own_queue=sends_to_own_queue,
        )
        function = DuetimeFunction(self, entry, spec, self._code, self._resources.deployment)
        if retries is not None:
            function.set_retries(retries, at_most=_HOUR, failures=self._resources.failures.queue_arn)
        return function


def _sleeps_from(deployment: Deployment, share: float = 1) -> int:
    """Return the fewest messages for which a function's sleep costs no more than their workers' waits.

    The function sleeps for up to a second. Without that, each worker waits for half a second on average. Both
    pay for their memory.

    Args:
        deployment: has the memory of the functions and of the workers.
        share: the function's part of `function_memory`.
    """
    return max(1, math.ceil(2 * memory_of(deployment, share) / deployment.worker_memory))
