"""The functions of dispatch, arm, sweep and catch up: they hold no user code, and share one bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws.tables import DUE
from duetime.cdk.bundle import Bundle
from duetime.cdk.changes import Changes
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import Duty, Function
from duetime.cdk.queues import DueQueue
from duetime.cdk.rights import keep_bookmarks, may, may_by_key, read_manifests, read_stream, send
from duetime.cdk.tables import Tables
from duetime.cdk.timers import Timers
from duetime.settings import Settings

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Places:
    """What the steps read and write."""

    tables: Tables
    due: Mapping[str, DueQueue]
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


class Steps(Construct):
    """The functions between a row and its worker."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        places: Places,
        *,
        settings: Settings,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._places, self._deployment = places, deployment
        self._code = Bundle.of(deployment).code()
        self._settings = replace(settings, app="", queues=places.queue_urls)
        self.dispatch = self._dispatch()
        dispatch = self.dispatch.function.function_arn
        self.timers = Timers(self, "Timers", self._settings, dispatch=dispatch, failures=places.failures)
        self.sweep = self._sweep()
        self.catch_up = self._catch_up()
        self.arm = self._arm()

    def _dispatch(self) -> Function:
        duty = self._duty(
            "dispatch", "turns a timer's wake into a due message", timedelta(seconds=30), self._settings
        )
        return self._function(duty, retries=2)

    def _sweep(self) -> Function:
        """A sweep is not repeated: the next one comes within the minute."""
        about = "sends again what is overdue, and is the wheel where that is chosen"
        duty = self._duty("sweep", about, timedelta(seconds=55), self.timers.settings)
        sweep = self._function(duty, self._to_look_through(), self.timers.rights_to_set(), retries=0)
        self.timers.accept_wildcard(sweep)
        return sweep

    def _catch_up(self) -> Function:
        about = "sends again all that is overdue, however late"
        duty = self._duty("catch_up", about, timedelta(minutes=15), self._settings)
        return self._function(duty, self._to_look_through(), retries=1)

    def _arm(self) -> Function:
        tables, timers = self._places.tables, self.timers
        duty = self._duty("arm", "gives what became pending its wake", timedelta(seconds=60), timers.settings)
        own = [
            *read_stream(tables.stream_arn, tables.streams_arn),
            may_by_key("dynamodb:DeleteItem", on=tables.actions.table_arn, keys=["*#payload#*"]),
        ]
        arm = self._function(duty, own, timers.rights_to_set(), timers.rights_to_clear())
        timers.accept_wildcard(arm)
        Changes(self, "Changes", tables, arm, failures=self._places.failures)
        return arm

    def _to_look_through(self) -> list[iam.PolicyStatement]:
        tables = self._places.tables
        return [
            may("dynamodb:Query", on=tables.index_arn(DUE.name)),
            may("dynamodb:BatchGetItem", on=tables.actions.table_arn),
            keep_bookmarks(tables.jobs.table_arn),
        ]

    def _duty(self, entry: str, about: str, timeout: timedelta, settings: Settings) -> Duty:
        return Duty(
            name=f"{settings.prefix}{entry.replace('_', '-')}",
            about=about,
            entry=entry,
            timeout=timeout,
            environment=settings.to_env(),
            rights=self._places.rights_to_send(),
        )

    def _function(
        self, duty: Duty, *rights: Sequence[iam.PolicyStatement], retries: int | None = None
    ) -> Function:
        """A function that sends, with further rights; `retries` where it is called asynchronously."""
        whole = replace(duty, rights=[*duty.rights, *(each for some in rights for each in some)])
        made = Function(self, duty.entry, whole, self._code, self._deployment)
        if retries is not None:
            made.retry(retries, at_most=_HOUR, failures=self._places.failures)
        return made
