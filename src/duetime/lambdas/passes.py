"""The Lambdas that EventBridge Scheduler invokes: the sweep each minute, the catch-up every six hours.

Once a day, the catch-up also recounts. All three are jobs of the system, and each pass is recorded as a run.
A triggered pass is a message of the worker ``system``; its queue feeds the catch-up's function. `PassSteps`
composes them from their parts, and each part returns what it did.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from duetime._english import counted
from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.damaged_rows import DamagedRows
from duetime.aws.stuck_work import StuckWork
from duetime.clock import Clock, SystemClock
from duetime.ids import JobName
from duetime.jobs.known_region import KnownRegion
from duetime.lambdas.context import LambdaContext, time_left
from duetime.lambdas.metrics_buffer import MetricsBuffer, WriteMetrics, published, write_metrics
from duetime.lambdas.standby import if_active
from duetime.model.built_in import RESERVED
from duetime.ports.backends import Backends
from duetime.ports.meter import Meter
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_messages import ReportStuck
from duetime.wakeups.due_scanner import ReportDamaged
from duetime.wakeups.pass_parts import LONGEST_CALL, Part, in_turn
from duetime.wakeups.system_jobs import CATCH_UP, RECOUNT, SWEEP, PassHistory
from duetime.wakeups.wheel import WheelTurns

if TYPE_CHECKING:  # only triggered passes and checks load it
    from duetime.jobs.check_deadlines import CheckDeadlines

log = logging.getLogger(__name__)

_AT_ONCE = 16
"""Shards that are read side by side: most of a pass waits for responses."""


class PassSteps:
    """The passes of one deployment."""

    def __init__(
        self,
        backends: Backends,
        settings: Settings,
        clock: Clock,
        meter: Meter,
        *,
        report_damaged: ReportDamaged = lambda _rows: None,
        report_stuck: ReportStuck = lambda _text: None,
        in_phase: bool = False,
    ) -> None:
        self._settings, self._clock = settings, clock
        at_once = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="duetime-scanner")
        self._steps = Steps(
            backends,
            clock=clock,
            settings=settings,
            meter=meter,
            parallel_map=at_once.map,
            report_damaged=report_damaged,
            report_stuck=report_stuck,
            in_phase=in_phase,
        )

    def sweep(self, stop_at: datetime) -> Mapping[str, Any]:
        """Send what is overdue, maintain due jobs, look at batches and held actions, and turn the wheel.

        Then arm rows that the wheel left without timers. If the wheel's share of the time was too short, it
        goes on in the rest.
        """
        turns = WheelTurns(self._steps.wheel)
        parts: Sequence[Part] = (
            self._canary,
            self._overdue,
            self._maintained,
            lambda until: {"held": self._steps.sweep_held(stop_at=until)},
            lambda until: {"ahead": turns.first(until)},
            self._rearmed,
            lambda until: {"ahead": turns.rest(until)},
        )
        return in_turn(parts, stop_at, self._clock)

    def catch_up(self, stop_at: datetime, *more: Part) -> Mapping[str, Any]:
        """Send everything overdue, maintain due jobs, look at held actions, and repair jobs' schedules."""
        parts = (self._all_overdue, self._maintained, self._all_held, self._repaired, *more)
        return in_turn(parts, stop_at, self._clock)

    def recount(self, stop_at: datetime) -> str:
        """Account for the nominal times of the last days; return a line about it."""
        return self._steps.recount(stop_at=stop_at).in_words()

    def is_recount_due(self) -> bool:
        """Return whether today's recount is to begin or to go on."""
        return self._steps.recount.is_due()

    def deadlines(self) -> CheckDeadlines:
        """Return what looks at deadlines."""
        return self._steps.check_deadlines

    def _canary(self, _stop_at: datetime) -> Mapping[str, Any]:
        return {"canary": True} if self._steps.canary() else {}

    def _overdue(self, stop_at: datetime) -> Mapping[str, Any]:
        return asdict(self._steps.sweep(stop_at=stop_at))

    def _all_overdue(self, stop_at: datetime) -> Mapping[str, Any]:
        return asdict(self._steps.deep_sweep(stop_at=stop_at))

    def _all_held(self, stop_at: datetime) -> Mapping[str, Any]:
        return {"held": self._steps.sweep_held.check_all(stop_at=stop_at)}

    def _maintained(self, stop_at: datetime) -> Mapping[str, Any]:
        result = self._steps.maintain_due_jobs(stop_at=stop_at)
        return {"maintained": result.maintained, "planned": result.planned, "failed_jobs": result.failed}

    def _repaired(self, stop_at: datetime) -> Mapping[str, Any]:
        result = self._steps.repair(stop_at=stop_at)
        return {"removed": result.removed, "set_again": result.set}

    def _rearmed(self, stop_at: datetime) -> Mapping[str, Any]:
        """With timers, arm what a wheel left without them; the last call of EventBridge may hang."""
        if self._settings.timers == "wheel":
            return {}
        return {"rearmed": self._steps.rearm(stop_at=stop_at - LONGEST_CALL)}


def in_words(done: Mapping[str, Any]) -> str:
    """Return what a pass did, in a line: ``sent 3, maintained 2 jobs``."""
    removed, again = (len(done.get(name, ())) for name in ("removed", "set_again"))
    words = [
        f"sent {done['sent'] + done.get('ahead', 0)}",
        f"maintained {counted(done['maintained'], 'job')}",
    ]
    if removed or again:
        words.append(f"removed {counted(removed, 'stray')}, set wakes of {counted(again, 'job')} again")
    words += [f"set aside {aside['number']} of the queue {aside['queue']}" for aside in done["set_aside"]]
    if left := [*done["failed_shards"], *done["failed_jobs"]]:
        words.append(f"left for the next: {', '.join(left)}")
    return ", ".join(words)


_RESERVE = timedelta(seconds=5)
"""The part of the function's time in which it writes the bookmark and the run."""

_TRIGGERED_RESERVE = timedelta(seconds=20)
"""The same for a triggered run: its deadline counts from its claim, which is later than the call."""


Event = Mapping[str, Any]
Handler = Callable[[Event, LambdaContext], Event]


def make_sweep_handler(
    settings: Settings, *, instance: str, metrics: WriteMetrics = write_metrics, in_phase: bool = False
) -> Handler:
    """Return the handler of the minute's schedule.

    Args:
        settings: the deployment's.
        instance: the name of this process in the record of a pass.
        metrics: writes the metrics of each invocation.
        in_phase: see `Steps`; so does Lambda, where workers pay for waiting.
    """
    recorded = _Recorded(settings, SWEEP, instance, metrics, in_phase=in_phase)
    return recorded.handler(SWEEP, recorded.passes.sweep)


def make_catch_up_handler(
    settings: Settings, *, instance: str, metrics: WriteMetrics = write_metrics
) -> Handler:
    """Return the handler of the six-hourly schedule, and of the messages of triggered passes.

    Args:
        settings: the deployment's.
        instance: the name of this process in the record of a pass.
        metrics: writes the metrics of each invocation.
    """
    recorded = _Recorded(settings, CATCH_UP, instance, metrics)
    by_clock = recorded.handler(CATCH_UP, lambda until: recorded.passes.catch_up(until, recorded.recount))
    triggered = cache(lambda: recorded.meter.around(_triggered(settings, recorded.passes, instance, metrics)))

    def handler(event: Event, context: LambdaContext) -> Event:
        return triggered()(event, context) if "Records" in event else by_clock(event, context)

    return handler


class _Recorded:
    """The passes of one deployment, each recorded as a run of its job."""

    def __init__(
        self,
        settings: Settings,
        job: JobName,
        instance: str,
        metrics: WriteMetrics,
        *,
        in_phase: bool = False,
    ) -> None:
        self._clock = SystemClock()
        backends = AwsBackends(settings, self._clock, calls=clients.PROMPT)
        self.meter = MetricsBuffer(settings, published(backends.routes), metrics)
        source = job.removeprefix(RESERVED)
        report = DamagedRows(settings, source)
        self._around = report.around
        self.passes = PassSteps(
            backends,
            settings,
            self._clock,
            self.meter,
            report_damaged=report,
            report_stuck=StuckWork(settings, source, self._clock),
            in_phase=in_phase,
        )
        self._region = KnownRegion(backends.regions, self._clock)
        self._history = PassHistory(backends.store, clock=self._clock, settings=settings, instance=instance)

    def recount(self, stop_at: datetime) -> Mapping[str, Any]:
        """Run today's recount if it is due, recorded as a run of its own job."""
        if not self.passes.is_recount_due():
            return {}
        with self._history.recording(RECOUNT) as messages:
            messages.append(self.passes.recount(stop_at))
        return {"recounted": messages[0]}

    def handler(self, job: JobName, run: Part) -> Handler:
        def handler(_event: Event, context: LambdaContext) -> Event:
            stop_at = self._clock.now() + time_left(context) - _RESERVE
            with self._history.recording(job) as messages:
                passed = run(stop_at)
                messages.append(in_words(passed))
            log.info("passed", extra={"job": job, **passed})
            return passed

        active = if_active(self._region, handler, {"standby": self._region.own})
        return self.meter.around(self._around(active))


def _triggered(
    settings: Settings, passes: PassSteps, instance: str, metrics: WriteMetrics
) -> Callable[[Event, object], Event]:
    """Return the worker of triggered passes; only it loads these modules."""
    from duetime.lambdas import work  # noqa: PLC0415 - as above
    from duetime.wakeups.system_jobs import system_handlers  # noqa: PLC0415 - as above

    def messages(run: Part) -> Callable[[datetime], str]:
        return lambda deadline: in_words(run(deadline - _TRIGGERED_RESERVE))

    by_job = {
        SWEEP: messages(passes.sweep),
        CATCH_UP: messages(passes.catch_up),
        RECOUNT: lambda deadline: passes.recount(deadline - _TRIGGERED_RESERVE),
    }
    handlers = system_handlers(by_job, settings, passes.deadlines)
    return work.make_handler(settings, handlers, instance=instance, metrics=metrics)
