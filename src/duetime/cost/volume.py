"""A workload as counts a month."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from duetime.cost.units import DAYS, EVENTS_OF_ONE, IN_ROW_LIMIT, batches
from duetime.cost.workload import Workload


@dataclass(frozen=True, slots=True)
class Volume:
    """Counts of a month.

    Attributes:
        actions: one-shots.
        far: one-shots due more than 15 minutes ahead.
        runs: runs of jobs; each has a timer, since it is planned with the run before.
        retries: further attempts, of actions and runs.
        failures: actions and runs that failed for good.
        timers: one-shot schedules of EventBridge Scheduler; none with the wheel.
        events: published lifecycle events.
        is_offloaded: whether payloads are items of their own.
    """

    actions: float
    far: float
    runs: float
    retries: float
    failures: float
    timers: float
    events: float
    is_offloaded: bool

    @classmethod
    def from_workload(cls, work: Workload) -> Self:
        """Return the counts of a workload."""
        actions = work.actions_per_day * DAYS
        runs = work.runs_of_jobs_per_day * DAYS
        far = actions * work.far_share
        done = actions + runs
        failed_actions = actions * work.failed_share
        return cls(
            actions=actions,
            far=far,
            runs=runs,
            retries=done * work.retries_share,
            failures=done * work.failed_share,
            timers=far + runs if work.timers == "eventbridge" else 0,
            events=_events(work.events, actions, runs, failed_actions),
            is_offloaded=work.payload_bytes > IN_ROW_LIMIT,
        )

    @property
    def done(self) -> float:
        """One-shots and runs of jobs."""
        return self.actions + self.runs

    @property
    def messages(self) -> float:
        """Due messages: one for each attempt."""
        return self.done + self.retries

    @property
    def armed(self) -> float:
        """Stream records that arm receives: one for each pending row and each offloaded payload."""
        return self.messages + (self.actions if self.is_offloaded else 0)

    @property
    def arm_batches(self) -> float:
        """Invocations of arm."""
        return batches(self.armed)

    @property
    def event_batches(self) -> float:
        """Invocations of the function that publishes lifecycle events."""
        return batches(self.events)


def _events(which: str, actions: float, runs: float, failed_actions: float) -> float:
    if which == "off":
        return 0
    of_actions = EVENTS_OF_ONE * actions if which == "all" else failed_actions
    return of_actions + EVENTS_OF_ONE * runs
