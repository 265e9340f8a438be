"""The metrics, by name and unit. Facts only; `duetime.ports.meter` records them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

NAMESPACE = "duetime"
"""Their namespace in CloudWatch."""


class Unit(StrEnum):
    """CloudWatch's words for units."""

    COUNT = "Count"
    MILLISECONDS = "Milliseconds"
    SECONDS = "Seconds"


class Metric(StrEnum):
    """The counters, then the measured values."""

    SCHEDULED = "scheduled"
    """An action was put, an occurrence was planned."""
    RESCHEDULED = "rescheduled"
    """A pending action got another due time."""
    COALESCED = "coalesced"
    """A further call with its debounce key changed a pending action."""
    DEFERRED = "deferred"
    """A rate limit gave a due action a later instant."""
    RELEASED = "released"
    """The predecessors of a held action have ended."""
    REDRIVEN = "redriven"
    """A failed action is pending again, after a redrive."""
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    """An occurrence will not run, or an action expired, or a pause skipped it."""
    EXPIRED = "expired"
    """An action expired before a run of it could begin."""
    MISSED = "missed"
    """An occurrence could not be claimed within its job's grace.

    Or a span of nominal times could not be planned within it, which counts as one.
    """
    EXECUTED = "executed"
    FAILED = "failed"
    OVERRAN = "overran"
    """A run was executed, and ended after its time-out."""
    RETRIED = "retried"
    """An attempt failed, and another follows."""
    RECOVERED = "recovered"
    """A run was taken over from a dead worker."""
    HANDED_OVER = "handed_over"
    """A run ended by a hand-over: an external party completes its action."""
    DEADLINE_MISSED = "deadline_missed"
    """A nominal time had not succeeded by its job's deadline."""
    DEADLINE_AT_RISK = "deadline_at_risk"
    """The usual run time predicted that."""
    SILENT = "silent"
    """No run of a job succeeded for longer than its `every_success_within`."""
    UNACCOUNTED = "unaccounted"
    """A recount found a job with nominal times without a proper result."""
    BACKFILL_ENDED = "backfill_ended"
    """No run of a backfill is left."""
    BREAKER_OPENED = "breaker_opened"
    """The breaker of a type opened."""
    CATCH_UP_SENT = "catch_up_sent"
    """The catch-up sent an action again."""
    UNDELIVERED = "undelivered"
    """An undelivered input was stored."""

    LATENESS = "lateness"
    """From an attempt's due time to its start, never negative."""
    CANARY_LATENESS = "canary_lateness"
    """From the canary's due time to its start, never negative."""
    RUN_TIME = "run_time"
    """From an attempt's start to its end."""
    OLDEST_DUE_AGE = "oldest_due_age"
    """The age of the oldest overdue row that a pass found not running; no value without one."""

    @property
    def unit(self) -> Unit:
        """The unit of its values."""
        return _MEASURED.get(self, Unit.COUNT)

    @property
    def is_counter(self) -> bool:
        """Whether its values are summed."""
        return self not in _MEASURED


_MEASURED: Mapping[Metric, Unit] = MappingProxyType(
    {
        Metric.LATENESS: Unit.MILLISECONDS,
        Metric.CANARY_LATENESS: Unit.MILLISECONDS,
        Metric.RUN_TIME: Unit.MILLISECONDS,
        Metric.OLDEST_DUE_AGE: Unit.SECONDS,
    }
)
