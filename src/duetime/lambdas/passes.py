"""The Lambdas that EventBridge Scheduler invokes: the sweep each minute, the catch-up every six hours.

Both are jobs of the system, and each pass is recorded as a run. A triggered pass is a message of the worker
``system``; its queue feeds the catch-up's function.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Protocol

from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.ids import JobName
from duetime.lambdas.emf import write_metrics
from duetime.lambdas.metrics_buffer import HandOver, MetricsBuffer, published
from duetime.lambdas.pass_steps import Part, PassSteps, in_words
from duetime.settings import Settings
from duetime.wakeups.system_jobs import CATCH_UP, SWEEP, PassHistory

log = logging.getLogger(__name__)

_RESERVE = timedelta(seconds=5)
"""The part of the function's time in which it writes the bookmark and the run."""

_TRIGGERED_RESERVE = timedelta(seconds=20)
"""The same for a triggered run: its deadline counts from its claim, which is later than the call."""


class LambdaContext(Protocol):
    """The part of Lambda's context that a pass uses."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda ends the function."""
        ...


Event = Mapping[str, Any]
Handler = Callable[[Event, LambdaContext], Event]


def make_sweep_handler(settings: Settings, *, instance: str, metrics: HandOver = write_metrics) -> Handler:
    """Return the handler of the minute's schedule.

    Args:
        settings: the deployment's.
        instance: the name of this process in the record of a pass.
        metrics: writes the metrics of each invocation.
    """
    recorded = _Recorded(settings, instance, metrics)
    return recorded.handler(SWEEP, recorded.passes.sweep)


def make_catch_up_handler(settings: Settings, *, instance: str, metrics: HandOver = write_metrics) -> Handler:
    """Return the handler of the six-hourly schedule, and of the messages of triggered passes.

    Args:
        settings: the deployment's.
        instance: the name of this process in the record of a pass.
        metrics: writes the metrics of each invocation.
    """
    recorded = _Recorded(settings, instance, metrics)
    by_clock = recorded.handler(CATCH_UP, recorded.passes.catch_up)
    triggered = cache(lambda: recorded.meter.around(_triggered(settings, recorded.passes, instance, metrics)))

    def handler(event: Event, context: LambdaContext) -> Event:
        return triggered()(event, context) if "Records" in event else by_clock(event, context)

    return handler


class _Recorded:
    """The passes of one deployment, each recorded as a run of its job."""

    def __init__(self, settings: Settings, instance: str, metrics: HandOver) -> None:
        self._clock = SystemClock()
        backends = AwsBackends(settings, self._clock)
        self.meter = MetricsBuffer(settings, published(backends.routes), metrics)
        self.passes = PassSteps(backends, settings, self._clock, self.meter)
        self._history = PassHistory(backends.store, clock=self._clock, settings=settings, instance=instance)

    def handler(self, job: JobName, run: Part) -> Handler:
        def handler(_event: Event, context: LambdaContext) -> Event:
            left = timedelta(milliseconds=context.get_remaining_time_in_millis())
            with self._history.recording(job) as messages:
                passed = run(self._clock.now() + left - _RESERVE)
                messages.append(in_words(passed))
            log.info("passed", extra={"job": job, **passed})
            return passed

        return self.meter.around(handler)


def _triggered(
    settings: Settings, passes: PassSteps, instance: str, metrics: HandOver
) -> Callable[[Event, object], Event]:
    """Return the worker of triggered passes; only it loads these modules."""
    from duetime.lambdas import work  # noqa: PLC0415 - as above
    from duetime.wakeups.system_jobs import system_handlers  # noqa: PLC0415 - as above

    def messages(run: Part) -> Callable[[datetime], str]:
        return lambda deadline: in_words(run(deadline - _TRIGGERED_RESERVE))

    handlers = system_handlers({SWEEP: messages(passes.sweep), CATCH_UP: messages(passes.catch_up)}, settings)
    return work.make_handler(settings, handlers, instance=instance, metrics=metrics)
