"""The volume: a workload as counts a month."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from duetime.cost.units import DAYS, EVENTS_OF_ONE, IN_ROW_LIMIT, batches
from duetime.cost.workload import Workload


@dataclass(frozen=True, slots=True)
class Volume:
    """What happens in a month."""

    actions: float
    """One-shots."""
    far: float
    runs: float
    """Of jobs; each has a timer, since it is planned with the run before."""
    retries: float
    """Further attempts, of actions and runs."""
    failures: float
    timers: float
    """One-shots of EventBridge Scheduler, of actions and runs: none with the wheel."""
    events: float
    is_apart: bool
    """Payloads are items of their own."""

    @classmethod
    def of(cls, work: Workload) -> Self:
        """The counts that follow from a workload."""
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
            is_apart=work.payload_bytes > IN_ROW_LIMIT,
        )

    @property
    def done(self) -> float:
        """One-shots and runs of jobs: what is worth something."""
        return self.actions + self.runs

    @property
    def messages(self) -> float:
        """Due messages: one for each attempt."""
        return self.done + self.retries

    @property
    def armed(self) -> float:
        """Records that arm is given: each time that something becomes pending, and each payload left by its row."""
        return self.messages + (self.actions if self.is_apart else 0)

    @property
    def arm_batches(self) -> float:
        """Invocations of arm."""
        return batches(self.armed)

    @property
    def event_batches(self) -> float:
        """Invocations of what publishes lifecycle events."""
        return batches(self.events)


def _events(which: str, actions: float, runs: float, failed_actions: float) -> float:
    if which == "off":
        return 0
    told = EVENTS_OF_ONE * actions if which == "all" else failed_actions
    return told + EVENTS_OF_ONE * runs
