"""The Lambdas that EventBridge Scheduler invokes by the clock: the sweep each minute, the catch-up every six hours."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Protocol

from duetime.arm import Arm
from duetime.aws import backends
from duetime.catch_up import CatchUp
from duetime.clock import Clock, SystemClock
from duetime.ports import ActionStore, Bookmarks
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
    store, bookmarks, waker = _waker(settings, clock)
    sweep = Sweep(waker, bookmarks, clock=clock, settings=settings)
    turn = _turn(settings, clock, store, bookmarks, waker)

    def both(stop_at: datetime) -> Mapping[str, Any]:
        ahead = turn(stop_at)
        return {**asdict(sweep(stop_at=stop_at)), "ahead": ahead}

    return _handler(both, clock, "swept")


def make_catch_up_handler(settings: Settings) -> Handler:
    """The handler of the six-hourly schedule."""
    clock = SystemClock()
    _, bookmarks, waker = _waker(settings, clock)
    catch_up = CatchUp(waker, bookmarks, clock=clock, settings=settings)
    return _handler(lambda stop_at: asdict(catch_up(stop_at=stop_at)), clock, "caught up")


def _waker(settings: Settings, clock: Clock) -> tuple[ActionStore, Bookmarks, Waker]:
    store, routes = backends.action_store(settings), backends.routes(settings, clock)
    at_once = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="duetime-waker")
    waker = Waker(
        store, backends.due_queues(settings), routes, clock=clock, settings=settings, map_=at_once.map
    )
    return store, backends.bookmarks(settings), waker


def _turn(
    settings: Settings, clock: Clock, store: ActionStore, bookmarks: Bookmarks, waker: Waker
) -> Callable[[datetime], int]:
    """What is done ahead of time: the wheel's turn, or, where timers do that, what a former wheel left behind."""
    if settings.timers == "wheel":
        wheel = Wheel(waker, bookmarks, clock=clock, settings=settings)
        return lambda stop_at: wheel(stop_at=stop_at).sent
    arm = Arm(
        store,
        backends.due_queues(settings),
        backends.timers(settings),
        backends.routes(settings, clock),
        clock=clock,
        settings=settings,
    )
    hand_over = HandOver(store, arm, bookmarks, clock=clock)
    return lambda stop_at: hand_over(stop_at=stop_at)


def _handler(run: Callable[[datetime], Mapping[str, Any]], clock: Clock, word: str) -> Handler:
    def handler(_event: Mapping[str, Any], context: Context) -> Mapping[str, Any]:
        left = timedelta(milliseconds=context.get_remaining_time_in_millis())
        passed = run(clock.now() + left - _RESERVE)
        log.info(word, extra=dict(passed))
        return passed

    return handler
