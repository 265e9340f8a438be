"""The back ends that the steps are assembled over, whatever implements them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.clock import Clock
    from duetime.ports.actions import ActionStore
    from duetime.ports.jobs import JobStore, JobWakes
    from duetime.ports.rate_limits import SetLimits
    from duetime.ports.regions import ActiveRegions
    from duetime.ports.wakeups import Bookmarks, DueQueues, Routes, Timers
    from duetime.ports.work_pauses import WorkPauses
    from duetime.settings import Settings


class JobTables(Protocol):
    """The rows that jobs and their runs need, and the clock and settings of the steps over them."""

    @property
    def store(self) -> ActionStore:
        """The rows of actions."""

    @property
    def jobs(self) -> JobStore:
        """The rows of jobs."""

    @property
    def clock(self) -> Clock:
        """The source of the present time."""

    @property
    def settings(self) -> Settings:
        """The deployment's."""


class Backends(JobTables, Protocol):
    """One set of back ends.

    A member may be made when it is first read, so that a cold start pays for what it uses.
    """

    @property
    def queues(self) -> DueQueues:
        """The workers' queues."""

    @property
    def timers(self) -> Timers:
        """The timers of far actions."""

    @property
    def job_wakes(self) -> JobWakes:
        """The schedules and rules of jobs."""

    @property
    def bookmarks(self) -> Bookmarks:
        """Where repeated passes left off."""

    @property
    def routes(self) -> Routes:
        """Which worker runs which type."""

    @property
    def pauses(self) -> WorkPauses:
        """The pauses of tenants' work."""

    @property
    def limits(self) -> SetLimits:
        """The rate limits that operators set."""

    @property
    def regions(self) -> ActiveRegions:
        """Which region is active."""
