"""The Lambda on a worker's due queue: messages to `duetime.worker.worker`. It hosts the user's handlers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from duetime.aws.backends import AwsBackends
from duetime.aws.messages import UnreadableMessage, from_json
from duetime.clock import SystemClock
from duetime.declare.handler_set import HandlerSet
from duetime.errors import DuetimeError, truncate
from duetime.lambdas.metrics_buffer import HandOver, MetricsBuffer, write_metrics
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker, WorkerPorts

log = logging.getLogger(__name__)

Event = Mapping[str, Any]


def make_handler(
    settings: Settings, handlers: HandlerSet, *, instance: str, metrics: HandOver = write_metrics
) -> Callable[[Event, object], Event]:
    """Return the handler of SQS events; its partial batch response repeats the failed messages alone.

    Args:
        settings: the deployment's.
        handlers: the handlers of this worker.
        instance: the name of this process in an action's attempts.
        metrics: writes the metrics of each invocation.
    """
    clock = SystemClock()
    backends = AwsBackends(settings, clock)
    heartbeat = Heartbeat(backends.store, backends.queues, clock=clock, settings=settings)
    ports = WorkerPorts(backends.store, backends.jobs, backends.queues, backends.routes, heartbeat)
    meter = MetricsBuffer(settings, handlers.by_name.__contains__, metrics)
    work = Worker(handlers, ports, clock=clock, settings=settings, instance=instance, meter=meter)

    def handler(event: Event, _context: object) -> Event:
        failed = [record["messageId"] for record in event["Records"] if not _handle(work, record)]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    return meter.around(handler)


def _handle(work: Worker, record: Mapping[str, Any]) -> bool:
    try:
        work(_delivery(record))
    except UnreadableMessage:
        log.exception(
            "message cannot be read, it goes to the dead letters", extra={"message_id": record["messageId"]}
        )
        return False
    except DuetimeError as error:
        log.warning(
            "message will come again", extra={"message_id": record["messageId"], "reason": truncate(error)}
        )
        return False
    return True


def _delivery(record: Mapping[str, Any]) -> Delivery:
    message, delay = from_json(record["body"])
    sent_at = datetime.fromtimestamp(int(record["attributes"]["SentTimestamp"]) / 1000, UTC)
    return Delivery(message, sent_at + timedelta(seconds=delay), record["receiptHandle"])
