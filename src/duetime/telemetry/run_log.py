"""Log and count the transitions of runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta

from duetime import instant
from duetime.model.action import Action, Ending, Status
from duetime.model.built_in import CANARY, is_counted
from duetime.model.hand_over import has_timed_out
from duetime.model.lease import Settlement
from duetime.model.metric import Metric
from duetime.model.outcome import OVERRAN, Outcome
from duetime.model.row_parts import HandOver
from duetime.ports.meter import UNMETERED, Meter

log = logging.getLogger(__name__)
failures = logging.getLogger(f"{__name__}.failures")
"""Has the lines of failed actions: the embedded scheduler shows these without the others."""

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
        """Log a claim that took over a lost run; other claims have no line."""
        is_take_over = len(action.attempts) > 1 and action.attempts[-2].finished_at is None
        if is_take_over and not has_timed_out(action):
            log.warning(Metric.RECOVERED.value, extra=log_fields(action))
            if is_counted(action):
                self._meter.add(Metric.RECOVERED, of=action)

    def ended(self, action: Action, outcome: Outcome, settlement: Settlement) -> None:
        """Log and count a settle. A run that was put off never began: it is not counted."""
        is_put_off = outcome.is_put_off and not settlement.status.is_final  # final after a requested cancel
        is_put_off = is_put_off and not settlement.continues
        counted = None if is_put_off or settlement.continues else _COUNTED.get(settlement.status)
        started_at = action.attempts[-1].started_at
        late = (started_at - action.due_at) / _MILLISECOND
        ran = (settlement.finished_at - started_at) / _MILLISECOND
        lines = failures if counted is Metric.FAILED else log
        has_line = lines.isEnabledFor(logging.INFO)
        metered: Mapping[str, object] = {}
        if not is_put_off:
            metered = self._measure(action, counted, late, ran, has_line=has_line)
        if counted is Metric.EXECUTED and (outcome.message or "").startswith(OVERRAN):
            log.warning(Metric.OVERRAN.value, extra=log_fields(action) | {"reason": outcome.message})
            if is_counted(action):
                self._meter.add(Metric.OVERRAN, of=action)
        if has_line:
            word = "put off" if is_put_off else (counted or settlement.status).value
            if settlement.continues:
                word = "continues"
            reason = None if outcome.ending is Ending.EXECUTED else outcome.message
            fields = {"late_ms": round(late, 1), "ran_ms": round(ran, 1), "reason": reason}
            lines.info(word, extra={**metered, **log_fields(action), **fields})

    def _measure(
        self, action: Action, counted: Metric | None, late: float, ran: float, *, has_line: bool
    ) -> Mapping[str, object]:
        """Add the metrics of a run, its times in milliseconds; return those that its line has."""
        if action.type == CANARY and counted is Metric.EXECUTED:
            self._meter.add(Metric.CANARY_LATENESS, max(late, 0.0))
        if not is_counted(action):
            return {}
        values = {counted: 1.0} if counted is not None else {}
        values |= {Metric.LATENESS: max(late, 0.0), Metric.RUN_TIME: max(ran, 0.0)}
        if has_line:
            return self._meter.add_run(values, action)
        for metric, value in values.items():
            self._meter.add(metric, value, of=action)
        return {}

    def handed_over(self, action: Action, terms: HandOver) -> None:
        """Log and count a hand-over: the run has ended, the action has not."""
        until = {"times_out_at": instant.text(terms.times_out_at)}
        log.info(Metric.HANDED_OVER.value, extra=log_fields(action) | until)
        if is_counted(action):
            self._meter.add(Metric.HANDED_OVER, of=action)

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
