"""Assemble the steps over one set of back ends, for the Lambdas and for the embedded cloud.

The first read of a step loads its module and makes it. So the cold start of a Lambda loads only its own steps
(`python -m bench lazy` measures the gain).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from duetime._lazy_property import lazy_property
from duetime.ids import TenantId
from duetime.ports.actions import DamagedRow
from duetime.ports.meter import UNMETERED, Meter

if TYPE_CHECKING:
    from duetime.jobs.advance_backfill import AdvanceBackfill
    from duetime.jobs.check_deadlines import CheckDeadlines
    from duetime.jobs.maintain import Maintain, MaintainDueJobs, Repair
    from duetime.jobs.plan import Plan
    from duetime.jobs.reconcile import Reconcile
    from duetime.jobs.trusted_reading import KnownPauses, KnownRegion
    from duetime.model.backfill import BackfillRef
    from duetime.ports.backends import Backends
    from duetime.recount.recount import Recount
    from duetime.wakeups.arm import Arm
    from duetime.wakeups.count_batch import CountBatch, Release
    from duetime.wakeups.dispatch import Dispatch, DispatchJobs
    from duetime.wakeups.due_scanner import DueScanner
    from duetime.wakeups.follow import AfterHandOver, Follow, SweepHeld
    from duetime.wakeups.sweep import Canary, DeepSweep, Sweep
    from duetime.wakeups.wheel import Rearm, Wheel


def _made(where: str) -> Any:
    """Return a step that its first read loads and makes, by the names of its constructor's parameters.

    Those that `Steps` has no member for keep their defaults.
    """
    module, _, name = where.rpartition(".")

    def make(steps: Steps) -> object:
        step = getattr(import_module(f"duetime.{module}"), name)
        known = {*vars(Steps), *vars(steps)}
        return step(**{name: getattr(steps, name) for name in step.__init__.__annotations__ if name in known})

    return lazy_property(make)


class Steps:
    """The steps over one set of back ends.

    Args:
        backends: the stores, queues and timers.
        meter: receives the counts.
        parallel_map: scans due shards and sets timers in parallel, as an executor's `map`; by default one
            after another.
        report_damaged: stores rows that no step can read as undelivered.
        report_stuck: reports what waits for the operators.
        in_phase: arm, dispatch and the wheel sleep once, so that workers need not (`PhaseSleep`).
        most_timers: the timers that arm sets before it leaves actions to the wheel; None: all.
    """

    def __init__(
        self,
        backends: Backends,
        *,
        meter: Meter = UNMETERED,
        parallel_map: Callable[..., Iterable[Any]] = map,
        report_damaged: Callable[[Sequence[DamagedRow]], None] = lambda _rows: None,
        report_stuck: Callable[[str], None] = lambda _text: None,
        in_phase: bool = False,
        most_timers: int | None = None,
    ) -> None:
        self.backends, self.meter, self.parallel_map = backends, meter, parallel_map
        self.report_damaged, self.report_stuck = report_damaged, report_stuck
        self.in_phase, self.most_timers = in_phase, most_timers

    arm: Arm = _made("wakeups.arm.Arm")
    after_hand_over: AfterHandOver = _made("wakeups.follow.AfterHandOver")
    follow: Follow = _made("wakeups.follow.Follow")
    sweep_held: SweepHeld = _made("wakeups.follow.SweepHeld")
    release: Release = _made("wakeups.count_batch.Release")
    count_batch: CountBatch = _made("wakeups.count_batch.CountBatch")
    canary: Canary = _made("wakeups.sweep.Canary")
    dispatch: Dispatch = _made("wakeups.dispatch.Dispatch")
    dispatch_jobs: DispatchJobs = _made("wakeups.dispatch.DispatchJobs")
    due_scanner: DueScanner = _made("wakeups.due_scanner.DueScanner")
    sweep: Sweep = _made("wakeups.sweep.Sweep")
    deep_sweep: DeepSweep = _made("wakeups.sweep.DeepSweep")
    wheel: Wheel = _made("wakeups.wheel.Wheel")
    rearm: Rearm = _made("wakeups.wheel.Rearm")
    plan: Plan = _made("jobs.plan.Plan")
    maintain: Maintain = _made("jobs.maintain.Maintain")
    maintain_due_jobs: MaintainDueJobs = _made("jobs.maintain.MaintainDueJobs")
    check_deadlines: CheckDeadlines = _made("jobs.check_deadlines.CheckDeadlines")
    repair: Repair = _made("jobs.maintain.Repair")
    reconcile: Reconcile = _made("jobs.reconcile.Reconcile")
    recount: Recount = _made("recount.recount.Recount")
    _advance_backfill: AdvanceBackfill = _made("jobs.advance_backfill.AdvanceBackfill")

    def advance(self, ref: BackfillRef) -> None:
        """Advance a backfill; most passes have none, and do not load this step."""
        self._advance_backfill(ref)

    def is_paused(self, tenant_id: TenantId) -> bool:
        """Return whether all work of a tenant is paused."""
        return self.pauses.of_tenant(tenant_id) is not None

    @lazy_property
    def region(self) -> KnownRegion:
        """Which region is active."""
        from duetime.jobs.trusted_reading import KnownRegion  # noqa: PLC0415 - see above

        return KnownRegion(self.backends.regions, self.backends.clock)

    @lazy_property
    def pauses(self) -> KnownPauses:
        """The pauses of tenants' work."""
        from duetime.jobs.trusted_reading import KnownPauses  # noqa: PLC0415 - see above

        return KnownPauses(self.backends.pauses, self.backends.clock)
