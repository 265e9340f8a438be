"""Log and count the transitions of runs."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from duetime.model.action import Action, Status
from duetime.model.lease import Settlement
from duetime.model.metric import Metric
from duetime.model.outcome import Outcome
from duetime.ports.meter import UNMETERED, Meter

log = logging.getLogger(__name__)

LOST = "lease lost, the run's end changes nothing"
_COUNTED = {
    Status.EXECUTED: Metric.EXECUTED,
    Status.FAILED: Metric.FAILED,
    Status.PENDING: Metric.RETRIED,
}
"""What a run's end is counted as, by the status in which it leaves the action.

A cancelled one the stream shows.
"""

_MILLISECOND = timedelta(milliseconds=1)


class RunLog:
    """Writes one line and one count for each transition that a worker makes."""

    def __init__(self, meter: Meter = UNMETERED) -> None:
        self._meter = meter

    def began(self, action: Action) -> None:
        """It was claimed; said only of a run that was taken over."""
        if len(action.attempts) > 1 and action.attempts[-2].finished_at is None:
            log.warning(Metric.RECOVERED.value, extra=_named(action))
            self._meter.add(Metric.RECOVERED, of=action)

    def ended(self, action: Action, outcome: Outcome, settlement: Settlement) -> None:
        """Log a settle. A run that was put off never began: it is logged, and not counted."""
        is_put_off = (
            outcome.is_put_off and not settlement.status.is_final
        )  # its cancel may have been asked for
        counted = None if is_put_off else _COUNTED.get(settlement.status)
        word = "put off" if is_put_off else (counted or settlement.status).value
        late, ran = _spans_of(action, settlement.finished_at)
        spans = {"late_ms": round(late, 1), "ran_ms": round(ran, 1)}
        log.info(word, extra={**_named(action), **spans, "reason": outcome.message})
        if is_put_off:
            return
        if counted is not None:
            self._meter.add(counted, of=action)
        self._meter.add(Metric.LATENESS, max(late, 0.0), of=action)
        self._meter.add(Metric.RUN_TIME, max(ran, 0.0), of=action)
        if settlement.status.is_final:
            self._meter.add(Metric.ATTEMPTS, action.attempt, of=action)

    def lost(self, action: Action) -> None:
        """Log a lost lease; the run that took over logs the rest."""
        log.warning(LOST, extra=_named(action))


def _named(action: Action) -> dict[str, object]:
    """The fields that say of which run it is."""
    return {
        "action": action.id,
        "tenant": action.tenant_id,
        "type": action.type,
        "job": action.job,
        "attempt": action.attempt,
    }


def _spans_of(action: Action, finished_at: datetime) -> tuple[float, float]:
    """How late a run began and how long it took, in milliseconds."""
    started_at = action.attempts[-1].started_at
    return (started_at - action.due_at) / _MILLISECOND, (finished_at - started_at) / _MILLISECOND
