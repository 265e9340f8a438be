"""*Notice*: each transition that the table's stream shows gets its line in the log, and its count.

It comes with *arm*, after it, and as often: at least once. Rows that are put, changed or called off by
processes that are not duetime's own are seen here alone. Transitions of its own runs are logged by the
worker (see `run_log`) and not again here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from duetime import instant
from duetime.errors import truncate
from duetime.model.action import Action, SkipReason, Status
from duetime.model.change import Change
from duetime.model.metric import Metric
from duetime.ports.meter import UNMETERED, Meter

log = logging.getLogger(__name__)


def transition_of(change: Change) -> Metric | None:
    """Return the metric of a row's transition; None if there is none, or if the worker counts it.

    A retry is pending again, too; the worker whose run it follows has counted that. A removed row counts
    nothing.
    """
    old, new = change.old, change.new
    if new is None:
        return None
    if new.status is Status.PENDING:
        return _pending(old, new)
    if old is not None and old.status is new.status:
        return None
    return _ENDED.get(new.status)


_ENDED = {Status.CANCELLED: Metric.CANCELLED, Status.SKIPPED: Metric.SKIPPED}


def _pending(old: Action | None, new: Action) -> Metric | None:
    if old is None:
        return Metric.SCHEDULED if new.generation == 1 else None
    if old.status is Status.FAILED:
        return Metric.REDRIVEN
    if old.status is Status.PENDING and new.generation > old.generation:
        return Metric.RESCHEDULED
    return None


class TransitionLog:
    """Logs and counts a batch of changes."""

    def __init__(self, meter: Meter = UNMETERED) -> None:
        self._meter = meter

    def __call__(self, changes: Iterable[Change]) -> None:
        """Log and count what they show.

        A run that stopped as it was asked to has its worker's line already.
        """
        for change in changes:
            transition, row = transition_of(change), change.new
            if transition is None or row is None:
                continue
            self._meter.add(transition, of=row)
            if row.skip_reason is SkipReason.MISSED:
                self._meter.add(Metric.MISSED, of=row)
            if change.old is None or change.old.status is not Status.PROCESSING:
                log.info(transition.value, extra=_told(row))


def _told(row: Action) -> dict[str, object]:
    """The fields of the line."""
    why = (row.skip_reason.value if row.skip_reason else None, row.note)
    return {
        "action": row.id,
        "tenant": row.tenant_id,
        "type": row.type,
        "job": row.job,
        "attempt": row.attempt,
        "due_at": instant.text(row.due_at),
        "reason": truncate(": ".join(part for part in why if part)) or None,
    }
