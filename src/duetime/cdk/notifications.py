"""Notifications: from the event bus by a queue of their own to the function that tells people, and what it tells them by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from duetime.cdk.bundle import Bundle
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.mail_templates import MailTemplates
from duetime.cdk.queues import NOTIFY_TIMEOUT, RetriedQueue
from duetime.cdk.rights import keep_notified, may, send, take_from
from duetime.cdk.rules import accept_wildcard
from duetime.cdk.worker import feed
from duetime.environment import PREFIX
from duetime.ids import EVENT_SOURCE
from duetime.model.notification import EVENT_TYPES
from duetime.settings import Settings

_AT_ONCE = 2
"""The least that an event source takes: whatever fails at once, few are told at once."""


class NotificationResources(Construct):
    """Tells people. Nothing that runs an action waits for any of it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: RetriedQueue,
        bus: events.IEventBus,
        jobs: str,
        settings: Settings,
        deployment: Deployment,
    ) -> None:
        """Make it.

        Args:
            scope: see CDK, as the next one.
            construct_id: the construct's name.
            queue: between the bus and the function; its dead letters feed salvage.
            bus: where lifecycle events are published.
            jobs: the ARN of the jobs table, which keeps preferences, lists, and what was sent.
            settings: the deployment's.
            deployment: the deployment's.
        """
        super().__init__(scope, construct_id)
        self._settings, self._queue = settings, queue.queue
        self.topic = self._topic() if deployment.own_topic and not settings.topic_arn else None
        self.templates = MailTemplates(self, "Mails", settings=settings)
        self._subscribe(bus)
        self.topic_arn = topic_arn = self.topic.topic_arn if self.topic else settings.topic_arn
        told = replace(settings, app="", topic_arn=topic_arn, notification_queue=queue.queue.queue_url)
        duty = FunctionSpec(
            name=f"{settings.prefix}notify",
            about="tells people what failed and what recovered",
            entry="notify",
            timeout=NOTIFY_TIMEOUT,
            environment=told.to_env(),
            rights=[
                take_from(queue.queue.queue_arn),
                send(queue.queue.queue_arn),
                *keep_notified(jobs),
                *([may("sns:Publish", on=topic_arn)] if topic_arn else []),
                *self._let_mail(),
            ],
            is_put_off=True,
        )
        self.notify = DuetimeFunction(self, "notify", duty, Bundle.of(deployment).code(), deployment)
        if settings.mail_from:
            accept_wildcard(self.notify.role, self._template_arn, "Each language has its own template.")
            accept_wildcard(self.notify.role, self._identities_arn, "The sender is bound by ses:FromAddress.")
        feed(self, "Queue", self.notify, queue.queue, at_once=_AT_ONCE)

    def lead_to(self, console_url: str) -> None:
        """Have mails lead to a console that no setting names, since the stack itself serves it."""
        self.notify.tell(f"{PREFIX}CONSOLE_URL", console_url)

    def _topic(self) -> sns.Topic:
        """What a tenant's notifications are published to; subscribers choose by the message's attributes."""
        return sns.Topic(
            self,
            "Topic",
            topic_name=f"{self._settings.prefix}notifications",
            display_name="duetime",
            enforce_ssl=True,
        )

    def _subscribe(self, bus: events.IEventBus) -> None:
        events.Rule(
            self,
            "Rule",
            description="duetime: what people may want to be told of",
            event_bus=bus,
            event_pattern=events.EventPattern(
                account=[Stack.of(self).account],
                source=[EVENT_SOURCE],
                detail_type=list(EVENT_TYPES),
                detail={"deployment": [self._settings.prefix]},
            ),
            targets=[targets.SqsQueue(self._queue)],
        )

    def _let_mail(self) -> Iterator[iam.PolicyStatement]:
        """Send mails of these templates, from this address alone.

        Which identity SES asks for is its own choice: the address', its domain's or a domain's above, and in the sandbox
        the recipient's, too.
        """
        if sender := self._settings.mail_from:
            from_it: dict[str, object] = {"ses:FromAddress": sender}
            on = [self._identities_arn, self._template_arn]
            yield may("ses:SendTemplatedEmail", on=on, StringEquals=from_it)

    @property
    def _template_arn(self) -> str:
        return self._ses_arn("template", f"{self._settings.prefix}*")

    @property
    def _identities_arn(self) -> str:
        return self._ses_arn("identity", "*")

    def _ses_arn(self, resource: str, name: str) -> str:
        return Stack.of(self).format_arn(service="ses", resource=resource, resource_name=name)
