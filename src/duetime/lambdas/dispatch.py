"""The Lambda that a timer wakes: its input to `duetime.dispatch`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from duetime.aws.backends import Backends
from duetime.aws.messages import from_json
from duetime.clock import SystemClock
from duetime.dispatch import Dispatch
from duetime.settings import Settings

log = logging.getLogger(__name__)


def make_handler(settings: Settings) -> Callable[[Mapping[str, Any], object], Mapping[str, Any]]:
    """The handler of EventBridge Scheduler's wakes. What it raises, Lambda repeats and then hands to the failure queue."""
    clock = SystemClock()
    backends = Backends(settings, clock)
    dispatch = Dispatch(backends.queues, backends.routes, clock=clock)

    def handler(event: Mapping[str, Any], _context: object) -> Mapping[str, Any]:
        message, _ = from_json(dict(event))
        delay = dispatch(message)
        log.info("dispatched", extra={"action": message.ref.id, "delay": delay})
        return {"id": message.ref.id, "delay": delay}

    return handler
