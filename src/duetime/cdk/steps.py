"""The functions dispatch, arm, sweep and catch-up. They contain no user code, and share one bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws.tables import DUE
from duetime.cdk.bundle import Bundle
from duetime.cdk.changes import StreamSource
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.job_rights import CODES, let_find_due, let_plan, let_start_by_events
from duetime.cdk.queues import visibility_of
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import keep_bookmarks, may, may_by_key, read_stream, take_from
from duetime.cdk.rules import accept_wildcard
from duetime.cdk.timers import TimerResources
from duetime.cdk.wakes import DISPATCH
from duetime.cdk.worker import feed
from duetime.lambdas.arm import FILTERS
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER

CATCH_UP_TIMEOUT = timedelta(minutes=15)
"""The function also serves the queue of the system's worker, whose visibility time-out is longer for it."""

_HOUR = timedelta(hours=1)
_ARM_RETRIES = 10
_ARMED_WITHIN = _HOUR
"""The sweep sends unarmed actions long before that."""
_PASSES_AT_ONCE = 2
"""Triggered passes; the minimum of an event source."""


class StepFunctions(Construct):
    """The functions between a row and its worker."""

    def __init__(self, scope: Construct, construct_id: str, resources: SharedResources) -> None:
        super().__init__(scope, construct_id)
        self._resources, self._wakes = resources, resources.wakes
        self._code = Bundle.for_deployment(resources.deployment).code()
        self._settings = replace(resources.settings, app="", queues=resources.queue_urls)
        self._settings_to_wake = replace(self._wakes.settings, app="", queues=resources.queue_urls)
        TimerResources(self, "Timers", resources.settings)
        self.dispatch = self._dispatch()
        self.sweep = self._sweep()
        self.catch_up = self._catch_up()
        self.arm = self._arm()

    def _dispatch(self) -> DuetimeFunction:
        """Create dispatch. Its own policy allows EventBridge's rules to call it, since a rule has no role."""
        about = "turns a timer's wake into a due message, and plans and starts jobs"
        spec = self._spec(DISPATCH, about, timedelta(seconds=30), self._settings)
        dispatch = self._function(spec, self._to_plan(), self._to_start_by_events(), retries=2)
        dispatch.function.add_permission(
            "Rules",
            principal=iam.ServicePrincipal("events.amazonaws.com"),
            source_arn=self._wakes.rules_arn,
        )
        return dispatch

    def _sweep(self) -> DuetimeFunction:
        """Create the sweep. A failed sweep is not retried: the next one follows within a minute."""
        about = "sends overdue rows again, maintains jobs, and is the wheel if timers=wheel"
        spec = self._spec("sweep", about, timedelta(seconds=55), self._settings_to_wake)
        sweep = self._function(spec, self._to_scan(), self._to_maintain(), retries=0)
        self._wakes.accept_timers(sweep)
        self._wakes.accept_jobs(sweep)
        return sweep

    def _catch_up(self) -> DuetimeFunction:
        """Create the catch-up. It is also the worker of the system's jobs: triggered sweeps and catch-ups."""
        about = "sends all overdue rows again, however late, and repairs schedules and rules on EventBridge"
        queue = self._resources.due[SYSTEM_WORKER].queue
        settings = replace(self._settings_to_wake, queue_visibility=visibility_of(CATCH_UP_TIMEOUT))
        spec = self._spec("catch_up", about, CATCH_UP_TIMEOUT, settings)
        catch_up = self._function(
            replace(spec, sends_to_own_queue=True),
            self._to_scan(),
            self._to_maintain(),
            self._wakes.let_list_jobs(),
            self._to_run_passes(),
            [take_from(queue.queue_arn)],
            retries=1,
        )
        self._wakes.accept_timers(catch_up)
        self._wakes.accept_jobs(catch_up)
        self._wakes.accept_lists(catch_up)
        feed(self, "System", catch_up, queue, at_once=_PASSES_AT_ONCE)
        return catch_up

    def _arm(self) -> DuetimeFunction:
        tables, wakes = self._resources.tables, self._wakes
        about = "creates the wake of each new pending action"
        spec = self._spec("arm", about, timedelta(seconds=60), self._settings_to_wake)
        own = [
            *read_stream(tables.stream_arn, tables.streams_arn),
            may_by_key("dynamodb:DeleteItem", on=tables.actions.table_arn, keys=["*#payload#*", "*#key#*"]),
        ]
        arm = self._function(spec, own, wakes.let_set_timers(), wakes.let_clear_timers())
        wakes.accept_timers(arm)
        accept_wildcard(arm.role, tables.streams_arn, "A stream is named by the time of its creation.")
        StreamSource(
            self,
            "Changes",
            arm,
            stream=tables.stream_arn,
            filters=FILTERS,
            failures=self._resources.failures.queue_arn,
            longest=_ARMED_WITHIN,
            retries=_ARM_RETRIES,
        )
        return arm

    def _to_scan(self) -> list[iam.PolicyStatement]:
        tables = self._resources.tables
        return [
            may("dynamodb:Query", on=tables.index_arn(DUE.name)),
            may("dynamodb:BatchGetItem", on=tables.actions.table_arn),
            keep_bookmarks(tables.jobs.table_arn),
        ]

    def _to_plan(self) -> list[iam.PolicyStatement]:
        tables = self._resources.tables
        return let_plan(tables.actions.table_arn, tables.jobs.table_arn)

    def _to_start_by_events(self) -> list[iam.PolicyStatement]:
        return let_start_by_events(self._resources.tables.actions.table_arn)

    def _to_run_passes(self) -> list[iam.PolicyStatement]:
        """Allow to claim and settle runs of the system's jobs."""
        rights = ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem")
        return [may_by_key(*rights, on=self._resources.tables.actions.table_arn, keys=CODES)]

    def _to_maintain(self) -> list[iam.PolicyStatement]:
        """Allow to maintain late jobs, and to set timers for far actions; a pass records itself as a run."""
        return [
            *self._to_plan(),
            *let_find_due(self._resources.tables.jobs.table_arn),
            *self._wakes.let_set_jobs(),
            *self._wakes.let_set_timers(),
        ]

    def _spec(self, entry: str, about: str, timeout: timedelta, settings: Settings) -> FunctionSpec:
        return FunctionSpec(
            name=f"{settings.prefix}{entry.replace('_', '-')}",
            about=about,
            entry=entry,
            timeout=timeout,
            environment=settings.to_env(),
            rights=self._resources.rights_to_send(),
        )

    def _function(
        self, spec: FunctionSpec, *rights: Sequence[iam.PolicyStatement], retries: int | None = None
    ) -> DuetimeFunction:
        """Create a function that sends messages, with further rights.

        Args:
            spec: its rights are extended.
            rights: the further rights.
            retries: the retries of asynchronous calls; `None` if nothing calls it asynchronously.
        """
        extended = replace(spec, rights=[*spec.rights, *(right for group in rights for right in group)])
        function = DuetimeFunction(self, spec.entry, extended, self._code, self._resources.deployment)
        if retries is not None:
            failures = self._resources.failures.queue_arn
            function.set_retries(retries, at_most=_HOUR, failures=failures)
        return function
