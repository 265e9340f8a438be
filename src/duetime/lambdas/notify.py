"""The Lambda on the notifications' queue: passes its messages to `duetime.notifications.notify`."""

from __future__ import annotations

import json
from importlib import import_module

from duetime.aws.backends import AwsBackends
from duetime.errors import UnreadableMessage
from duetime.lambdas.frame import Event, EventHandler, partial_batch_handler
from duetime.notifications.deliver import MailRenderer, masked
from duetime.notifications.notify import Notify
from duetime.settings import Settings


def make_handler(settings: Settings, words: MailRenderer | None = None) -> EventHandler:
    """Return the handler of SQS events.

    Its partial batch response keeps the failures of one tenant from others. A failed message comes again.
    After repeated failures, or if it is unreadable, it becomes a dead letter.

    Args:
        settings: the deployment's.
        words: renders notifications; by default `duetime.notifications.mail`.
    """
    backends = AwsBackends(settings)
    renderer: MailRenderer = words or import_module("duetime.notifications.mail")
    notify = Notify(backends.notifications, renderer, clock=backends.clock, settings=settings)
    return partial_batch_handler(
        lambda record: notify(_content(record["body"])),
        unreadable=UnreadableMessage,
        unexpected=Exception,
        reason_of=masked,
    )


def _content(body: str) -> Event:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnreadableMessage(error) from error
    if not isinstance(content, dict):
        raise UnreadableMessage(TypeError("it is no JSON object"))
    return content
