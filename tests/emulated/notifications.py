"""Creates the resources of notifications in moto, and default preferences.

The resources are the rule, the topic, the mail templates and the verified sender. As on AWS, existing
resources stay unchanged.
"""

from __future__ import annotations

import json
from dataclasses import replace

from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.clock import Clock
from duetime.ids import EVENT_SOURCE
from duetime.local.notifications import SENDER, TENANTS, everything_to
from duetime.model.notification import event_detail
from duetime.notifications.mail import templates
from duetime.settings import Settings
from tests.emulated.addresses import queue_arn, queue_name


class LocalNotifications:
    """Creates the notification resources.

    Args:
        name: the name of the rule, of the queue that it feeds, and of the topic.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._events, self._sns, self._ses = clients.events(), clients.sns(), clients.ses()

    def make(self, settings: Settings) -> Settings:
        """Create what is missing, also a topic that the settings name.

        Returns:
            The settings with the topic and the sender.
        """
        topic = self._sns.create_topic(Name=queue_name(settings.topic_arn) or self._name)["TopicArn"]
        sender = settings.mail_from or SENDER
        self._ses.verify_email_identity(EmailAddress=sender)
        self._make_templates(settings.prefix)
        self._make_rule(settings)
        return replace(settings, topic_arn=topic, mail_from=sender)

    def _make_templates(self, prefix: str) -> None:
        known = {template.get("Name") for template in self._ses.list_templates()["TemplatesMetadata"]}
        for template in templates(prefix):
            if template.name not in known:
                self._ses.create_template(
                    Template={
                        "TemplateName": template.name,
                        "SubjectPart": template.subject,
                        "TextPart": template.text,
                        "HtmlPart": template.html,
                    }
                )

    def _make_rule(self, settings: Settings) -> None:
        """Create or update the rule; an existing one keeps its other targets."""
        bus = settings.event_bus
        pattern = {
            "source": [EVENT_SOURCE],
            "detail": event_detail(settings.prefix),
        }
        self._events.put_rule(Name=self._name, EventBusName=bus, EventPattern=json.dumps(pattern))
        self._events.put_targets(
            Rule=self._name, EventBusName=bus, Targets=[{"Id": "queue", "Arn": queue_arn(self._name)}]
        )


def choose_everything(address: str, settings: Settings, clock: Clock) -> None:
    """Send every notification of these tenants to `address`."""
    preferences = AwsBackends(settings, clock).preferences
    for tenant_id in TENANTS:
        preferences.put(replace(everything_to(address, tenant_id), changed_at=clock.now()))
