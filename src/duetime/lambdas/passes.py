"""The Lambdas that EventBridge Scheduler invokes: the sweep each minute, the catch-up every six hours.

Once a day, the catch-up also recounts. All three are jobs of the system, and each pass is recorded as a run.
A triggered pass is a message of the worker ``system``; its queue feeds the catch-up's function.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.damaged_rows import DamagedRows
from duetime.aws.stuck_work import StuckWork
from duetime.ids import JobName
from duetime.lambdas.frame import Event, EventHandler, Handler, LambdaContext, if_active, time_left
from duetime.lambdas.metrics_buffer import MetricsBuffer, WriteMetrics, published, write_metrics
from duetime.model.built_in import RESERVED
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps
from duetime.wakeups.pass_parts import IN_WORDS, Part, catch_up, in_words, sweep, system_handlers
from duetime.wakeups.system_jobs import CATCH_UP, RECOUNT, SWEEP, PassHistory

log = logging.getLogger(__name__)

_AT_ONCE = 16
"""Shards that are read side by side: most of a pass waits for responses."""

_RESERVE = timedelta(seconds=5)
"""The part of the function's time in which it writes the bookmark and the run."""

_TRIGGERED_RESERVE = timedelta(seconds=20)
"""The same for a triggered run: its deadline counts from its claim, which is later than the call."""


def make_sweep_handler(
    settings: Settings, *, instance: str, metrics: WriteMetrics = write_metrics, in_phase: bool = False
) -> Handler[LambdaContext]:
    """Return the handler of the minute's schedule.

    Args:
        settings: the deployment's.
        instance: the name of this process in the record of a pass.
        metrics: writes the metrics of each invocation.
        in_phase: see `Steps`; so does Lambda, where workers pay for waiting.
    """
    recorded = _Recorded(settings, SWEEP, instance, metrics, in_phase=in_phase)
    return recorded.handler(SWEEP, lambda until: sweep(recorded.steps, until))


def make_catch_up_handler(
    settings: Settings, *, instance: str, metrics: WriteMetrics = write_metrics
) -> Handler[LambdaContext]:
    """Return the handler of the six-hourly schedule, and of the messages of triggered passes.

    Args:
        settings: the deployment's.
        instance: the name of this process in the record of a pass.
        metrics: writes the metrics of each invocation.
    """
    recorded = _Recorded(settings, CATCH_UP, instance, metrics)
    by_clock = recorded.handler(CATCH_UP, lambda until: catch_up(recorded.steps, until, recorded.recount))
    triggered = cache(lambda: recorded.meter.around(_triggered(recorded.steps, instance, metrics)))

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
        backends = AwsBackends(settings, calls=clients.PROMPT)
        self.meter = MetricsBuffer(settings, published(backends.routes), metrics)
        source, self._clock = job.removeprefix(RESERVED), backends.clock
        report = DamagedRows(settings, source)
        self._around, self._history = report.around, PassHistory(backends, instance)
        at_once = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="duetime-scanner")
        self.steps = Steps(
            backends,
            meter=self.meter,
            parallel_map=at_once.map,
            report_damaged=report,
            report_stuck=StuckWork(settings, source, self._clock),
            in_phase=in_phase,
        )

    def recount(self, stop_at: datetime) -> Mapping[str, Any]:
        """Run today's recount if it is due, recorded as a run of its own job."""
        if not self.steps.recount.is_due():
            return {}
        with self._history.recording(RECOUNT) as messages:
            messages.append(IN_WORDS[RECOUNT](self.steps, stop_at))
        return {"recounted": messages[0]}

    def handler(self, job: JobName, run: Part) -> Handler[LambdaContext]:
        def handler(_event: Event, context: LambdaContext) -> Event:
            stop_at = self._clock.now() + time_left(context) - _RESERVE
            with self._history.recording(job) as messages:
                passed = run(stop_at)
                messages.append(in_words(passed))
            log.info("passed", extra={"job": job, **passed})
            return passed

        active = if_active(self.steps.region, handler, {"standby": self.steps.region.own})
        return self.meter.around(self._around(active))


def _triggered(steps: Steps, instance: str, metrics: WriteMetrics) -> EventHandler:
    """Return the worker of triggered passes; only it loads these modules."""
    from duetime.lambdas import work  # noqa: PLC0415 - as above

    handlers = system_handlers(steps, _TRIGGERED_RESERVE)
    return work.make_handler(steps.backends.settings, handlers, instance=instance, metrics=metrics)
