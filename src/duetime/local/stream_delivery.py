"""How Lambda's event source hands a batch of stream records to its function, and what it does when that fails.

In a stream the order counts, so a failed record holds up those behind it: the batch is tried again from the first record
that the function names; when it names none, the batch is halved, until one record alone is left. That one is tried a
few times with growing pauses, and then given up, so that it holds up the others no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from duetime.local.functions import InvocationOutcome

Record = Mapping[str, Any]

TRIES = 6
"""Of one record alone, before it is given up."""
FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=10)


class StreamDelivery:
    """Delivers batches, in order, until each record was taken or given up.

    Args:
        invoke: calls the function with an event.
        give_up: takes a record that the function never took, and why.
        pause: waits; returns at once when all is being stopped.
        is_stopping: then nothing more is tried.
    """

    def __init__(
        self,
        invoke: Callable[[Mapping[str, Any]], InvocationOutcome],
        give_up: Callable[[Record, str], None],
        *,
        pause: Callable[[timedelta], None],
        is_stopping: Callable[[], bool],
    ) -> None:
        self._invoke, self._give_up = invoke, give_up
        self._pause, self._is_stopping = pause, is_stopping

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
                self._pause(min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries))

    def _try(self, batch: Sequence[Record]) -> tuple[int, str | None]:
        """Returns how many records at its beginning were taken, and why the next was not, if it was not."""
        outcome = self._invoke({"Records": list(batch)})
        if outcome.error is not None:
            return 0, repr(outcome.error)
        failures = (outcome.answer or {}).get("batchItemFailures") or []
        if not failures:
            return len(batch), None
        numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
        named = [failure.get("itemIdentifier") for failure in failures]
        if not all(each in numbers for each in named):
            return 0, f"the function names records that are not in the batch: {named}"
        return min(numbers.index(each) for each in named), "the function reports it as failed"
