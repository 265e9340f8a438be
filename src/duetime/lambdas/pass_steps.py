"""Compose the two passes, sweep and catch-up, from their parts; each part returns what it did."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from typing import Any

from duetime.clock import Clock
from duetime.ports.backends import Backends
from duetime.ports.meter import Meter
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps

log = logging.getLogger(__name__)

Part = Callable[[datetime], Mapping[str, Any]]
"""A part of a pass, to end by an instant; returns what it did."""

_AT_ONCE = 16
"""Shards that are read side by side: most of a pass waits for responses."""


class PassSteps:
    """The passes of one deployment."""

    def __init__(self, backends: Backends, settings: Settings, clock: Clock, meter: Meter) -> None:
        self._settings, self._clock = settings, clock
        at_once = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="duetime-scanner")
        self._steps = Steps(backends, clock=clock, settings=settings, meter=meter, parallel_map=at_once.map)

    def sweep(self, stop_at: datetime) -> Mapping[str, Any]:
        """Send what is due soon or was left without a timer, then what is overdue; then maintain due jobs."""
        return in_turn((self._ahead, self._overdue, self._maintained), stop_at, self._clock)

    def catch_up(self, stop_at: datetime) -> Mapping[str, Any]:
        """Send everything overdue, maintain due jobs, and repair their schedules on EventBridge."""
        return in_turn((self._all_overdue, self._maintained, self._repaired), stop_at, self._clock)

    def _ahead(self, stop_at: datetime) -> Mapping[str, Any]:
        """Turn the wheel; with timers, arm what a former wheel left without them."""
        if self._settings.timers == "wheel":
            return {"ahead": self._steps.wheel(stop_at=stop_at).sent}
        return {"ahead": self._steps.rearm(stop_at=stop_at)}

    def _overdue(self, stop_at: datetime) -> Mapping[str, Any]:
        return asdict(self._steps.sweep(stop_at=stop_at))

    def _all_overdue(self, stop_at: datetime) -> Mapping[str, Any]:
        return asdict(self._steps.deep_sweep(stop_at=stop_at))

    def _maintained(self, stop_at: datetime) -> Mapping[str, Any]:
        result = self._steps.maintain_due_jobs(stop_at=stop_at)
        return {"attended": result.attended, "planned": result.planned, "failed_jobs": result.failed}

    def _repaired(self, stop_at: datetime) -> Mapping[str, Any]:
        result = self._steps.repair(stop_at=stop_at)
        return {"removed": result.removed, "set_again": result.set}


def in_turn(parts: tuple[Part, ...], stop_at: datetime, clock: Clock) -> Mapping[str, Any]:
    """Run the parts in turn, each with an equal share of the remaining time; a failing part stops no other.

    Raises:
        Exception: what the first part raised that failed.
    """
    done, failure = dict[str, Any](), None
    for index, part in enumerate(parts):
        now = clock.now()
        try:
            done |= part(now + (stop_at - now) / (len(parts) - index))
        except Exception as error:
            log.exception("a part of the pass failed, the others go on")
            failure = failure or error
    if failure is not None:
        raise failure
    return done


def in_words(done: Mapping[str, Any]) -> str:
    """Return what a pass did, in a line: ``sent 3, attended to 2 jobs``."""
    attended, removed, again = done["attended"], len(done.get("removed", ())), len(done.get("set_again", ()))
    words = [
        f"sent {done['sent'] + done.get('ahead', 0)}",
        f"attended to {attended} job{'' if attended == 1 else 's'}",
    ]
    if removed or again:
        words.append(f"removed {removed} strays, set wakes of {again} jobs again")
    if left := [*done["failed_shards"], *done["failed_jobs"]]:
        words.append(f"left for the next: {', '.join(left)}")
    return ", ".join(words)
