"""Log and count the transitions of runs."""

from __future__ import annotations

import logging
from datetime import timedelta

from duetime.model.action import CANARY, Action, Status
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
"""The metric of a run's end, by the status of the action after it; `TransitionLog` counts cancelled ones."""

_MILLISECOND = timedelta(milliseconds=1)


class RunLog:
    """Writes one line and one count for each transition that a worker makes."""

    def __init__(self, meter: Meter = UNMETERED) -> None:
        self._meter = meter

    def began(self, action: Action) -> None:
        """Log a claim that took over another run; other claims have no line."""
        if len(action.attempts) > 1 and action.attempts[-2].finished_at is None:
            log.warning(Metric.RECOVERED.value, extra=log_fields(action))
            self._meter.add(Metric.RECOVERED, of=action)

    def ended(self, action: Action, outcome: Outcome, settlement: Settlement) -> None:
        """Log and count a settle. A run that was put off never began: it is not counted."""
        is_put_off = outcome.is_put_off and not settlement.status.is_final  # final after a requested cancel
        counted = None if is_put_off else _COUNTED.get(settlement.status)
        started_at = action.attempts[-1].started_at
        late = (started_at - action.due_at) / _MILLISECOND
        ran = (settlement.finished_at - started_at) / _MILLISECOND
        fields = {"late_ms": round(late, 1), "ran_ms": round(ran, 1), "reason": outcome.message}
        if counted is Metric.FAILED:
            fields["is_failure"] = True
        word = "put off" if is_put_off else (counted or settlement.status).value
        log.info(word, extra={**log_fields(action), **fields})
        if is_put_off:
            return
        if action.type == CANARY:
            self._meter.add(Metric.CANARY_LATENESS, max(late, 0.0))
            return
        if counted is not None:
            self._meter.add(counted, of=action)
        self._meter.add(Metric.LATENESS, max(late, 0.0), of=action)
        self._meter.add(Metric.RUN_TIME, max(ran, 0.0), of=action)
        if settlement.status.is_final:
            self._meter.add(Metric.ATTEMPTS, action.attempt, of=action)

    def lost(self, action: Action) -> None:
        """Log a lost lease; the run that took over logs the rest."""
        log.warning(LOST, extra=log_fields(action))


def log_fields(action: Action) -> dict[str, object]:
    """Return the fields that identify a run in the log."""
    return {
        "action": action.id,
        "tenant": action.tenant_id,
        "type": action.type,
        "job": action.job,
        "attempt": action.attempt,
    }
