"""What the functions share: Lambda's context, partial batch responses, and the states of a region."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from duetime.errors import DuetimeError, truncate

if TYPE_CHECKING:
    from duetime.jobs.trusted_reading import KnownRegion

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
EventHandler = Callable[[Event, object], Event]
C = TypeVar("C")
Handler = Callable[[Event, C], Event]

HANDLED: Event = {"batchItemFailures": []}
"""The response that brings no record back."""


class LambdaContext(Protocol):
    """The part of Lambda's context that a function with a bound on its time uses."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda ends the function."""
        ...


def time_left(context: LambdaContext) -> timedelta:
    """Return the time until Lambda ends the function."""
    return timedelta(milliseconds=context.get_remaining_time_in_millis())


@dataclass(frozen=True, slots=True)
class FailureLog:
    """Logs why a message was not handled.

    Attributes:
        unreadable: the error of a message that ends in the failure queue.
        reason_of: returns the text of an error for the log.
    """

    unreadable: type[Exception] | tuple[()] = ()
    reason_of: Callable[[Exception], str] = truncate

    def failed(self, record: Event, error: BaseException) -> None:
        """Log an error of one message."""
        about = {"message_id": record["messageId"]}
        if isinstance(error, self.unreadable):
            log.error("message cannot be read, it goes to the dead letters", extra=about, exc_info=error)
        elif isinstance(error, DuetimeError):
            log.warning("message will come again", extra=about | {"reason": self.reason_of(error)})
        else:
            log.error("message failed, it will come again", extra=about, exc_info=error)


def partial_batch_handler(
    handle: Callable[[Event], object],
    *,
    unreadable: type[Exception] | tuple[()] = (),
    unexpected: type[Exception] | tuple[()] = (),
    reason_of: Callable[[Exception], str] = truncate,
) -> EventHandler:
    """Return the handler of SQS events that calls `handle` with each record.

    Args:
        handle: handles one record; its `DuetimeError` brings the message back.
        unreadable: the error of a message that ends in the failure queue.
        unexpected: other errors that bring one message back; without it they fail the batch.
        reason_of: returns the text of an error for the log.
    """
    failures = FailureLog(unreadable, reason_of)
    expected: tuple[type[Exception], ...] = (
        DuetimeError,
        *(kind for kind in (unreadable, unexpected) if isinstance(kind, type)),
    )

    def is_handled(record: Event) -> bool:
        try:
            handle(record)
        except expected as error:
            failures.failed(record, error)
            return False
        return True

    def handler(event: Event, _context: object) -> Event:
        return failures_of(record for record in event["Records"] if not is_handled(record))

    return handler


def failures_of(records: Iterable[Event]) -> Event:
    """Return the response that brings these records back."""
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in records]}


def from_first(records: Sequence[Event]) -> Event:
    """Return the response that brings all records of a stream's batch back."""
    return {"batchItemFailures": [{"itemIdentifier": records[0]["dynamodb"]["SequenceNumber"]}]}


def unless_standby(region: KnownRegion, handler: Handler[C], result: Event) -> Handler[C]:
    """Return a handler that returns `result`, without a call, while another region is active.

    A region that is cut off goes on: what it sends only wakes.
    """
    return _if(lambda: not region.is_standby(), region, handler, result)


def if_active(region: KnownRegion, handler: Handler[C], result: Event) -> Handler[C]:
    """Return a handler that returns `result`, without a call, unless this region is active for sure.

    Passes move cursors of jobs, so a region that is cut off must end them.
    """
    return _if(region.is_active, region, handler, result)


def _if(goes_on: Callable[[], bool], region: KnownRegion, handler: Handler[C], result: Event) -> Handler[C]:
    if not region.own:
        return handler

    def handle(event: Event, context: C) -> Event:
        if goes_on():
            return handler(event, context)
        log.info("standby, nothing done", extra={"region": region.own})
        return result

    return handle
