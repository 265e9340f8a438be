"""Copies to the outbox the events, mails and topic messages that duetime sends through moto.

A request that moto rejects is not copied. Mails are copied as recipients see them, if they use duetime's
templates.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from typing import Any

from duetime.ids import EVENT_SOURCE
from duetime.local.outbox import Outbox
from duetime.notifications.mail import Template, TemplateVariableMissing, rendered, templates
from duetime.settings import Settings
from tests.emulated import moto_patches

log = logging.getLogger(__name__)

# The language at the end of a template's name.
_LANGUAGE = re.compile(r"-([a-z]{2,3}(?:-[A-Z]{2})?)$", re.ASCII)


@contextmanager
def tap(outbox: Outbox, settings: Callable[[], Settings]) -> Iterator[None]:
    """Copy all that is sent within the block to `outbox`; `settings` returns the current settings."""
    with ExitStack() as patches:
        patches.enter_context(moto_patches.published_events(partial(_copy_events, outbox)))
        patches.enter_context(moto_patches.sent_mails(partial(_copy_mails, outbox, settings)))
        patches.enter_context(moto_patches.topic_messages(partial(_copy_messages, outbox, settings)))
        yield


def _copy_events(outbox: Outbox, original: Any) -> Any:
    def put_events(backend: Any, events: list[dict[str, Any]]) -> Any:
        results = original(backend, events)
        for event, result in zip(events, results, strict=True):
            if event.get("Source") != EVENT_SOURCE or "EventId" not in result:
                continue
            detail = json.loads(event["Detail"])
            if isinstance(detail, dict):
                outbox.put_event(event["DetailType"], id=result["EventId"], detail=detail)
        return results

    return put_events


def _copy_mails(outbox: Outbox, settings: Callable[[], Settings], original: Any) -> Any:
    def send(backend: Any, source: str, template: str, template_data: str, destinations: Any) -> Any:
        result = original(backend, source, template, template_data, destinations)
        if source_template := _templates(settings().prefix).get(template):
            addresses = [address for kind in destinations.values() for address in kind]
            _put_mails(outbox, source_template, json.loads(template_data), addresses)
        return result

    return send


def _put_mails(outbox: Outbox, template: Template, data: Mapping[str, str], addresses: list[str]) -> None:
    """Put a mail into the outbox; as in SES, one that lacks a variable of its template is not sent."""
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


def _copy_messages(outbox: Outbox, settings: Callable[[], Settings], original: Any) -> Any:
    def publish(topic: Any, message: str, *more: Any, **options: Any) -> Any:
        result = original(topic, message, *more, **options)
        if topic.arn == settings().topic_arn:
            sent = options.get("message_attributes") or {}
            attributes = {name: attribute["Value"] for name, attribute in sent.items()}
            outbox.put_message(
                attributes.get("notification", ""),
                subject=options.get("subject") or "",
                text=message,
                attributes=attributes,
            )
        return result

    return publish


@lru_cache(maxsize=4)
def _templates(prefix: str) -> Mapping[str, Template]:
    return {template.name: template for template in templates(prefix)}
