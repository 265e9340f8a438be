"""A claimed run from its claim to its end, in two steps: its handler runs between them."""

from __future__ import annotations

from collections.abc import Generator
from enum import StrEnum
from typing import TypeAlias

from duetime.model.outcome import Outcome
from duetime.worker.run_handler import ClaimedRun


class DeliveryResult(StrEnum):
    """The result of a delivery."""

    RAN = "ran"
    NOTHING_TO_DO = "nothing to do"
    PUT_OFF = "put off"


Steps: TypeAlias = Generator[ClaimedRun, Outcome | None, DeliveryResult]
"""Yields a run for its handler, unless that must not begin, and receives how the handler ended.

None: the lease ended before the handler began.
"""


class Execution:
    """A claimed run that waits for the outcome of its handler."""

    def __init__(self, run: ClaimedRun, steps: Steps) -> None:
        self.run, self._steps = run, steps

    def end(self, outcome: Outcome | None) -> DeliveryResult:
        """Settle the run.

        Raises:
            BackendUnavailable: the message must come again.
        """
        try:
            self._steps.send(outcome)
        except StopIteration as ended:
            return DeliveryResult(ended.value)
        raise AssertionError("a run has one handler")

    def abandon(self) -> None:
        """Leave a run that has not ended as it is; call this in the context in which it began."""
        self._steps.close()


def begun(steps: Steps) -> Execution | DeliveryResult:
    """Begin a run; return its result if its handler must not run."""
    try:
        return Execution(next(steps), steps)
    except StopIteration as ended:
        return DeliveryResult(ended.value)
