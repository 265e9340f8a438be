"""The AWS back ends of a deployment, made once per process."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from duetime.aws import clients
from duetime.aws.faults import translate_errors
from duetime.aws.notes import DynamoBookmarks, DynamoRoutes
from duetime.aws.queries import SERVICE
from duetime.aws.queues import SqsBodies, SqsQueues
from duetime.aws.store import DynamoStore
from duetime.aws.timers import EventBridgeTimers
from duetime.clock import Clock
from duetime.ports.wakeups import FAILURES, Timers
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from duetime.aws.access import DynamoAuditTrail, DynamoGrants
    from duetime.aws.event_bus import EventBridgeBus
    from duetime.aws.job_wakes import EventBridgeJobWakes
    from duetime.aws.jobs import DynamoJobStore
    from duetime.aws.notifications import DynamoInbox, DynamoPreferences
    from duetime.aws.streams import DynamoStream
    from duetime.ports.jobs import JobPorts
    from duetime.ports.notifications import NotificationPorts
    from duetime.ports.undelivered import UndeliveredPorts


def action_store(settings: Settings, client: Any = None) -> DynamoStore:
    """The actions table as the SDK uses it; over `client`, if one is given: bulk then goes one by one.

    Raises:
        BackendMisconfigured: boto3 is told of no region.
    """
    with translate_errors(SERVICE):
        return DynamoStore(
            client or clients.dynamodb(),
            settings.actions_table,
            due_shards=settings.due_shards,
            due_order=settings.due_order,
            single_shot=clients.dynamodb(clients.ONCE) if client is None else None,
        )


def job_store(settings: Settings, client: Any = None) -> DynamoJobStore:
    """The jobs table as the SDK uses it; over `client`, if one is given."""
    from duetime.aws.jobs import DynamoJobStore  # noqa: PLC0415 - who only schedules loads no cadences

    return DynamoJobStore(
        client or clients.dynamodb(),
        settings.actions_table,
        settings.jobs_table,
        due_shards=settings.due_shards,
    )


def job_ports(settings: Settings, clock: Clock, client: Any = None) -> JobPorts:
    """The jobs' back ends as the SDK uses them; over `client`, if one is given."""
    dynamodb = client or clients.dynamodb()
    routes = DynamoRoutes(dynamodb, settings.jobs_table, clock=clock)
    return _job_ports(job_store(settings, dynamodb), routes)


def _job_ports(jobs: DynamoJobStore, routes: DynamoRoutes) -> JobPorts:
    from duetime.aws.job_wakes import EventBridgeJobWakes  # noqa: PLC0415 - who only schedules needs no jobs
    from duetime.ports.jobs import JobPorts  # noqa: PLC0415 - as above

    return JobPorts(jobs, routes, EventBridgeJobWakes.precision)


def undelivered_ports(settings: Settings, client: Any = None) -> UndeliveredPorts:
    """What is undelivered, as its operators see it; over `client`, if one is given for DynamoDB."""
    from duetime.aws.undelivered import DynamoUndelivered  # noqa: PLC0415 - few look at it
    from duetime.ports.undelivered import UndeliveredPorts  # noqa: PLC0415 - as above

    store = DynamoUndelivered(client or clients.dynamodb(), settings.jobs_table)
    return UndeliveredPorts(store, SqsBodies(clients.sqs(), settings))


class AwsBackends:
    """What the steps need, over one client a service; each is made when it is first asked for."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings, self._clock = settings, clock

    @cached_property
    def store(self) -> DynamoStore:
        """The actions table."""
        settings = self._settings
        return DynamoStore(
            self._dynamodb,
            settings.actions_table,
            due_shards=settings.due_shards,
            due_order=settings.due_order,
        )

    @cached_property
    def jobs(self) -> DynamoJobStore:
        """The jobs table."""
        return job_store(self._settings, self._dynamodb)

    @property
    def job_ports(self) -> JobPorts:
        """The jobs' back ends as operators' calls use them."""
        return _job_ports(self.jobs, self.routes)

    @cached_property
    def job_wakes(self) -> EventBridgeJobWakes:
        """EventBridge's schedules and rules for jobs."""
        from duetime.aws.job_wakes import EventBridgeJobWakes  # noqa: PLC0415 - as in `job_store`

        return EventBridgeJobWakes(
            clients.scheduler(),
            clients.events(),
            self._settings,
        )

    @cached_property
    def event_bus(self) -> EventBridgeBus:
        """Where lifecycle events go."""
        from duetime.aws.event_bus import EventBridgeBus  # noqa: PLC0415 - two functions publish

        return EventBridgeBus(clients.events(), self._settings)

    @cached_property
    def queues(self) -> SqsQueues:
        """The workers' queues."""
        return SqsQueues(clients.sqs(), self._settings.queues)

    @cached_property
    def timers(self) -> Timers:
        """EventBridge's one-shots, asked briefly, since `arm` has another way when they are throttled; or the wheel."""
        if self._settings.timers == "wheel":
            from duetime.wakeups.wheel import WheelTimers  # noqa: PLC0415 - where there are timers, there is no wheel

            return WheelTimers()
        return EventBridgeTimers(clients.scheduler(clients.BRIEF), self._settings)

    @cached_property
    def routes(self) -> DynamoRoutes:
        """The published manifests."""
        return DynamoRoutes(self._dynamodb, self._settings.jobs_table, clock=self._clock)

    @cached_property
    def bookmarks(self) -> DynamoBookmarks:
        """Where repeated passes left off."""
        return DynamoBookmarks(self._dynamodb, self._settings.jobs_table)

    @cached_property
    def grants(self) -> DynamoGrants:
        """What was granted at run time."""
        from duetime.aws.access import DynamoGrants  # noqa: PLC0415 - the API alone needs it

        return DynamoGrants(self._dynamodb, self._settings.jobs_table, clock=self._clock)

    @cached_property
    def audit_trail(self) -> DynamoAuditTrail:
        """Who asked for which change."""
        from duetime.aws.access import DynamoAuditTrail  # noqa: PLC0415 - as above

        settings = self._settings
        return DynamoAuditTrail(self._dynamodb, settings.jobs_table, retention=settings.audit_retention)

    @cached_property
    def undelivered(self) -> UndeliveredPorts:
        """What queues, streams and EventBridge gave up on."""
        return undelivered_ports(self._settings, self._dynamodb)

    def waiting_failures(self) -> int:
        """About how many messages of the failure queue wait for salvage."""
        return self._bodies.waiting(FAILURES)

    @cached_property
    def _bodies(self) -> SqsBodies:
        return SqsBodies(clients.sqs(clients.BRIEF), self._settings)

    @cached_property
    def preferences(self) -> DynamoPreferences:
        """What tenants have chosen of notifications."""
        from duetime.aws.notifications import DynamoPreferences  # noqa: PLC0415 - few functions need it

        return DynamoPreferences(self._dynamodb, self._settings.jobs_table)

    @cached_property
    def inbox(self) -> DynamoInbox:
        """Each tenant's list of notifications."""
        from duetime.aws.notifications import DynamoInbox  # noqa: PLC0415 - as above

        return DynamoInbox(self._dynamodb, self._settings.jobs_table)

    @cached_property
    def notifications(self) -> NotificationPorts:
        """What notifications need: mails and a topic where the settings name a sender and a topic."""
        from duetime.aws.notified import DynamoDeliveries  # noqa: PLC0415 - one function needs it
        from duetime.aws.senders import SesMailer, SnsTopic, SqsDigestTimer  # noqa: PLC0415 - as above
        from duetime.aws.windows import DynamoWindows  # noqa: PLC0415 - as above
        from duetime.ports.notifications import NotificationPorts  # noqa: PLC0415 - as above

        settings, sqs = self._settings, clients.sqs()
        mail_from, topic_arn = settings.mail_from, settings.topic_arn
        return NotificationPorts(
            preferences=self.preferences,
            inbox=self.inbox,
            deliveries=DynamoDeliveries(self._dynamodb, settings.jobs_table),
            windows=DynamoWindows(self._dynamodb, settings.jobs_table),
            timer=SqsDigestTimer(sqs, settings.notification_queue),
            mailer=SesMailer(clients.ses(), mail_from) if mail_from else None,
            topic=SnsTopic(clients.sns(), topic_arn) if topic_arn else None,
        )

    @cached_property
    def stream(self) -> DynamoStream:
        """The actions table's stream."""
        from duetime.aws.streams import DynamoStream  # noqa: PLC0415 - one function reads it

        return DynamoStream(clients.dynamodb_streams())

    @cached_property
    def _dynamodb(self) -> DynamoDBClient:
        return clients.dynamodb()
