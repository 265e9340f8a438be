"""The end of a run by a hand-over: one write replaces its lease, and a message waits for that lease's end.

The message finds a missed heartbeat, or the time-out, as it finds the dead run of a worker: another worker
takes the action over. Nothing keeps a hand-over alive but its heartbeats.
"""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from duetime.clock import Clock
from duetime.errors import DuetimeError, InvalidArgument, truncate
from duetime.jobs.end_hand_over import EndHandOver
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.action import Action
from duetime.model.hand_over import LONGEST_WITH_KEY, HandedOver
from duetime.model.row_parts import HandOver, Progress
from duetime.ports.action_store import ActionStore
from duetime.ports.backends import Backends

log = logging.getLogger(__name__)

_REPORTED_EVERY = timedelta(seconds=5)
"""How often one run writes its progress."""


def problem_of(handed_over: HandedOver, action: Action) -> InvalidArgument | None:
    """Return why this action cannot be handed over so; None if it can."""
    if action.concurrency is None or handed_over.timeout <= LONGEST_WITH_KEY:
        return None
    return InvalidArgument(
        f"timeout is {handed_over.timeout}; an action with a concurrency key is handed over for at most"
        f" {LONGEST_WITH_KEY}, since its slot expires",
        field="timeout",
    )


def refuse_hand_over(returned: object) -> None:
    """Check that a handler of many has handed nothing over.

    Raises:
        InvalidArgument: it has: one return value cannot say which of its runs.
    """
    if isinstance(returned, HandedOver):
        raise InvalidArgument("a handler of many cannot hand over; declare it without many=True")


class RunExternalWork:
    """Serves the token and the progress of one claimed run."""

    def __init__(self, claimed: Action, store: ActionStore, clock: Clock, stop: threading.Event) -> None:
        self._claimed, self._store, self._clock, self._stop = claimed, store, clock, stop
        self._lock = threading.Lock()
        self._next_at = float("-inf")

    @property
    def token(self) -> str:
        """See `duetime.model.run.ExternalWork`, here and below."""
        from duetime.model.hand_over_token import token_of  # noqa: PLC0415 - few handlers hand over

        return token_of(self._claimed)

    def report(self, progress: Progress) -> None:
        """Write the progress, unless one was written seconds ago; a failure is only logged."""
        with self._lock:
            elapsed = self._clock.elapsed()
            if elapsed < self._next_at and progress.share < 1:
                return
            self._next_at = elapsed + _REPORTED_EVERY.total_seconds()
        try:
            found = self._store.report(self._claimed, progress)
        except DuetimeError as error:
            about = {"action": self._claimed.id, "tenant": self._claimed.tenant_id, "reason": truncate(error)}
            log.warning("progress not written, the run goes on", extra=about)
            return
        if found is None or found.cancel_requested:
            self._stop.set()


class HandOverRun:
    """Hands actions over for one process."""

    def __init__(self, backends: Backends, region: KnownRegion) -> None:
        self._store, self._clock, self._region = backends.store, backends.clock, region
        self._end = EndHandOver(backends.store, lambda: backends.jobs, settings=backends.settings)

    def __call__(self, claimed: Action, handed_over: HandedOver) -> HandOver | None:
        """Hand a claimed action over; return None if another run has it.

        A cancel that was requested before ends a hand-over without heartbeats at once.

        Raises:
            BackendUnavailable: it is unknown whether it is; the message must come again.
        """
        if not self._region.is_current(claimed.fence):
            return None
        now = max(self._clock.now(), claimed.attempts[-1].started_at)
        hand_over = handed_over.by(claimed, now)
        held = self._store.hand_over(claimed, hand_over)
        if held is not None and held.cancel_requested and not hand_over.beat_seconds:
            for row in self._store.get_rows([claimed.ref]):
                self._end.obey_cancel(row, now=now)
        return hand_over if held else None
