"""Assemble the steps over one set of back ends, for the Lambdas and for the embedded cloud.

The first read of a step loads its module and makes it. So the cold start of a Lambda loads only its own steps
(`python -m bench lazy` measures the gain).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from duetime._lazy_property import lazy_property
from duetime.clock import Clock
from duetime.ports.actions import DamagedRow
from duetime.ports.meter import UNMETERED, Meter
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.jobs.check_deadlines import CheckDeadlines
    from duetime.jobs.known_pauses import KnownPauses
    from duetime.jobs.known_region import KnownRegion
    from duetime.jobs.maintain import Maintain, MaintainDueJobs
    from duetime.jobs.plan import Plan
    from duetime.jobs.reconcile import Reconcile
    from duetime.jobs.repair import Repair
    from duetime.model.backfill import BackfillRef
    from duetime.ports.backends import Backends
    from duetime.recount.recount import Recount
    from duetime.wakeups.after_hand_over import AfterHandOver
    from duetime.wakeups.arm import Arm
    from duetime.wakeups.canary import Canary
    from duetime.wakeups.count_batch import CountBatch
    from duetime.wakeups.deep_sweep import DeepSweep
    from duetime.wakeups.dispatch import Dispatch, DispatchJobs
    from duetime.wakeups.due_scanner import DueScanner
    from duetime.wakeups.follow import Follow, SweepHeld
    from duetime.wakeups.release import Release
    from duetime.wakeups.sweep import Sweep
    from duetime.wakeups.wheel import Rearm, Wheel

# ruff: noqa: PLC0415 - see above


class Steps:
    """The steps over one set of back ends.

    Args:
        backends: the stores, queues and timers.
        clock: the clock of the steps.
        settings: the deployment's.
        meter: receives the counts.
        parallel_map: scans due shards and sets timers in parallel, as an executor's `map`; by default one
            after another.
        report_damaged: stores rows that no step can read as undelivered.
        report_stuck: reports what waits for the operators.
        in_phase: arm, dispatch and the wheel sleep once, so that workers need not (`duetime.wakeups.phase`).
        most_timers: the timers that arm sets before it leaves actions to the wheel; None: all.
    """

    def __init__(
        self,
        backends: Backends,
        *,
        clock: Clock,
        settings: Settings,
        meter: Meter = UNMETERED,
        parallel_map: Callable[..., Iterable[Any]] = map,
        report_damaged: Callable[[Sequence[DamagedRow]], None] = lambda _rows: None,
        report_stuck: Callable[[str], None] = lambda _text: None,
        in_phase: bool = False,
        most_timers: int | None = None,
    ) -> None:
        self._backends, self._clock, self._settings, self._meter = backends, clock, settings, meter
        self._map, self._report_damaged = parallel_map, report_damaged
        self._report_stuck, self._in_phase = report_stuck, in_phase
        self._most_timers = most_timers

    @lazy_property
    def arm(self) -> Arm:
        """Sets and clears the wakes of actions."""
        from duetime.wakeups.arm import Arm

        return Arm(
            self._backends.store,
            self._backends.queues,
            self._backends.timers,
            self._backends.routes,
            self._backends.bookmarks,
            clock=self._clock,
            settings=self._settings,
            report_stuck=self._report_stuck,
            in_phase=self._in_phase,
            most_timers=self._most_timers,
            map_=self._map,
        )

    @lazy_property
    def follow(self) -> Follow:
        """Releases and counts what waits for the rows of a group of stream records."""
        from duetime.wakeups.follow import Follow

        return Follow(self._count_batch, self._release, self._clock)

    @lazy_property
    def sweep_held(self) -> SweepHeld:
        """Counts batches and checks held actions, also without the records of the stream."""
        from duetime.wakeups.follow import SweepHeld

        return SweepHeld(self._backends.store, self._count_batch, self._release, self._clock)

    @lazy_property
    def _release(self) -> Release:
        from duetime.wakeups.release import Release

        return Release(self._backends.store, clock=self._clock, settings=self._settings)

    @lazy_property
    def _count_batch(self) -> CountBatch:
        from duetime.wakeups.count_batch import CountBatch

        return CountBatch(
            self._backends.store,
            self._release,
            clock=self._clock,
            settings=self._settings,
            map_=self._map,
        )

    @lazy_property
    def after_hand_over(self) -> AfterHandOver:
        """Frees what a handed-over run held."""
        from duetime.wakeups.after_hand_over import AfterHandOver

        backends = self._backends
        return AfterHandOver(backends.queues, backends.routes, clock=self._clock)

    @lazy_property
    def canary(self) -> Canary:
        """Schedules the canary."""
        from duetime.wakeups.canary import Canary

        return Canary(self._backends.store, clock=self._clock, settings=self._settings)

    @lazy_property
    def dispatch(self) -> Dispatch:
        """Sends the due message of an action whose timer fired."""
        from duetime.wakeups.dispatch import Dispatch

        return Dispatch(
            self._backends.queues,
            self._backends.routes,
            clock=self._clock,
            settings=self._settings,
            in_phase=self._in_phase,
        )

    @lazy_property
    def dispatch_jobs(self) -> DispatchJobs:
        """Plans a job whose schedule fired, or starts a run for an event."""
        from duetime.wakeups.dispatch import DispatchJobs

        return DispatchJobs(
            self._backends.store,
            self._backends.jobs,
            self.plan,
            clock=self._clock,
            settings=self._settings,
            pauses=self._pauses,
        )

    @lazy_property
    def plan(self) -> Plan:
        """Plans the next occurrences of a job."""
        from duetime.jobs.plan import Plan

        return Plan(
            self._backends.store,
            self._backends.jobs,
            clock=self._clock,
            settings=self._settings,
            meter=self._meter,
            pauses=self._pauses,
            region=self.region,
        )

    @lazy_property
    def check_deadlines(self) -> CheckDeadlines:
        """Looks at nominal times by their deadlines, and at silent jobs."""
        from duetime.jobs.check_deadlines import CheckDeadlines

        return CheckDeadlines(
            self._backends.store,
            self._backends.jobs,
            clock=self._clock,
            settings=self._settings,
            pauses=self._pauses,
            meter=self._meter,
        )

    @lazy_property
    def maintain(self) -> Maintain:
        """Maintains one job."""
        from duetime.jobs.maintain import Maintain

        return Maintain(
            self.plan,
            self._backends.jobs,
            self._backends.job_wakes,
            clock=self._clock,
            settings=self._settings,
        )

    @lazy_property
    def maintain_due_jobs(self) -> MaintainDueJobs:
        """Maintains each job that is due for it."""
        from duetime.jobs.maintain import MaintainDueJobs

        return MaintainDueJobs(
            self._backends.jobs,
            self.maintain,
            clock=self._clock,
            pauses=self._pauses,
            advance=self._advance_backfill,
        )

    def _advance_backfill(self, ref: BackfillRef) -> None:
        """Advance a backfill; most passes have none, and do not load this step."""
        from duetime.jobs.advance_backfill import AdvanceBackfill

        advance = AdvanceBackfill(
            self._backends.store,
            self._backends.jobs,
            clock=self._clock,
            settings=self._settings,
            pauses=self._pauses,
            region=self.region,
            meter=self._meter,
        )
        advance(ref)

    @lazy_property
    def repair(self) -> Repair:
        """Removes stray schedules and sets missing ones."""
        from duetime.jobs.repair import Repair

        return Repair(
            self._backends.jobs,
            self._backends.job_wakes,
            self.maintain,
            clock=self._clock,
            settings=self._settings,
        )

    @lazy_property
    def recount(self) -> Recount:
        """Accounts for the nominal times of the last days."""
        from duetime.recount.recount import Recount

        return Recount(
            self._backends.store,
            self._backends.jobs,
            self._backends.bookmarks,
            clock=self._clock,
            settings=self._settings,
            is_paused=lambda tenant_id: self._pauses.of_tenant(tenant_id) is not None,
            meter=self._meter,
            report_stuck=self._report_stuck,
        )

    @lazy_property
    def reconcile(self) -> Reconcile:
        """Brings the jobs that code declares into the table."""
        from duetime.jobs.reconcile import Reconcile

        return Reconcile(
            self._backends.store,
            self._backends.jobs,
            self._backends.job_wakes,
            self.maintain,
            clock=self._clock,
            settings=self._settings,
        )

    @lazy_property
    def sweep(self) -> Sweep:
        """Sends overdue actions again, in bands of lateness."""
        from duetime.wakeups.sweep import Sweep

        return Sweep(
            self._due_scanner,
            self._backends.bookmarks,
            clock=self._clock,
            settings=self._settings,
            meter=self._meter,
            region=self.region,
        )

    @lazy_property
    def deep_sweep(self) -> DeepSweep:
        """Sends everything overdue again."""
        from duetime.wakeups.deep_sweep import DeepSweep

        return DeepSweep(
            self._due_scanner,
            self._backends.bookmarks,
            clock=self._clock,
            settings=self._settings,
            meter=self._meter,
        )

    @lazy_property
    def wheel(self) -> Wheel:
        """Sends what is due within 14 minutes, in place of timers."""
        from duetime.wakeups.wheel import Wheel

        return Wheel(self._due_scanner, self._backends.bookmarks, clock=self._clock, settings=self._settings)

    @lazy_property
    def rearm(self) -> Rearm:
        """Arms what a previous wheel left without timers."""
        from duetime.wakeups.wheel import Rearm

        return Rearm(
            self._backends.store,
            self.arm,
            self._backends.bookmarks,
            clock=self._clock,
            report_damaged=self._report_damaged,
        )

    @lazy_property
    def region(self) -> KnownRegion:
        """Which region is active."""
        from duetime.jobs.known_region import KnownRegion

        return KnownRegion(self._backends.regions, self._clock)

    @lazy_property
    def _due_scanner(self) -> DueScanner:
        from duetime.wakeups.due_scanner import DueScanner

        return DueScanner(
            self._backends.store,
            self._backends.queues,
            self._backends.routes,
            clock=self._clock,
            settings=self._settings,
            report_damaged=self._report_damaged,
            report_stuck=self._report_stuck,
            pauses=self._pauses,
            map_=self._map,
            in_phase=self._in_phase,
        )

    @lazy_property
    def _pauses(self) -> KnownPauses:
        from duetime.jobs.known_pauses import KnownPauses

        return KnownPauses(self._backends.pauses, self._clock)
