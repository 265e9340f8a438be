"""The Lambda on a worker's due queue: messages to `duetime.worker.worker`. It hosts the user's handlers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from duetime.aws.backends import AwsBackends
from duetime.aws.messages import UnreadableMessage, from_json
from duetime.clock import SystemClock
from duetime.declare.handler_set import HandlerSet
from duetime.jobs.known_region import KnownRegion
from duetime.lambdas.metrics_buffer import HandOver, MetricsBuffer, write_metrics
from duetime.lambdas.partial_batch import Event, EventHandler, partial_batch_handler
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker, WorkerPorts


def make_handler(
    settings: Settings, handlers: HandlerSet, *, instance: str, metrics: HandOver = write_metrics
) -> EventHandler:
    """Return the handler of SQS events; its partial batch response repeats the failed messages alone.

    Args:
        settings: the deployment's.
        handlers: the handlers of this worker.
        instance: the name of this process in an action's attempts.
        metrics: writes the metrics of each invocation.
    """
    clock = SystemClock()
    backends = AwsBackends(settings, clock)
    region = KnownRegion(backends.regions, clock)
    heartbeat = Heartbeat(backends.store, backends.queues, clock=clock, settings=settings, region=region)
    ports = WorkerPorts(
        backends.store,
        backends.jobs,
        backends.queues,
        backends.routes,
        heartbeat,
        backends.pauses,
        backends.regions,
    )
    meter = MetricsBuffer(settings, handlers.by_name.__contains__, metrics)
    work = Worker(handlers, ports, clock=clock, settings=settings, instance=instance, meter=meter)
    handler = partial_batch_handler(lambda record: work(_delivery(record)), unreadable=UnreadableMessage)
    return meter.around(handler)


def _delivery(record: Event) -> Delivery:
    message, delay = from_json(record["body"])
    times = record["attributes"]
    sent_at = _instant_of(times["SentTimestamp"])
    first = times.get("ApproximateFirstReceiveTimestamp")
    received_at = None if first is None else _instant_of(first)
    queued_at = sent_at + timedelta(seconds=delay)
    return Delivery(message, queued_at, record["receiptHandle"], sent_at, received_at)


def _instant_of(milliseconds: str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
