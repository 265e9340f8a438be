"""The handler of a function on a queue: its partial batch response repeats the failed messages alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from duetime.errors import DuetimeError, truncate

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
EventHandler = Callable[[Event, object], Event]


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
        unreadable: the error of a message that ends in the dead-letter queue.
        unexpected: other errors that bring one message back; without it they fail the batch.
        reason_of: returns the text of an error for the log.
    """

    def is_handled(record: Event) -> bool:
        about = {"message_id": record["messageId"]}
        try:
            handle(record)
        except unreadable:
            log.exception("message cannot be read, it goes to the dead letters", extra=about)
        except DuetimeError as error:
            log.warning("message will come again", extra=about | {"reason": reason_of(error)})
        except unexpected:
            log.exception("message failed, it will come again", extra=about)
        else:
            return True
        return False

    def handler(event: Event, _context: object) -> Event:
        failed = [record["messageId"] for record in event["Records"] if not is_handled(record)]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    return handler
