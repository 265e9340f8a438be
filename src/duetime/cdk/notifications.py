"""Notifications: the rule on the event bus, the notify function, the topic, and the mails' templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ses as ses
from aws_cdk import aws_sns as sns
from constructs import Construct

from duetime.cdk.bundle import Bundle
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.queues import NOTIFY_TIMEOUT, RetriedQueue
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import keep_notified, may, send, take_from
from duetime.cdk.rules import accept_wildcard
from duetime.cdk.worker import feed
from duetime.environment import PREFIX
from duetime.ids import EVENT_SOURCE
from duetime.model.notification import event_detail
from duetime.notifications.mail import templates
from duetime.settings import Settings

"""The minimum of an event source: in a mass failure, few messages are handled at once."""


class MailTemplates(Construct):
    """All templates; none if `mail_from` is empty.

    SES creates one template a second, and CloudFormation would request all at once. So each depends on the
    previous one.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.templates: list[ses.CfnTemplate] = []
        for template in templates(settings.prefix) if settings.mail_from else ():
            made = ses.CfnTemplate(
                self,
                template.name.removeprefix(settings.prefix),
                template=ses.CfnTemplate.TemplateProperty(
                    template_name=template.name,
                    subject_part=template.subject,
                    text_part=template.text,
                    html_part=template.html,
                ),
            )
            if self.templates:
                made.add_dependency(self.templates[-1])
            self.templates.append(made)


class NotificationResources(Construct):
    """Notifies people. No function that runs an action waits for it.

    Args:
        scope: as in CDK.
        construct_id: as in CDK.
        resources: the jobs table stores preferences, lists and deliveries.
        queue: between the bus and the function; its dead letters feed the undelivered handler.
        bus: where lifecycle events are published.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        resources: SharedResources,
        *,
        queue: RetriedQueue,
        bus: events.IEventBus,
    ) -> None:
        super().__init__(scope, construct_id)
        deployment, self._queue = resources.deployment, queue.queue
        self._settings = settings = resources.settings
        self.topic = self._topic() if not settings.topic_arn else None
        self.templates = MailTemplates(self, "Mails", settings=settings)
        self._subscribe(bus)
        self.topic_arn = topic_arn = self.topic.topic_arn if self.topic else settings.topic_arn
        mine = replace(settings, app="", topic_arn=topic_arn)
        mine = mine.with_made(notification_queue=queue.queue.queue_url)
        spec = FunctionSpec(
            name=f"{settings.prefix}notify",
            about="notifies people of failures and recoveries",
            entry="notify",
            timeout=NOTIFY_TIMEOUT,
            environment=mine.to_env(),
            rights=[
                take_from(queue.queue.queue_arn),
                send(queue.queue.queue_arn),
                *keep_notified(resources.tables.jobs.table_arn),
                *([may("sns:Publish", on=topic_arn)] if topic_arn else []),
                *self._let_mail(),
            ],
            sends_to_own_queue=True,
        )
        self.notify = DuetimeFunction(
            self, "notify", spec, Bundle.for_deployment(deployment).code(), deployment
        )
        if settings.mail_from:
            accept_wildcard(self.notify.role, self._template_arn, "Each language has its own template.")
            for arn in (self._identities_arn, self._configuration_sets_arn):
                accept_wildcard(self.notify.role, arn, "ses:FromAddress restricts the sender.")
        feed(self, "Queue", self.notify, queue.queue)

    def link_to(self, console_url: str) -> None:
        """Link mails to a console that no setting names, since the stack itself serves it."""
        self.notify.add_environment(f"{PREFIX}CONSOLE_URL", console_url)

    def _topic(self) -> sns.Topic:
        """Create the topic of tenants' notifications; subscribers filter by the message's attributes."""
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
            description="duetime: events that people may be notified of",
            event_bus=bus,
            event_pattern=events.EventPattern(
                account=[Stack.of(self).account],
                source=[EVENT_SOURCE],
                detail=event_detail(self._settings.prefix),
            ),
            targets=[targets.SqsQueue(self._queue)],
        )

    def _let_mail(self) -> Iterator[iam.PolicyStatement]:
        """Allow to send mails of these templates, from this address alone.

        SES chooses the identity that it checks: the address', its domain's or a parent domain's. In the
        sandbox it also checks the recipient's. If the identity has a default configuration set, SES checks
        that as well.
        """
        if sender := self._settings.mail_from:
            from_sender: dict[str, object] = {"ses:FromAddress": sender}
            on = [self._identities_arn, self._configuration_sets_arn, self._template_arn]
            yield may("ses:SendTemplatedEmail", on=on, StringEquals=from_sender)

    @property
    def _template_arn(self) -> str:
        return self._ses_arn("template", f"{self._settings.prefix}*")

    @property
    def _identities_arn(self) -> str:
        return self._ses_arn("identity", "*")

    @property
    def _configuration_sets_arn(self) -> str:
        return self._ses_arn("configuration-set", "*")

    def _ses_arn(self, resource: str, name: str) -> str:
        return Stack.of(self).format_arn(service="ses", resource=resource, resource_name=name)
