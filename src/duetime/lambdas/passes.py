"""The Lambdas that EventBridge Scheduler invokes by the clock: the sweep each minute, the catch-up every six hours."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Protocol

from duetime.aws import backends
from duetime.catch_up import CatchUp
from duetime.clock import SystemClock
from duetime.overdue import Overdue
from duetime.settings import Settings
from duetime.sweep import Sweep

log = logging.getLogger(__name__)

_RESERVE = timedelta(seconds=5)
"""Kept back of the function's time, to write the bookmark."""


class Context(Protocol):
    """What a pass asks of Lambda's context."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda ends the function."""
        ...


Handler = Callable[[Mapping[str, Any], Context], Mapping[str, Any]]


def make_sweep_handler(settings: Settings) -> Handler:
    """The handler of the minute's schedule."""
    return _make_handler(settings, Sweep, "swept")


def make_catch_up_handler(settings: Settings) -> Handler:
    """The handler of the six-hourly schedule."""
    return _make_handler(settings, CatchUp, "caught up")


def _make_handler(settings: Settings, step: type[Sweep | CatchUp], word: str) -> Handler:
    clock = SystemClock()
    store = backends.action_store(settings)
    overdue = Overdue(
        store,
        backends.due_queues(settings),
        backends.routes(settings, clock),
        clock=clock,
        settings=settings,
    )
    run = step(overdue, backends.bookmarks(settings), shards=store.due_shards, clock=clock, settings=settings)

    def handler(_event: Mapping[str, Any], context: Context) -> Mapping[str, Any]:
        left = timedelta(milliseconds=context.get_remaining_time_in_millis())
        passed = asdict(run(stop_at=clock.now() + left - _RESERVE))
        log.info(word, extra=passed)
        return passed

    return handler
