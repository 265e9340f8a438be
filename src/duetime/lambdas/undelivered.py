"""The Lambda on the failure queue.

It passes its messages to `duetime.undelivered.undelivered_handler`.
"""

from __future__ import annotations

from duetime.aws import failures
from duetime.aws.backends import AwsBackends
from duetime.events.publish import EventSelection
from duetime.lambdas.dispatch import make_dispatch
from duetime.lambdas.frame import Event, EventHandler, partial_batch_handler
from duetime.lambdas.metrics_buffer import MetricsBuffer, WriteMetrics, published, write_metrics
from duetime.ports.undelivered import UndeliveredHandlerPorts
from duetime.settings import Settings
from duetime.undelivered.undelivered_handler import UndeliveredHandler
from duetime.wakeups.assembly import Steps


def make_handler(settings: Settings, *, metrics: WriteMetrics = write_metrics) -> EventHandler:
    """Return the handler of SQS events; it returns a partial batch response.

    The queue has no dead letters of its own: a failed message comes again, for two weeks.

    Args:
        settings: the deployment's.
        metrics: writes the metrics of each invocation.
    """
    backends = AwsBackends(settings)
    meter = MetricsBuffer(settings, published(backends.routes), metrics)
    dispatch, undelivered = make_dispatch(backends, meter), backends.undelivered

    def dispatched(content: Event) -> Event:
        """Dispatch an input; EventBridge passes on the event alone, and its rule holds the rest."""
        if "rule" in content:
            return dispatch(backends.job_wakes.dispatch_input(content["rule"], content["event"]))
        return dispatch(content)

    handle = UndeliveredHandler(
        UndeliveredHandlerPorts(
            backends.store,
            backends.queues,
            backends.routes,
            backends.stream,
            undelivered.store,
            undelivered.queues,
            backends.event_bus,
        ),
        Steps(backends).arm,
        dispatched,
        EventSelection(backends.jobs, backends.routes, settings=settings),
        clock=backends.clock,
        settings=settings,
        meter=meter,
    )
    return meter.around(partial_batch_handler(lambda record: handle(failures.read(record, settings.prefix))))
