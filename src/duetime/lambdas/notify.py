"""The Lambda on the notifications' queue.

Events of the bus, and requests for digests, to `duetime.notifications.notify`.
"""

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
    """The handler of SQS events.

    It answers with a partial batch response, so that no tenant's trouble is another's.

    What is reported as failed comes again; what fails each time, or cannot be read, ends in the dead letters.

    Args:
        settings: the deployment's.
        words: what notifications say; those of `duetime.notifications.mail`, if none are given.
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
        notify(_told(record["body"]))
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


def _told(body: str) -> Mapping[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnreadableEvent(error) from error
    if not isinstance(content, dict):
        raise UnreadableEvent(TypeError("it is no JSON object"))
    return content
