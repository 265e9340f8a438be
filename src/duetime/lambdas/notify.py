"""The Lambda on the notifications' queue: passes its messages to `duetime.notifications.notify`."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.errors import DuetimeError
from duetime.model.notification import UnreadableEvent
from duetime.notifications.deliver import MailRenderer, masked
from duetime.notifications.notify import Notify
from duetime.settings import Settings

log = logging.getLogger(__name__)

Event = Mapping[str, Any]


def make_handler(settings: Settings, words: MailRenderer | None = None) -> Callable[[Event, object], Event]:
    """Return the handler of SQS events.

    Its partial batch response keeps the failures of one tenant from others. A failed message comes again.
    After repeated failures, or if it is unreadable, it becomes a dead letter.

    Args:
        settings: the deployment's.
        words: renders notifications; by default `duetime.notifications.mail`.
    """
    clock = SystemClock()
    ports = AwsBackends(settings, clock).notifications
    renderer: MailRenderer = words or import_module("duetime.notifications.mail")
    notify = Notify(ports, renderer, clock=clock, settings=settings)

    def handler(event: Event, _context: object) -> Event:
        failed = [record["messageId"] for record in event["Records"] if not _handle(notify, record)]
        return {"batchItemFailures": [{"itemIdentifier": record} for record in failed]}

    return handler


def _handle(notify: Notify, record: Mapping[str, Any]) -> bool:
    about = {"message_id": record["messageId"]}
    try:
        notify(_content(record["body"]))
    except UnreadableEvent:
        log.exception("message cannot be read, it goes to the dead letters", extra=about)
        return False
    except DuetimeError as error:
        log.warning("message will come again", extra=about | {"reason": masked(error)})
        return False
    except Exception:
        log.exception("message failed, it will come again", extra=about)
        return False
    return True


def _content(body: str) -> Mapping[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnreadableEvent(error) from error
    if not isinstance(content, dict):
        raise UnreadableEvent(TypeError("it is no JSON object"))
    return content
