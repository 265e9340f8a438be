"""What people are told by, made in moto: the rule that feeds the notifications' queue, the topic, the mails' templates.

The sender is verified too. As on AWS, what is there already is left alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from duetime.aws import clients
from duetime.ids import EVENT_SOURCE
from duetime.local.addresses import queue_arn, queue_name
from duetime.model.notification import EVENT_TYPES
from duetime.notifications.mail import templates
from duetime.settings import Settings

SENDER: Final = "duetime@localhost.example"
"""Who mails come from, unless the settings say it."""


class Channels:
    """Makes them.

    Args:
        name: of the rule, of the queue that it feeds, and of the topic.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._events, self._sns, self._ses = clients.events(), clients.sns(), clients.ses()

    def make(self, settings: Settings) -> Settings:
        """Make what is missing; returns the settings with the topic and the sender. A topic that they name is made here."""
        topic = self._sns.create_topic(Name=queue_name(settings.topic_arn) or self._name)["TopicArn"]
        sender = settings.mail_from or SENDER
        self._ses.verify_email_identity(EmailAddress=sender)
        self._make_templates(settings.prefix)
        self._make_rule(settings)
        return replace(settings, topic_arn=topic, mail_from=sender)

    def _make_templates(self, prefix: str) -> None:
        known = {template.get("Name") for template in self._ses.list_templates()["TemplatesMetadata"]}
        for each in templates(prefix):
            if each.name not in known:
                self._ses.create_template(
                    Template={
                        "TemplateName": each.name,
                        "SubjectPart": each.subject,
                        "TextPart": each.text,
                        "HtmlPart": each.html,
                    }
                )

    def _make_rule(self, settings: Settings) -> None:
        """A rule that is there keeps its targets."""
        bus = settings.event_bus
        pattern = {
            "source": [EVENT_SOURCE],
            "detail-type": list(EVENT_TYPES),
            "detail": {"deployment": [settings.prefix]},
        }
        self._events.put_rule(Name=self._name, EventBusName=bus, EventPattern=json.dumps(pattern))
        self._events.put_targets(
            Rule=self._name, EventBusName=bus, Targets=[{"Id": "queue", "Arn": queue_arn(self._name)}]
        )
