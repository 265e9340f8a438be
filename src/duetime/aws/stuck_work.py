"""Reports of work that waits until an operator acts: messages to the failure queue, stored once an hour."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from duetime.aws import clients
from duetime.aws.queues import SqsBodies
from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.ports.wakeups import FAILURES
from duetime.settings import Settings

log = logging.getLogger(__name__)

STUCK = "stuck"
"""The field that marks such a message."""

PAUSE = timedelta(hours=1)
_NUMBER = re.compile(r"\d+")


class StuckWork:
    """Sends a message about what waits: each problem at most once an hour of a process.

    Texts that differ in numbers alone are of one problem: it waits, and more and more with it.

    It never raises: the next pass reports what still waits.

    Args:
        settings: name the failure queue.
        source: the function that found it.
        clock: the clock of the pause.
    """

    def __init__(self, settings: Settings, source: str, clock: Clock) -> None:
        self._settings, self._source, self._clock = settings, source, clock
        self._next: dict[str, float] = {}

    def __call__(self, text: str) -> None:
        """Report it, unless the last report of the problem was less than an hour ago."""
        now, problem = self._clock.elapsed(), _NUMBER.sub("#", text)
        self._next = {other: at for other, at in self._next.items() if now < at}
        if problem in self._next or not self._settings.made.failure_queue:
            return
        try:
            body = json.dumps({STUCK: self._source, "reason": truncate(text)})
            SqsBodies(clients.sqs(), self._settings).put(FAILURES, body)
        except DuetimeError as error:
            log.warning("stuck work not reported", extra={"reason": truncate(error)})
        else:
            self._next[problem] = now + PAUSE.total_seconds()


def from_message(content: Mapping[str, Any]) -> tuple[str, str]:
    """Return the function that found it, and what waits.

    Raises:
        LookupError: the message has another form.
    """
    return str(content[STUCK]), str(content["reason"])
