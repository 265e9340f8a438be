"""What the passes are made of: each part looks through something, and tells what it did."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from typing import Any

from duetime.aws.backends import AwsBackends
from duetime.clock import Clock
from duetime.jobs.maintain import Maintain, MaintainDueJobs
from duetime.jobs.plan import Plan
from duetime.jobs.repair import Repair
from duetime.ports.meter import Meter
from duetime.settings import Settings
from duetime.wakeups.arm import Arm
from duetime.wakeups.deep_sweep import DeepSweep
from duetime.wakeups.due_scanner import DueScanner
from duetime.wakeups.sweep import Sweep
from duetime.wakeups.wheel import Rearm, Wheel

log = logging.getLogger(__name__)

Part = Callable[[datetime], Mapping[str, Any]]
"""A part of a pass, to end by an instant; returns what it did."""

_AT_ONCE = 16
"""Shards that are read side by side: most of a pass is waiting for answers."""


class PassSteps:
    """The passes of one deployment."""

    def __init__(self, backends: AwsBackends, settings: Settings, clock: Clock, meter: Meter) -> None:
        self._backends, self._settings, self._clock, self._meter = backends, settings, clock, meter

    def sweep(self, stop_at: datetime) -> Mapping[str, Any]:
        """What is due soon or was left behind, what is overdue, and the jobs to attend to."""
        return in_turn((self._ahead, self._swept, self._attended), stop_at, self._clock)

    def catch_up(self, stop_at: datetime) -> Mapping[str, Any]:
        """All that is overdue, the jobs to attend to, and strays between them and EventBridge."""
        return in_turn((self._caught_up, self._attended, self._mended), stop_at, self._clock)

    @cached_property
    def _waker(self) -> DueScanner:
        at_once = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="duetime-waker")
        backends = self._backends
        return DueScanner(
            backends.store,
            backends.queues,
            backends.routes,
            clock=self._clock,
            settings=self._settings,
            map_=at_once.map,
        )

    @cached_property
    def _ahead(self) -> Part:
        """What is done ahead of time: the wheel's turn, or, where timers do that, what a former wheel left behind."""
        backends, clock, settings = self._backends, self._clock, self._settings
        if settings.timers == "wheel":
            wheel = Wheel(self._waker, backends.bookmarks, clock=clock, settings=settings)
            return lambda stop_at: {"ahead": wheel(stop_at=stop_at).sent}
        arm = Arm(
            backends.store, backends.queues, backends.timers, backends.routes, clock=clock, settings=settings
        )
        hand_over = Rearm(backends.store, arm, backends.bookmarks, clock=clock)
        return lambda stop_at: {"ahead": hand_over(stop_at=stop_at)}

    @cached_property
    def _swept(self) -> Part:
        bookmarks, clock, settings = self._backends.bookmarks, self._clock, self._settings
        sweep = Sweep(self._waker, bookmarks, clock=clock, settings=settings, meter=self._meter)
        return lambda stop_at: asdict(sweep(stop_at=stop_at))

    @cached_property
    def _caught_up(self) -> Part:
        bookmarks, clock, settings = self._backends.bookmarks, self._clock, self._settings
        catch_up = DeepSweep(self._waker, bookmarks, clock=clock, settings=settings, meter=self._meter)
        return lambda stop_at: asdict(catch_up(stop_at=stop_at))

    @cached_property
    def _attend(self) -> Maintain:
        backends, clock, settings = self._backends, self._clock, self._settings
        plan = Plan(backends.store, backends.jobs, clock=clock, settings=settings, meter=self._meter)
        return Maintain(plan, backends.jobs, backends.job_wakes, clock=clock, settings=settings)

    @cached_property
    def _attended(self) -> Part:
        attend_due = MaintainDueJobs(
            self._backends.jobs, self._attend, clock=self._clock, settings=self._settings
        )

        def run(stop_at: datetime) -> Mapping[str, Any]:
            looked = attend_due(stop_at=stop_at)
            return {
                "attended": looked.attended,
                "planned": looked.planned,
                "failed_jobs": looked.failed,
            }

        return run

    @cached_property
    def _mended(self) -> Part:
        backends, clock, settings = self._backends, self._clock, self._settings
        mend = Repair(backends.jobs, backends.job_wakes, self._attend, clock=clock, settings=settings)

        def run(stop_at: datetime) -> Mapping[str, Any]:
            mended = mend(stop_at=stop_at)
            return {"removed": mended.removed, "set_again": mended.set}

        return run


def in_turn(parts: tuple[Part, ...], stop_at: datetime, clock: Clock) -> Mapping[str, Any]:
    """Do one part after the other: each has an equal share of the time that is left, and none stops another by failing.

    Raises:
        Exception: what the first part raised that failed.
    """
    done, failure = dict[str, Any](), None
    for place, part in enumerate(parts):
        now = clock.now()
        try:
            done |= part(now + (stop_at - now) / (len(parts) - place))
        except Exception as error:
            log.exception("a part of the pass failed, the others go on")
            failure = failure or error
    if failure is not None:
        raise failure
    return done


def in_words(done: Mapping[str, Any]) -> str:
    """What a pass did, in a line: ``sent 3, attended to 2 jobs``."""
    attended, removed, again = done["attended"], len(done.get("removed", ())), len(done.get("set_again", ()))
    said = [
        f"sent {done['sent'] + done.get('ahead', 0)}",
        f"attended to {attended} job{'' if attended == 1 else 's'}",
    ]
    if removed or again:
        said.append(f"removed {removed} strays, set wakes of {again} jobs again")
    if left := [*done["failed_shards"], *done["failed_jobs"]]:
        said.append(f"left for the next: {', '.join(left)}")
    return ", ".join(said)
