"""The handler of a function on a queue: its partial batch response repeats the failed messages alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from duetime.errors import DuetimeError, truncate

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
EventHandler = Callable[[Event, object], Event]


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
