"""What the services have in common: they invoke a function again and again, and repeat what failed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from duetime.clock import SystemClock
from duetime.errors import DuetimeError

CLOCK = SystemClock()
LOOK_EACH = 0.1
"""Seconds."""
FAILURES = (DuetimeError, BotoCoreError, ClientError, OSError)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Invocation:
    """The context that Lambda passes to a handler with a minute's time."""

    ends_at: datetime

    def get_remaining_time_in_millis(self) -> int:
        return max(0, (self.ends_at - CLOCK.now()) // _MILLISECOND)


def invocation() -> Invocation:
    """Return the context of an invocation that begins now."""
    return Invocation(CLOCK.now() + timedelta(minutes=1))


def repeat(turn: Callable[[], bool], seconds: float) -> None:
    """Call `turn` for ever; after one that found nothing, or failed, wait."""
    pause = threading.Event()
    while True:
        try:
            found = turn()
        except FAILURES:
            found = False
        if not found:
            pause.wait(seconds)


def invoke_each(seconds: float, handler: Callable[[object, Invocation], object]) -> None:
    """Invoke a pass at once and after each pause."""

    def turn() -> bool:
        handler({}, invocation())
        return False

    repeat(turn, seconds)


def replace_file(file: Path, text: str) -> None:
    """Replace a file at once: its process may be killed at any time."""
    beside = file.with_suffix(".new")
    beside.write_text(text)
    beside.replace(file)


def no_metrics(_metrics: object) -> None:
    """Write no metrics."""
