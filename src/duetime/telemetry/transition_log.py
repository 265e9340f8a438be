"""Log and count each transition that the table's stream shows.

It runs after `Arm`, on the same batches, so at least once. Only the stream shows rows that other processes
put, change or cancel. The worker logs the transitions of its own runs (see `run_log`). The scheduled actions
of a batch share a line, since CloudWatch charges for bytes.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable

from duetime import instant
from duetime.errors import truncate
from duetime.model.action import Action, SkipReason, Status
from duetime.model.built_in import is_counted
from duetime.model.change import Change
from duetime.model.debounce import calls_taken
from duetime.model.metric import Metric
from duetime.ports.meter import UNMETERED, Meter
from duetime.telemetry.run_log import log_fields

log = logging.getLogger(__name__)

_COUNTED_TOO = {SkipReason.MISSED: Metric.MISSED, SkipReason.EXPIRED: Metric.EXPIRED}
_ENDED = {Status.CANCELLED: Metric.CANCELLED, Status.SKIPPED: Metric.SKIPPED}

_ENDED_BY_TOKEN = _ENDED | {
    Status.EXECUTED: Metric.EXECUTED,
    Status.FAILED: Metric.FAILED,
    Status.PENDING: Metric.RETRIED,
}
"""A worker counts these of its runs; no worker ends a hand-over."""


def transition_of(change: Change) -> Metric | None:
    """Return the metric of a row's transition; None if there is none, or if the worker counts it.

    A worker counts its retries, which are also pending again. Removed rows are not counted.
    """
    old, new = change.old, change.new
    if new is None:
        return None
    ended = _ENDED if change.ended_hand_over is None else _ENDED_BY_TOKEN
    if new.status in ended or new.status is not Status.PENDING:
        is_new = old is None or old.status is not new.status
        return ended.get(new.status) if is_new else None
    if old is None:
        return Metric.SCHEDULED if new.generation == 1 else None
    if old.status is Status.FAILED:
        return Metric.REDRIVEN
    if calls_taken(new) > calls_taken(old):
        return Metric.COALESCED
    is_later = old.status is Status.PENDING and new.generation > old.generation
    return _moved(old, new) if is_later else None


def _moved(old: Action, new: Action) -> Metric:
    """Return why a pending row has another due time."""
    if old.is_held and not new.is_held:
        return Metric.RELEASED
    return Metric.DEFERRED if new.has_rate_slot or new.waits_for_run else Metric.RESCHEDULED


class TransitionLog:
    """Logs and counts a batch of changes."""

    def __init__(self, meter: Meter = UNMETERED) -> None:
        self._meter = meter

    def __call__(self, changes: Iterable[Change]) -> None:
        """Log and count the changes; a worker has already logged a run that stopped on request."""
        scheduled = list[Action]()
        for change in changes:
            transition, row = transition_of(change), change.new
            if transition is None or row is None or not is_counted(row):
                continue
            self._meter.add(transition, of=row)
            if row.skip_reason in _COUNTED_TOO:
                self._meter.add(_COUNTED_TOO[row.skip_reason], of=row)
            is_of_a_worker = change.old is not None and change.old.status is Status.PROCESSING
            if transition is Metric.SCHEDULED:
                scheduled.append(row)
            elif not is_of_a_worker or change.ended_hand_over is not None:
                _log(transition, row)
        if len(scheduled) == 1:
            _log(Metric.SCHEDULED, scheduled[0])
        elif scheduled:
            by_tenant: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
            for row in scheduled:
                by_tenant[row.tenant_id][row.type].append(row.id)
            log.info(Metric.SCHEDULED.value, extra={"actions": by_tenant})


def _log(transition: Metric, row: Action) -> None:
    why = (row.skip_reason.value if row.skip_reason else None, row.note or row.failure_reason)
    reason = truncate(": ".join(part for part in why if part)) or None
    fields = {"due_at": instant.text(row.due_at), "reason": reason}
    log.info(transition.value, extra=log_fields(row) | fields)
