"""The Lambda on a worker's due queue: messages to `duetime.worker.worker`. It hosts the user's handlers."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from duetime.aws.backends import AwsBackends
from duetime.aws.messages import from_json
from duetime.clock import Clock
from duetime.declare.handler_set import HandlerSet
from duetime.environment import granted_targets
from duetime.errors import UnreadableMessage
from duetime.ids import TARGET_WORKER
from duetime.lambdas.frame import (
    Event,
    EventHandler,
    FailureLog,
    Handler,
    LambdaContext,
    failures_of,
    partial_batch_handler,
    time_left,
)
from duetime.lambdas.metrics_buffer import MetricsBuffer, WriteMetrics, write_metrics
from duetime.model.priority import high_queue_of, is_high_queue
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker

log = logging.getLogger(__name__)


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
    backends = AwsBackends(settings)
    knows, in_lines = handlers.by_name.__contains__, metrics is write_metrics
    meter = MetricsBuffer(settings, knows, metrics, in_lines=in_lines)
    work = Worker(handlers, backends, Heartbeat(backends), instance=instance, meter=meter)
    high = high_queue_of(handlers.worker)

    def delivery_of(record: Event) -> Delivery:
        delivery = _delivery(record)
        is_high = is_high_queue(record.get("eventSourceARN", ""))
        return replace(delivery, queue=high) if is_high else delivery

    one = partial_batch_handler(lambda record: work(delivery_of(record)), unreadable=UnreadableMessage)

    failures = FailureLog(UnreadableMessage)
    many = cache(lambda: _many(work, delivery_of, failures, clock=backends.clock, flush=meter.flush))

    def handler(event: Event, context: Any) -> Event:
        return one(event, context) if len(event["Records"]) == 1 else many()(event, context)

    return meter.around(_with_events(handler, backends) if handlers.worker == TARGET_WORKER else handler)


def _with_events(due: EventHandler, backends: AwsBackends) -> EventHandler:
    """Return the handler of the worker for targets: its queue also has events, and failed ones come again.

    They are ends of executions, and of actions that started some. Only this worker loads these modules.
    """
    from duetime.aws.execution_calls import durable_input  # noqa: PLC0415 - as above
    from duetime.targets.executions import calls_of  # noqa: PLC0415 - as above
    from duetime.targets.grants import Grants  # noqa: PLC0415 - as above
    from duetime.targets.status_events import StatusEvents, is_event  # noqa: PLC0415 - as above

    status = StatusEvents(Grants.from_json(granted_targets()), calls_of, durable_input, backends)
    events = partial_batch_handler(lambda record: status(json.loads(record["body"])))

    def is_ours(record: Event) -> bool:
        try:
            return is_event(json.loads(record["body"]))
        except (ValueError, RecursionError):
            return False

    def handler(event: Event, context: Any) -> Event:
        ours = [record for record in event["Records"] if is_ours(record)]
        if not ours:
            return due(event, context)
        others = [record for record in event["Records"] if record not in ours]
        failed = [*events({"Records": ours}, context)["batchItemFailures"]]
        if others:
            failed += due({**event, "Records": others}, context)["batchItemFailures"]
        return {"batchItemFailures": failed}

    return handler


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


_BEFORE_TIME_OUT = timedelta(seconds=2)


def _many(
    worker: Worker,
    delivery_of: Callable[[Event], Delivery],
    failures: FailureLog,
    *,
    clock: Clock,
    flush: Callable[[], None],
) -> Handler[LambdaContext]:
    """Return the handler of events with several messages; `flush` writes the metrics of ended runs."""
    from duetime.worker.batch import HandleBatch  # noqa: PLC0415 - only with `worker_batch`

    handle = HandleBatch(worker, clock=clock)

    def handler(event: Event, context: LambdaContext) -> Event:
        failed: list[Event] = []
        readable: list[tuple[Event, Delivery]] = []
        for record in event["Records"]:
            try:
                readable.append((record, delivery_of(record)))
            except Exception as unreadable:  # noqa: BLE001 - one message must not fail the others
                failures.failed(record, unreadable)
                failed.append(record)
        with _before_time_out(time_left(context), flush):
            ends_at = clock.now() + time_left(context)
            errors = handle([delivery for _, delivery in readable], ends_at)
        for number, error in errors.items():
            failures.failed(readable[number][0], error)
        return failures_of([*failed, *(readable[number][0] for number in errors)])

    return handler


@contextmanager
def _before_time_out(left: timedelta, flush: Callable[[], None]) -> Iterator[None]:
    """Write the metrics of ended runs before Lambda ends the process because of one that has not."""

    def write() -> None:
        log.error("runs go on at the function's time-out: all messages of the call will come again")
        flush()

    timer = threading.Timer(max(0.0, (left - _BEFORE_TIME_OUT).total_seconds()), write)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
