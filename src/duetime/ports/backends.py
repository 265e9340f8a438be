"""The back ends that the steps are assembled over, whatever implements them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

from duetime._lazy_property import lazy_property

if TYPE_CHECKING:
    from duetime.clock import Clock
    from duetime.ports.access import AuditTrail, Grants
    from duetime.ports.action_store import ActionStore
    from duetime.ports.deliveries import Deliveries, Windows
    from duetime.ports.job_store import JobStore
    from duetime.ports.jobs import JobWakes
    from duetime.ports.keyed_items import Items
    from duetime.ports.notifications import Inbox, PreferencesStore
    from duetime.ports.rate_limits import SetLimits
    from duetime.ports.regions import ActiveRegions
    from duetime.ports.run_counts import RunCounts
    from duetime.ports.usage import UsageCounts
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


class KeyedPorts(ABC):
    """The back ends over keyed items, each made at its first use, so that a cold start loads what it uses."""

    clock: Clock

    @property
    @abstractmethod
    def items(self) -> Items:
        """The items."""

    @lazy_property
    def run_counts(self) -> RunCounts:
        """How often jobs and types ran."""
        from duetime.ports.run_counts import RunCounts  # noqa: PLC0415 - as the class says

        return RunCounts(self.items)

    @lazy_property
    def usage_counts(self) -> UsageCounts:
        """What tenants have used of their quotas."""
        from duetime.ports.usage import UsageCounts  # noqa: PLC0415 - as the class says

        return UsageCounts(self.items)

    @lazy_property
    def pauses(self) -> WorkPauses:
        """The pauses of tenants' work."""
        from duetime.ports.work_pauses import WorkPauses  # noqa: PLC0415 - as the class says

        return WorkPauses(self.items)

    @lazy_property
    def limits(self) -> SetLimits:
        """The rate limits that operators set."""
        from duetime.ports.rate_limits import SetLimits  # noqa: PLC0415 - as the class says

        return SetLimits(self.items)

    @lazy_property
    def bookmarks(self) -> Bookmarks:
        """Where repeated passes left off."""
        from duetime.ports.wakeups import Bookmarks  # noqa: PLC0415 - as the class says

        return Bookmarks(self.items)

    @lazy_property
    def audit_trail(self) -> AuditTrail:
        """Who changed what."""
        from duetime.ports.access import AuditTrail  # noqa: PLC0415 - as the class says

        return AuditTrail(self.items)

    @lazy_property
    def preferences(self) -> PreferencesStore:
        """Whom to notify of what, and where."""
        from duetime.ports.notifications import PreferencesStore  # noqa: PLC0415 - as the class says

        return PreferencesStore(self.items)

    @lazy_property
    def inbox(self) -> Inbox:
        """The tenants' notifications."""
        from duetime.ports.notifications import Inbox  # noqa: PLC0415 - as the class says

        return Inbox(self.items)

    @lazy_property
    def deliveries(self) -> Deliveries:
        """What was sent to whom."""
        from duetime.ports.deliveries import Deliveries  # noqa: PLC0415 - as the class says

        return Deliveries(self.items)

    @lazy_property
    def windows(self) -> Windows:
        """The counts of notifications for digests."""
        from duetime.ports.deliveries import Windows  # noqa: PLC0415 - as the class says

        return Windows(self.items)

    @lazy_property
    def grants(self) -> Grants:
        """The roles that admins granted."""
        from duetime.ports.access import Grants  # noqa: PLC0415 - as the class says

        return Grants(self.items, self.clock)
