"""The Lambda on a worker's due queue: messages to `duetime.worker.worker`. It hosts the user's handlers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from duetime.aws.backends import AwsBackends
from duetime.aws.messages import UnreadableMessage, from_json
from duetime.clock import SystemClock
from duetime.declare.handler_set import HandlerSet
from duetime.ids import TARGET_WORKER
from duetime.jobs.known_region import KnownRegion
from duetime.lambdas.metrics_buffer import MetricsBuffer, WriteMetrics, write_metrics
from duetime.lambdas.partial_batch import Event, EventHandler, FailureLog, partial_batch_handler
from duetime.model.priority import high_queue_of, is_high_queue
from duetime.ports.rate_limits import NoSetLimits
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker, WorkerPorts


def make_handler(
    settings: Settings, handlers: HandlerSet, *, instance: str, metrics: WriteMetrics = write_metrics
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
        backends.limits if any(handler.rate for handler in handlers.by_name.values()) else NoSetLimits(),
    )
    knows, in_lines = handlers.by_name.__contains__, metrics is write_metrics
    meter = MetricsBuffer(settings, knows, metrics, in_lines=in_lines)
    work = Worker(handlers, ports, clock=clock, settings=settings, instance=instance, meter=meter)
    high = high_queue_of(handlers.worker)

    def delivery_of(record: Event) -> Delivery:
        delivery = _delivery(record)
        is_high = is_high_queue(record.get("eventSourceARN", ""))
        return replace(delivery, queue=high) if is_high else delivery

    one = partial_batch_handler(lambda record: work(delivery_of(record)), unreadable=UnreadableMessage)

    @cache
    def many() -> Callable[[Event, Any], Event]:
        from duetime.lambdas.work_batch import WorkBatch  # noqa: PLC0415 - only with `worker_batch`

        return WorkBatch(work, delivery_of, FailureLog(UnreadableMessage), clock=clock, flush=meter.flush)

    def handler(event: Event, context: Any) -> Event:
        return one(event, context) if len(event["Records"]) == 1 else many()(event, context)

    if handlers.worker != TARGET_WORKER:
        return meter.around(handler)
    from duetime.lambdas.target_events import with_target_events  # noqa: PLC0415 - only this worker has any

    return meter.around(with_target_events(handler, backends, clock=clock, settings=settings))


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
