"""Delivers batches of stream records to a function as Lambda's event source does.

The order of a stream matters, so a failed record blocks its successors. The batch is retried from the first
record that the function names. If it names none, the batch is halved until one record is left. That record
is retried a few times with growing pauses, and then goes to the dead letters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from duetime.local.functions import InvocationOutcome

Record = Mapping[str, Any]

TRIES = 6
"""Tries of a single record, before it goes to the dead letters."""
FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=10)


class StreamDelivery:
    """Delivers batches in order, until the function or `give_up` has taken each record.

    Args:
        invoke: calls the function with an event.
        give_up: receives a record that the function rejects, and the reason.
        pause: sleeps; returns at once during a stop.
        longest_pause: the longest pause between two tries.
        is_stopping: returns whether to stop trying.
    """

    def __init__(
        self,
        invoke: Callable[[Mapping[str, Any]], InvocationOutcome],
        give_up: Callable[[Record, str], None],
        *,
        pause: Callable[[timedelta], None],
        longest_pause: timedelta = LONGEST_PAUSE,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._invoke, self._give_up = invoke, give_up
        self._pause, self._longest_pause, self._is_stopping = pause, longest_pause, is_stopping

    def __call__(self, batch: Sequence[Record]) -> None:
        """Deliver one batch."""
        rest, tries = batch, 0
        while rest and not self._is_stopping():
            taken, reason = self._try(rest)
            if reason is None:
                return
            rest, tries = rest[taken:], 1 if taken else tries + 1
            if len(rest) > 1:
                self._pause(FIRST_PAUSE)
                self(rest[: len(rest) // 2])
                rest, tries = rest[len(rest) // 2 :], 0
            elif tries >= TRIES:
                self._give_up(rest[0], reason)
                return
            else:
                self._pause(min(self._longest_pause, FIRST_PAUSE * 2**tries))

    def _try(self, batch: Sequence[Record]) -> tuple[int, str | None]:
        """Invoke the function; return how many records it took, and why it rejected the next one, if any."""
        outcome = self._invoke({"Records": list(batch)})
        if outcome.error is not None:
            return 0, repr(outcome.error)
        failures = (outcome.answer or {}).get("batchItemFailures") or []
        if not failures:
            return len(batch), None
        numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
        named = [failure.get("itemIdentifier") for failure in failures]
        if not all(number in numbers for number in named):
            return 0, f"the function names records that are not in the batch: {named}"
        return min(numbers.index(number) for number in named), "the function reports it as failed"
