"""The functions of dispatch, arm, sweep and catch up: they hold no user code, and share one bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws.tables import DUE
from duetime.cdk.bundle import Bundle
from duetime.cdk.changes import StreamSource
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.job_rights import CODES, let_find_due, let_plan, let_start_by_events
from duetime.cdk.queues import DueQueue, visibility_of
from duetime.cdk.rights import keep_bookmarks, may, may_by_key, read_manifests, read_stream, send, take_from
from duetime.cdk.rules import accept_wildcard
from duetime.cdk.tables import Tables
from duetime.cdk.timers import TimerResources
from duetime.cdk.wakes import DISPATCH, Wakes
from duetime.cdk.worker import feed
from duetime.lambdas.arm import FILTERS
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER

CATCH_UP_TIMEOUT = timedelta(minutes=15)
"""It serves the queue of the system's worker too, whose messages stay hidden for longer."""

_HOUR = timedelta(hours=1)
_ARM_RETRIES = 10
_ARMED_WITHIN = _HOUR
"""By then the sweep has long sent what was not armed."""
_PASSES_AT_ONCE = 2
"""Triggered ones; the least that an event source takes."""


@dataclass(frozen=True, slots=True)
class StepResources:
    """What the steps read and write."""

    tables: Tables
    due: Mapping[str, DueQueue]
    wakes: Wakes
    failures: str
    """The ARN of the failure queue."""

    @property
    def queue_urls(self) -> Mapping[str, str]:
        """Each worker's due queue, as the functions are told: name to URL."""
        return {name: due.queue.queue_url for name, due in self.due.items()}

    def rights_to_send(self) -> list[iam.PolicyStatement]:
        """Find a type's queue and send there; and hand over what failed for good."""
        queues = [due.queue.queue_arn for due in self.due.values()]
        return [read_manifests(self.tables.jobs.table_arn), send([*queues, self.failures])]


class StepFunctions(Construct):
    """The functions between a row and its worker."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        places: StepResources,
        *,
        settings: Settings,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._places, self._deployment = places, deployment
        self._code = Bundle.of(deployment).code()
        self._wakes = places.wakes
        self._settings = replace(settings, app="", queues=places.queue_urls)
        self._settings_to_wake = replace(self._wakes.settings, app="", queues=places.queue_urls)
        TimerResources(self, "Timers", settings)
        self.dispatch = self._dispatch()
        self.sweep = self._sweep()
        self.catch_up = self._catch_up()
        self.arm = self._arm()

    def _dispatch(self) -> DuetimeFunction:
        """EventBridge's rules call it under its own policy, since a rule has no role."""
        about = "turns a timer's wake into a due message, and plans and starts jobs"
        duty = self._duty(DISPATCH, about, timedelta(seconds=30), self._settings)
        dispatch = self._function(duty, self._to_plan(), self._to_start_by_events(), retries=2)
        dispatch.function.add_permission(
            "Rules",
            principal=iam.ServicePrincipal("events.amazonaws.com"),
            source_arn=self._wakes.rules_arn,
        )
        return dispatch

    def _sweep(self) -> DuetimeFunction:
        """A sweep is not repeated: the next one comes within the minute."""
        about = "sends again what is overdue, attends to jobs, and is the wheel where that is chosen"
        duty = self._duty("sweep", about, timedelta(seconds=55), self._settings_to_wake)
        sweep = self._function(duty, self._to_look_through(), self._to_tend(), retries=0)
        self._wakes.accept_timers(sweep)
        self._wakes.accept_jobs(sweep)
        return sweep

    def _catch_up(self) -> DuetimeFunction:
        """It is the worker of the system's own jobs as well: of sweeps and catch-ups that somebody triggers."""
        about = "sends again all that is overdue, however late, and mends strays on EventBridge"
        queue = self._places.due[SYSTEM_WORKER].queue
        settings = replace(self._settings_to_wake, queue_visibility=visibility_of(CATCH_UP_TIMEOUT))
        duty = self._duty("catch_up", about, CATCH_UP_TIMEOUT, settings)
        catch_up = self._function(
            replace(duty, is_put_off=True),
            self._to_look_through(),
            self._to_tend(),
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
        tables, wakes = self._places.tables, self._wakes
        about = "gives what became pending its wake"
        duty = self._duty("arm", about, timedelta(seconds=60), self._settings_to_wake)
        own = [
            *read_stream(tables.stream_arn, tables.streams_arn),
            may_by_key("dynamodb:DeleteItem", on=tables.actions.table_arn, keys=["*#payload#*", "*#key#*"]),
        ]
        arm = self._function(duty, own, wakes.let_set_timers(), wakes.let_clear_timers())
        wakes.accept_timers(arm)
        accept_wildcard(arm.role, tables.streams_arn, "A stream is named by the time of its making.")
        StreamSource(
            self,
            "Changes",
            arm,
            stream=tables.stream_arn,
            filters=FILTERS,
            failures=self._places.failures,
            longest=_ARMED_WITHIN,
            retries=_ARM_RETRIES,
        )
        return arm

    def _to_look_through(self) -> list[iam.PolicyStatement]:
        tables = self._places.tables
        return [
            may("dynamodb:Query", on=tables.index_arn(DUE.name)),
            may("dynamodb:BatchGetItem", on=tables.actions.table_arn),
            keep_bookmarks(tables.jobs.table_arn),
        ]

    def _to_plan(self) -> list[iam.PolicyStatement]:
        tables = self._places.tables
        return let_plan(tables.actions.table_arn, tables.jobs.table_arn)

    def _to_start_by_events(self) -> list[iam.PolicyStatement]:
        return let_start_by_events(self._places.tables.actions.table_arn)

    def _to_run_passes(self) -> list[iam.PolicyStatement]:
        """Claim and settle runs of the system's own jobs."""
        rights = ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem")
        return [may_by_key(*rights, on=self._places.tables.actions.table_arn, keys=CODES)]

    def _to_tend(self) -> list[iam.PolicyStatement]:
        """Attend to jobs that are behind, and give timers to what the wheel left; a pass records itself like a planned run."""
        return [
            *self._to_plan(),
            *let_find_due(self._places.tables.jobs.table_arn),
            *self._wakes.let_set_jobs(),
            *self._wakes.let_set_timers(),
        ]

    def _duty(self, entry: str, about: str, timeout: timedelta, settings: Settings) -> FunctionSpec:
        return FunctionSpec(
            name=f"{settings.prefix}{entry.replace('_', '-')}",
            about=about,
            entry=entry,
            timeout=timeout,
            environment=settings.to_env(),
            rights=self._places.rights_to_send(),
        )

    def _function(
        self, duty: FunctionSpec, *rights: Sequence[iam.PolicyStatement], retries: int | None = None
    ) -> DuetimeFunction:
        """A function that sends, with further rights; `retries` where it is called asynchronously."""
        whole = replace(duty, rights=[*duty.rights, *(each for some in rights for each in some)])
        made = DuetimeFunction(self, duty.entry, whole, self._code, self._deployment)
        if retries is not None:
            made.retry(retries, at_most=_HOUR, failures=self._places.failures)
        return made
