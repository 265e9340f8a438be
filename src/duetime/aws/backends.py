"""The AWS back ends of a deployment, created once per process.

Imports inside functions keep the cold start of Lambda functions and of the SDK short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duetime._lazy_property import lazy_property
from duetime.aws import clients
from duetime.aws.dynamodb import SERVICE, Client
from duetime.aws.faults import translate_errors
from duetime.aws.notes import DynamoRoutes
from duetime.aws.queues import SqsBodies, SqsQueues
from duetime.aws.store import DynamoStore
from duetime.aws.tables import FORMAT, name_of, region_of
from duetime.aws.timers import EventBridgeTimers
from duetime.clock import Clock, SystemClock
from duetime.errors import OtherFormat
from duetime.model.deployed_shards import Hosted
from duetime.ports.at_once import AtOnce, in_threads, one_by_one
from duetime.ports.backends import KeyedPorts
from duetime.ports.regions import ActiveRegions, NoRegions
from duetime.ports.wakeups import FAILURES, Timers
from duetime.settings import Settings

if TYPE_CHECKING:
    from botocore.config import Config

    from duetime.aws.direct_puts import DirectPuts
    from duetime.aws.event_bus import EventBridgeBus
    from duetime.aws.job_wakes import EventBridgeJobWakes
    from duetime.aws.jobs import DynamoJobStore
    from duetime.aws.keyed_items import DynamoItems
    from duetime.aws.run_logs import CloudWatchRunLogs
    from duetime.aws.streams import DynamoStream
    from duetime.ports.job_store import JobPorts
    from duetime.ports.notifications import NotificationPorts
    from duetime.ports.undelivered import UndeliveredPorts


def action_store(settings: Settings, client: Any = None, at_once: AtOnce | None = None) -> DynamoStore:
    """Return the actions table for the SDK.

    With a given `client`, `at_once` makes the calls of a bulk; by default one by one. That client makes every
    call, so that its owner's hooks see them.

    Raises:
        BackendMisconfigured: no AWS region is configured.
    """
    with translate_errors(SERVICE):
        return DynamoStore(
            client or clients.dynamodb(),
            settings.made.actions_table,
            due_shards=settings.due_shards,
            due_order=settings.due_order,
            at_once=at_once or (in_threads if client is None else one_by_one),
            direct=_direct_puts() if client is None else None,
        )


def _direct_puts() -> DirectPuts:
    from duetime.aws.direct_puts import direct_puts  # noqa: PLC0415 - only callers that schedule

    return direct_puts(clients.dynamodb())


def hosted_types(settings: Settings, clock: Clock, client: Any = None) -> Callable[[], Hosted]:
    """Return a function that reads all published manifests, with at most one repetition."""

    def read() -> Hosted:
        given = client or clients.dynamodb(clients.BRIEF)
        routes = DynamoRoutes(given, settings.made.jobs_table, clock=clock)
        hosted = Hosted(routes.types(), routes.most_due_shards)
        if routes.format != FORMAT:
            raise OtherFormat(settings.made.jobs_table, routes.format, FORMAT)
        return hosted

    return read


class AwsBackends(KeyedPorts):
    """The members of `duetime.ports.backends.Backends`, and the back ends of the other steps.

    Each is created at its first use, and shares the client of its service.

    Args:
        settings: the deployment's.
        clock: the clock of the steps, and of caches; by default the machine's.
        client: DynamoDB's client.
        sqs: the client that redrives undelivered inputs.
        calls: the timeouts and attempts of calls to DynamoDB, SQS and EventBridge.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        client: Any = None,
        sqs: Any = None,
        *,
        calls: Config = clients.PATIENT,
    ) -> None:
        self.settings, self.clock = settings, clock or SystemClock()
        self._client, self._sqs, self._calls = client, sqs, calls

    @lazy_property
    def store(self) -> DynamoStore:
        return action_store(self.settings, self._dynamodb)

    @lazy_property
    def jobs(self) -> DynamoJobStore:
        from duetime.aws.jobs import DynamoJobStore  # noqa: PLC0415 - a caller that only schedules loads no cadences

        settings = self.settings
        return DynamoJobStore(
            self._dynamodb,
            settings.made.actions_table,
            settings.made.jobs_table,
            due_shards=settings.due_shards,
        )

    @property
    def job_ports(self) -> JobPorts:
        from duetime.aws.job_wakes import EventBridgeJobWakes  # noqa: PLC0415 - as in `jobs`
        from duetime.ports.job_store import JobPorts  # noqa: PLC0415 - as above

        return JobPorts(self.jobs, self.routes, EventBridgeJobWakes.precision, self.regions)

    @lazy_property
    def job_wakes(self) -> EventBridgeJobWakes:
        from duetime.aws.job_wakes import EventBridgeJobWakes  # noqa: PLC0415 - as in `jobs`

        scheduler, events = clients.scheduler(self._calls), clients.events(self._calls)
        return EventBridgeJobWakes(scheduler, events, self.settings)

    @lazy_property
    def event_bus(self) -> EventBridgeBus:
        from duetime.aws.event_bus import EventBridgeBus  # noqa: PLC0415 - two functions publish

        return EventBridgeBus(clients.events(self._calls), self.settings)

    @lazy_property
    def queues(self) -> SqsQueues:
        settings = self.settings
        return SqsQueues(clients.sqs(self._calls), settings.made.queues, has_groups=not settings.only_tenant)

    @lazy_property
    def timers(self) -> Timers:
        """EventBridge's one-shots with short timeouts, because `arm` has an alternative; or the wheel."""
        if self.settings.timers == "wheel":
            from duetime.wakeups.wheel import WheelTimers  # noqa: PLC0415 - only without timers

            return WheelTimers()
        return EventBridgeTimers(clients.scheduler(clients.PROMPT), self.settings)

    @lazy_property
    def routes(self) -> DynamoRoutes:
        return DynamoRoutes(self._dynamodb, self.settings.made.jobs_table, clock=self.clock)

    @lazy_property
    def regions(self) -> ActiveRegions:
        table = self.settings.regions_table
        if not table:
            return NoRegions()
        from duetime.aws.keyed_items import DynamoItems  # noqa: PLC0415 - only with a standby region

        client = clients.dynamodb(clients.BRIEF, region_of(table))
        return ActiveRegions(DynamoItems(client, name_of(table)), self._dynamodb.meta.region_name)

    @lazy_property
    def run_logs(self) -> CloudWatchRunLogs:
        from duetime.aws.run_logs import CloudWatchRunLogs  # noqa: PLC0415 - the API alone needs it

        return CloudWatchRunLogs(self.settings.prefix)

    @lazy_property
    def undelivered(self) -> UndeliveredPorts:
        from duetime.ports.undelivered import UndeliveredPorts, UndeliveredStore  # noqa: PLC0415 - few callers need it

        return UndeliveredPorts(
            UndeliveredStore(self.items), SqsBodies(self._sqs or clients.sqs(), self.settings)
        )

    def waiting_failures(self) -> int:
        """Return the approximate number of messages in the failure queue."""
        return SqsBodies(clients.sqs(clients.BRIEF), self.settings).waiting(FAILURES)

    @lazy_property
    def notifications(self) -> NotificationPorts:
        """The interfaces of notifications, with mails and a topic if the settings name them."""
        from duetime.aws.deliveries import (  # noqa: PLC0415 - one function needs it
            SesMailer,
            SnsTopic,
            SqsDigestTimer,
        )
        from duetime.ports.notifications import NotificationPorts  # noqa: PLC0415 - as above

        settings, sqs = self.settings, clients.sqs()
        mail_from, topic_arn = settings.mail_from, settings.topic_arn
        return NotificationPorts(
            preferences=self.preferences,
            inbox=self.inbox,
            deliveries=self.deliveries,
            windows=self.windows,
            timer=SqsDigestTimer(sqs, settings.made.notification_queue),
            mailer=SesMailer(clients.ses(), mail_from) if mail_from else None,
            topic=SnsTopic(clients.sns(), topic_arn) if topic_arn else None,
        )

    @lazy_property
    def items(self) -> DynamoItems:
        from duetime.aws.keyed_items import DynamoItems  # noqa: PLC0415 - a caller that only schedules has none

        return DynamoItems(self._dynamodb, self.settings.made.jobs_table)

    @lazy_property
    def stream(self) -> DynamoStream:
        from duetime.aws.streams import DynamoStream  # noqa: PLC0415 - one function reads it

        return DynamoStream(clients.dynamodb_streams())

    @lazy_property
    def _dynamodb(self) -> Client:
        return self._client or clients.dynamodb(self._calls)
