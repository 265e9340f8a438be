"""The circuit breaker of a type: after so many failures it pauses the type, and probes it with one run. Pure.

::

    closed ── the last of so many failures within a time ──> open ── `open_for` is over ──> half-open
      ^                                                       ^                                │ one run
      └────────────────────── it succeeds ────────────────────┼────────────────────────────────┤
                                                              └────────── it fails ────────────┘

An open breaker is a `WorkPause`, so all that holds for pauses holds for it. Each tenant and type has a
breaker of its own: the failures of one tenant's data stop no other tenant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duetime._english import counted
from duetime.errors import DeclarationError, truncate
from duetime.ids import PLANNER, ActionId, TenantId
from duetime.instant import EARLIEST
from duetime.model.action import Ending
from duetime.model.outcome import EXPIRED, PROBE_FAILED, Outcome
from duetime.model.work_pause import BreakerState, PauseScope, WorkPause

MOST_FAILURES = 100
"""The most failures that open a breaker: the instants of so many fit into one write unit."""

LONGEST = timedelta(hours=24)
_REASON_LIMIT = 200
_SPAN = re.compile(r"(\d+)(s|m|h)", re.ASCII)
_UNITS = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1)}


@dataclass(frozen=True, slots=True)
class Breaker:
    """When a type's runs stop: ``Breaker(failures=20, within="1m", open_for="5m")``.

    Attributes:
        failures: how many failed runs of a tenant and type open it: 1 to 100.
        within: the time in which they end: a timedelta, or such as ``"30s"``, ``"1m"``, ``"2h"``.
        open_for: how long no run begins; then one run probes.

    Raises:
        DeclarationError: a value is out of its range.
    """

    failures: int
    within: timedelta | str
    open_for: timedelta | str

    def __post_init__(self) -> None:
        if isinstance(self.failures, bool) or not isinstance(self.failures, int):
            raise DeclarationError(f"Breaker(failures={self.failures!r}) is no whole number")
        if not 1 <= self.failures <= MOST_FAILURES:
            raise DeclarationError(f"Breaker(failures={self.failures}); allowed is 1 to {MOST_FAILURES}")
        object.__setattr__(self, "within", _span("within", self.within))
        object.__setattr__(self, "open_for", _span("open_for", self.open_for))

    @property
    def window(self) -> timedelta:
        """The time in which the failures end."""
        return _span("within", self.within)

    @property
    def pause(self) -> timedelta:
        """How long no run begins."""
        return _span("open_for", self.open_for)


def _span(name: str, value: object) -> timedelta:
    """Return a span of time.

    Raises:
        DeclarationError: it is none, or out of its range.
    """
    span = value if isinstance(value, timedelta) else None
    if isinstance(value, str) and (match := _SPAN.fullmatch(value)) and len(match[1]) <= len("86400"):
        span = int(match[1]) * _UNITS[match[2]]
    if span is None or not timedelta(seconds=1) <= span <= LONGEST:
        allowed = 'allowed is 1 second to 24 hours, as a timedelta or such as "30s", "5m", "2h"'
        raise DeclarationError(f"Breaker({name}={value!r}); {allowed}")
    return span


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """The recent failures of a tenant's type, while its breaker is closed. The item of a closed breaker."""

    tenant_id: TenantId
    type: str
    failed_at: tuple[datetime, ...] = ()
    """When they ended, the first first."""
    at: datetime = EARLIEST
    """When the latest one ended."""
    revision: int = 0
    """Counts its writes; 0 if it is not stored."""
    nonce: str = ""
    """Unique to each write: it identifies one whose response was lost."""

    def failed(self, breaker: Breaker, now: datetime, nonce: str) -> FailureCount:
        """Return the count with one more failure, without those that no longer count."""
        now = now.replace(microsecond=now.microsecond // 1_000 * 1_000)  # as it is stored
        since = now - breaker.window
        recent = [at for at in self.failed_at if since < at][-(breaker.failures - 1) :]
        failed_at = (*(recent if breaker.failures > 1 else ()), now)
        return replace(self, failed_at=failed_at, at=now, revision=self.revision + 1, nonce=nonce)

    def opens(self, breaker: Breaker) -> bool:
        """Return whether the breaker opens with the latest failure."""
        return len(self.failed_at) >= breaker.failures

    def opened(self) -> FailureCount:
        """Return the count of a breaker that opens: it begins again at 0 when it closes."""
        return replace(self, failed_at=())


def pause_of_breaker(
    breaker: Breaker, count: FailureCount, message: str | None, *, pause_id: str, now: datetime
) -> WorkPause:
    """Return the pause that an opening breaker begins."""
    failures = f"{counted(breaker.failures, 'failure')} within {breaker.window.total_seconds():g} s"
    reason = f"the breaker opened after {failures}; the last: {message or 'no reason'}"
    return WorkPause(
        id=pause_id,
        scope=PauseScope.TYPE,
        name=count.type,
        tenant_id=count.tenant_id,
        reason=truncate(reason, _REASON_LIMIT),
        by=PLANNER,
        since=now,
        is_operators=False,
        breaker=BreakerState(open_for=breaker.pause, probes_at=now + breaker.pause),
    )


def is_failure(outcome: Outcome) -> bool:
    """Return whether a run counts as failed: its handler raised, also `Retry` and `Fatal`."""
    is_raised = outcome.ending in {Ending.FAILED, Ending.RETRY} and not outcome.is_put_off
    return is_raised and outcome is not EXPIRED


def of_failed_probe(outcome: Outcome, open_for: timedelta) -> Outcome:
    """Return the outcome of a probe that failed: it is put off, so it uses up no attempt.

    Of one that no retry can help, the outcome stays.
    """
    if not outcome.may_retry:
        return outcome
    message = truncate(f"{PROBE_FAILED}: {outcome.message or 'no reason'}")
    return replace(outcome, message=message, retry_after=open_for, is_put_off=True)


def begins_probe(pause: WorkPause, action_id: ActionId, now: datetime, until: datetime) -> WorkPause | None:
    """Return the pause with a run that probes; None if none may now."""
    state = pause.breaker
    if state is None or now < state.probes_at or state.is_probing(now) or pause.is_over(now):
        return None
    begun = replace(state, probe=action_id, probe_until=until, revision=state.revision + 1)
    return replace(pause, breaker=begun)


def after_probe(pause: WorkPause, action_id: ActionId, now: datetime, *, is_failed: bool) -> WorkPause | None:
    """Return the pause after its probe failed, or ended without a result; None if another run probes."""
    state = pause.breaker
    if state is None or state.probe != action_id:
        return None
    probes_at = now + state.open_for if is_failed else state.probes_at
    ended = replace(state, probe=None, probe_until=None, probes_at=probes_at, revision=state.revision + 1)
    return replace(pause, breaker=ended)
