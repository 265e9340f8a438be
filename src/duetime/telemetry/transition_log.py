"""Log and count each transition that the table's stream shows.

It runs after `Arm`, on the same batches, so at least once. Only the stream shows rows that other processes
put, change or cancel. The worker logs the transitions of its own runs (see `run_log`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from duetime import instant
from duetime.errors import truncate
from duetime.model.action import CANARY, SkipReason, Status
from duetime.model.change import Change
from duetime.model.metric import Metric
from duetime.ports.meter import UNMETERED, Meter
from duetime.telemetry.run_log import log_fields

log = logging.getLogger(__name__)

_ENDED = {Status.CANCELLED: Metric.CANCELLED, Status.SKIPPED: Metric.SKIPPED}


def transition_of(change: Change) -> Metric | None:
    """Return the metric of a row's transition; None if there is none, or if the worker counts it.

    A worker counts its retries, which are also pending again. Removed rows are not counted.
    """
    old, new = change.old, change.new
    if new is None:
        return None
    if new.status is not Status.PENDING:
        is_new = old is None or old.status is not new.status
        return _ENDED.get(new.status) if is_new else None
    if old is None:
        return Metric.SCHEDULED if new.generation == 1 else None
    if old.status is Status.FAILED:
        return Metric.REDRIVEN
    is_later = old.status is Status.PENDING and new.generation > old.generation
    return Metric.RESCHEDULED if is_later else None


class TransitionLog:
    """Logs and counts a batch of changes."""

    def __init__(self, meter: Meter = UNMETERED) -> None:
        self._meter = meter

    def __call__(self, changes: Iterable[Change]) -> None:
        """Log and count the changes; a worker has already logged a run that stopped on request."""
        for change in changes:
            transition, row = transition_of(change), change.new
            if transition is None or row is None or row.type == CANARY:
                continue
            self._meter.add(transition, of=row)
            if row.skip_reason is SkipReason.MISSED:
                self._meter.add(Metric.MISSED, of=row)
            if change.old is None or change.old.status is not Status.PROCESSING:
                why = (row.skip_reason.value if row.skip_reason else None, row.note)
                reason = truncate(": ".join(part for part in why if part)) or None
                fields = {"due_at": instant.text(row.due_at), "reason": reason}
                log.info(transition.value, extra=log_fields(row) | fields)
