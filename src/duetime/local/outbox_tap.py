"""Listens to moto: what of duetime's own went to the bus, to mail addresses and to the topic is put into the outbox.

What moto refused was not sent. Mails are those of duetime's own templates, as they arrive.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from unittest.mock import patch

from moto.events.models import EventsBackend
from moto.ses.models import SESBackend
from moto.sns.models import Topic

from duetime.ids import EVENT_SOURCE
from duetime.local.outbox import Outbox
from duetime.notifications.mail import Template, TemplateVariableMissing, rendered, templates
from duetime.settings import Settings

log = logging.getLogger(__name__)

_LANGUAGE = re.compile(r"-([a-z]{2,3}(?:-[A-Z]{2})?)$", re.ASCII)
"""Ends a template's name."""

_put_events = EventsBackend.put_events
_send_mail = SESBackend.send_templated_email
_publish = Topic.publish


@contextmanager
def listening(outbox: Outbox, settings: Callable[[], Settings]) -> Iterator[None]:
    """Within the block, all that is sent is put into `outbox`; `settings` tells those of now."""
    with (
        patch.object(EventsBackend, "put_events", _of_events(outbox)),
        patch.object(SESBackend, "send_templated_email", _of_mails(outbox, settings)),
        patch.object(Topic, "publish", _of_messages(outbox, settings)),
    ):
        yield


def _of_events(outbox: Outbox) -> Any:
    def put_events(backend: Any, events: list[dict[str, Any]]) -> Any:
        answers = _put_events(backend, events)
        for event, answer in zip(events, answers, strict=True):
            if event.get("Source") != EVENT_SOURCE or "EventId" not in answer:
                continue
            detail = json.loads(event["Detail"])
            if isinstance(detail, dict):
                outbox.put_event(event["DetailType"], id=answer["EventId"], detail=detail)
        return answers

    return put_events


def _of_mails(outbox: Outbox, settings: Callable[[], Settings]) -> Any:
    def send(backend: Any, source: str, template: str, template_data: str, destinations: Any) -> Any:
        answer = _send_mail(backend, source, template, template_data, destinations)
        if made := _templates(settings().prefix).get(template):
            addresses = [address for some in destinations.values() for address in some]
            _put_mails(outbox, made, json.loads(template_data), addresses)
        return answer

    return send


def _put_mails(outbox: Outbox, template: Template, data: Mapping[str, str], addresses: list[str]) -> None:
    """As SES does, none is sent where the template needs what the mail lacks."""
    try:
        mail = rendered(template, data)
    except TemplateVariableMissing as error:
        log.warning("mail is not sent: %s", error)
        return
    language = _LANGUAGE.search(template.name)
    for address in addresses:
        outbox.put_mail(
            data.get("kind", ""),
            address=address,
            language=language[1] if language else "",
            subject=mail.subject,
            text=mail.text,
            html=mail.html,
        )


def _of_messages(outbox: Outbox, settings: Callable[[], Settings]) -> Any:
    def publish(topic: Any, message: str, *more: Any, **told: Any) -> Any:
        answer = _publish(topic, message, *more, **told)
        if topic.arn == settings().topic_arn:
            said = {name: each["Value"] for name, each in (told.get("message_attributes") or {}).items()}
            outbox.put_message(
                said.get("notification", ""), subject=told.get("subject") or "", text=message, attributes=said
            )
        return answer

    return publish


@lru_cache(maxsize=4)
def _templates(prefix: str) -> Mapping[str, Template]:
    return {template.name: template for template in templates(prefix)}
