"""The handler of a worker's function for several messages: they run at the same time, each on its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from duetime.clock import Clock
from duetime.lambdas.context import LambdaContext, time_left
from duetime.lambdas.partial_batch import Event, FailureLog, failures_of
from duetime.ports.wakeups import Delivery
from duetime.worker.batch import HandleBatch
from duetime.worker.worker import Worker

log = logging.getLogger(__name__)

_BEFORE_TIME_OUT = timedelta(seconds=2)


class WorkBatch:
    """Handles the events of one process.

    Args:
        worker: handles each message.
        delivery_of: reads a record.
        failures: logs the messages that come again.
        flush: writes the metrics of the runs that have ended.
    """

    def __init__(
        self,
        worker: Worker,
        delivery_of: Callable[[Event], Delivery],
        failures: FailureLog,
        *,
        clock: Clock,
        flush: Callable[[], None],
    ) -> None:
        self._handle = HandleBatch(worker, clock=clock)
        self._delivery_of, self._failures = delivery_of, failures
        self._clock, self._flush = clock, flush

    def __call__(self, event: Event, context: LambdaContext) -> Event:
        """Handle the messages; return those that must come again."""
        failed: list[Event] = []
        readable: list[tuple[Event, Delivery]] = []
        for record in event["Records"]:
            try:
                readable.append((record, self._delivery_of(record)))
            except Exception as unreadable:  # noqa: BLE001 - one message must not fail the others
                self._failures.failed(record, unreadable)
                failed.append(record)
        with self._before_time_out(time_left(context)):
            ends_at = self._clock.now() + time_left(context)
            errors = self._handle([delivery for _, delivery in readable], ends_at)
        for number, error in errors.items():
            self._failures.failed(readable[number][0], error)
        return failures_of([*failed, *(readable[number][0] for number in errors)])

    @contextmanager
    def _before_time_out(self, left: timedelta) -> Iterator[None]:
        """Write the metrics of ended runs before Lambda ends the process because of one that has not."""

        def write() -> None:
            log.error("runs go on at the function's time-out: all messages of the call will come again")
            self._flush()

        timer = threading.Timer(max(0.0, (left - _BEFORE_TIME_OUT).total_seconds()), write)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
