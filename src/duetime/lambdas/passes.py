"""The Lambdas that EventBridge Scheduler invokes by the clock: the sweep each minute, the catch-up every six hours."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Protocol

from duetime.arm import Arm
from duetime.aws.backends import Backends
from duetime.catch_up import CatchUp
from duetime.clock import Clock, SystemClock
from duetime.settings import Settings
from duetime.sweep import Sweep
from duetime.waking import Waker
from duetime.wheel import HandOver, Wheel

log = logging.getLogger(__name__)

_RESERVE = timedelta(seconds=5)
"""Kept back of the function's time, to write the bookmark."""

_AT_ONCE = 16
"""Shards that are read side by side: most of a pass is waiting for answers."""


class Context(Protocol):
    """What a pass asks of Lambda's context."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda ends the function."""
        ...


Handler = Callable[[Mapping[str, Any], Context], Mapping[str, Any]]


def make_sweep_handler(settings: Settings) -> Handler:
    """The handler of the minute's schedule: the sweep, and the wheel's turn or its handing over."""
    clock = SystemClock()
    backends = Backends(settings, clock)
    waker = _waker(backends, settings, clock)
    sweep = Sweep(waker, backends.bookmarks, clock=clock, settings=settings)
    ahead = _ahead(backends, waker, settings, clock)

    def both(stop_at: datetime) -> Mapping[str, Any]:
        now = clock.now()
        sent_ahead = ahead(now + (stop_at - now) / 2)  # a long backlog ahead must not starve what is overdue
        return {**asdict(sweep(stop_at=stop_at)), "ahead": sent_ahead}

    return _handler(both, clock, "swept")


def make_catch_up_handler(settings: Settings) -> Handler:
    """The handler of the six-hourly schedule."""
    clock = SystemClock()
    backends = Backends(settings, clock)
    waker = _waker(backends, settings, clock)
    catch_up = CatchUp(waker, backends.bookmarks, clock=clock, settings=settings)
    return _handler(lambda stop_at: asdict(catch_up(stop_at=stop_at)), clock, "caught up")


def _waker(backends: Backends, settings: Settings, clock: Clock) -> Waker:
    at_once = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="duetime-waker")
    return Waker(
        backends.store, backends.queues, backends.routes, clock=clock, settings=settings, map_=at_once.map
    )


def _ahead(backends: Backends, waker: Waker, settings: Settings, clock: Clock) -> Callable[[datetime], int]:
    """What is done ahead of time: the wheel's turn, or, where timers do that, what a former wheel left behind."""
    if settings.timers == "wheel":
        wheel = Wheel(waker, backends.bookmarks, clock=clock, settings=settings)
        return lambda stop_at: wheel(stop_at=stop_at).sent
    arm = Arm(
        backends.store, backends.queues, backends.timers, backends.routes, clock=clock, settings=settings
    )
    hand_over = HandOver(backends.store, arm, backends.bookmarks, clock=clock)
    return lambda stop_at: hand_over(stop_at=stop_at)


def _handler(run: Callable[[datetime], Mapping[str, Any]], clock: Clock, word: str) -> Handler:
    def handler(_event: Mapping[str, Any], context: Context) -> Mapping[str, Any]:
        left = timedelta(milliseconds=context.get_remaining_time_in_millis())
        passed = run(clock.now() + left - _RESERVE)
        log.info(word, extra=dict(passed))
        return passed

    return handler
