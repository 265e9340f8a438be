"""A pause of work: no run that it covers begins until an operator ends it, or its time is over.

A pause has a scope and a name. A process ignores scopes that it does not know. Facts only.

::

    since ─────────────────── end ───────── end + spread ──>  time
      │ covered work waits     │ what waits begins, each    │
      │                        │ action at its own instant  │

Each instant depends on the pause's end, the pause's id and the action's id alone. So the worker, the sweep
and `duetime why` compute the same instant, and no write stores it. Workers consume the messages of waiting
work. The sweep looks at the rows when a pause ends, and later for lost messages (`WorkPause.looks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Self

from duetime import ids
from duetime.errors import InvalidArgument
from duetime.ids import SYSTEM_TENANT, ActionId, TenantId
from duetime.instant import LATEST, text
from duetime.model.action import Action
from duetime.model.active_region import TRUSTED
from duetime.model.built_in import is_built_in

SPREAD = timedelta(minutes=10)
"""The longest default spread; a shorter pause is spread over its own length."""

LONGEST_SPREAD = timedelta(hours=6)

LATEST_WAKE = timedelta(minutes=2)
"""How much later waiting work begins after an early end: each process must know it, then the sweep looks."""

LOOKED_AHEAD = timedelta(minutes=14)
"""A look sends the messages of what may begin within this time; it is less than a queue's longest delay."""

_NEXT_LOOK = timedelta(minutes=12)

_SHARE_BITS = 32

LOOKS_AGAIN = 60
"""Seconds after which work that waits for a probe looks whether it succeeded."""


class PauseScope(StrEnum):
    """What a pause covers."""

    TENANT = "tenant"
    TYPE = "type"
    """The actions of a type, also the runs of jobs: the type of a job in code is the job's name."""
    CONCURRENCY_KEY = "concurrency-key"
    RATE_KEY = "rate-key"
    WORKER = "worker"


SCOPE_NAMES = {
    PauseScope.TENANT: "tenant",
    PauseScope.TYPE: "type",
    PauseScope.CONCURRENCY_KEY: "concurrency key",
    PauseScope.RATE_KEY: "rate key",
    PauseScope.WORKER: "worker",
}
"""In sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PausableWork:
    """The facts of an action by which pauses cover it."""

    tenant_id: TenantId
    id: ActionId
    type: str
    due_at: datetime
    worker: str | None = None
    """None if it is not known."""
    slot_key: str | None = None
    rate_key: str | None = None

    def name_in(self, scope: PauseScope) -> str | None:
        """Return its name in a scope; None if it has none."""
        return {
            PauseScope.TENANT: self.tenant_id,
            PauseScope.TYPE: self.type,
            PauseScope.CONCURRENCY_KEY: self.slot_key,
            PauseScope.RATE_KEY: self.rate_key,
            PauseScope.WORKER: self.worker,
        }[scope]


def work_of(row: Action, worker: str | None) -> PausableWork:
    """Return the facts of a row."""
    return PausableWork(
        tenant_id=row.tenant_id,
        id=row.id,
        type=row.type,
        due_at=row.due_at,
        worker=worker,
        slot_key=row.slot_key or None,
        rate_key=row.rate_key,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerState:
    """Of the pause of an open breaker: when one run probes whether the type works again."""

    open_for: timedelta
    probes_at: datetime
    """From when on one run may probe."""
    probe: ActionId | None = None
    """The action whose run probes."""
    probe_until: datetime | None = None
    """From when on another may, since the process of that run must have died."""
    revision: int = 0
    """Counts the writes of this state."""

    def again_at(self, now: datetime) -> datetime:
        """Return when a run that may not probe now looks again."""
        soon = now + timedelta(seconds=LOOKS_AGAIN)
        if self.is_probing(now):
            return min(self.probe_until or soon, soon)
        return max(self.probes_at, now + timedelta(seconds=1))

    def lacks_a_probe(self, at: datetime) -> bool:
        """Return whether one was due at an instant, and none ran then."""
        return self.probes_at <= at and not self.is_probing(at)

    def is_probing(self, now: datetime) -> bool:
        """Return whether a run probes now."""
        return self.probe_until is not None and now < self.probe_until


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPause:
    """One pause. Several may cover the same work; each has its own reason and end."""

    id: str
    """A UUIDv7: pauses sort by their begin."""
    scope: PauseScope
    """What it covers."""
    name: str
    """The tenant, the type, the key or the worker."""
    reason: str
    """Why, as its author wrote it."""
    by: str
    """Its author."""
    since: datetime
    """When it began."""
    until: datetime | None = None
    """When it ends by itself; None: when a caller ends it."""
    tenant_id: TenantId | None = None
    """The tenant whose work it covers; None: all tenants' work. A tenant's pause covers that tenant."""
    spread: timedelta | None = None
    """How long after its end the last of the waiting work begins; None: the default."""
    skips: bool = False
    """Whether what becomes due under it is skipped instead of waiting."""
    is_operators: bool = True
    """An operator of the deployment began it, so only such an operator may end it."""
    breaker: BreakerState | None = None
    """Of an open breaker."""
    ended_at: datetime | None = None
    """When a caller ended it; None: none has."""
    ended_by: str | None = None

    @property
    def end(self) -> datetime | None:
        """When it ended or will end by itself; None if an operator must end it."""
        return min((at for at in (self.until, self.ended_at) if at is not None), default=None)

    @property
    def over_at(self) -> datetime | None:
        """When the last work that waits under it begins; None without an end."""
        if self.end is None:
            return None
        return self.end + self.spread_over(self.end) + (LATEST_WAKE if self.ended_early else timedelta(0))

    @property
    def ended_early(self) -> bool:
        """Whether an operator ended it before it would have ended by itself."""
        return self.ended_at is not None and (self.until is None or self.ended_at < self.until)

    def spread_over(self, end: datetime) -> timedelta:
        """Return the time over which waiting work is spread if the pause ends at `end`."""
        if self.spread is not None:
            return self.spread
        return max(min(SPREAD, end - self.since), timedelta(0))

    def is_over(self, now: datetime) -> bool:
        """Return whether it has ended; work that waited may still be spread."""
        return self.end is not None and self.end <= now

    def covers(self, work: PausableWork) -> bool:
        """Return whether the pause is about some work."""
        if self.scope is PauseScope.TENANT:
            return work.tenant_id == self.name != SYSTEM_TENANT
        if self.tenant_id not in {None, work.tenant_id} or is_built_in(work.type):
            return False
        return work.name_in(self.scope) == self.name

    def holds_until(self, work: PausableWork) -> datetime:
        """Return until when covered work waits: its own instant of the spread; `LATEST` without an end."""
        if self.end is None:
            return LATEST
        if work.due_at >= self.end:
            return self.end
        digest = sha256(f"{self.id}{ids.SEPARATOR}{work.id}".encode()).digest()
        share = int.from_bytes(digest[: _SHARE_BITS // 8], "big") / (1 << _SHARE_BITS)
        return self.end + self.spread_over(self.end) * share

    def looks(self, late: Sequence[timedelta], skew: timedelta) -> Iterator[datetime]:
        """Yield the instants at which a sweep looks at all rows that the pause may hold.

        The first one sends the messages of what waits. The look at the end finds those that were lost. An
        early end is known to all processes after `TRUSTED`: before, one might consume such a message. Of an
        open breaker, the first look comes when no run has probed in time.

        Args:
            late: how long after the last action's instant each further look follows.
            skew: how much clocks may differ.
        """
        if self.end is not None:
            last = self.end + self.spread_over(self.end)
            if not self.ended_early:
                yield self.end - LOOKED_AHEAD
            yield (at := self.end + TRUSTED + skew if self.ended_early else self.end)
            while (at := at + _NEXT_LOOK) < last:
                yield at
        elif self.breaker is not None:
            last = self.breaker.probe_until or self.breaker.probes_at
        else:
            return
        yield from (last + span for span in late)

    def skipped_due_at(self, due_at: datetime) -> bool:
        """Return whether covered work that became due at an instant is skipped."""
        return self.skips and self.since <= due_at and (self.end is None or due_at < self.end)

    @property
    def subject(self) -> str:
        """What is paused, for sentences: ``The type send-receipt``."""
        of = f" of {self.tenant_id}" if self.tenant_id and self.scope is not PauseScope.TENANT else ""
        return f"{SCOPE_NAMES[self.scope]} {self.name}{of}"

    def story(self, now: datetime) -> str:
        """Return who paused what, until when and why, as one clause."""
        end = self.end
        if end is None and self.breaker is not None:
            return f"the {self.subject} is paused until a probe succeeds, by {self.by}: {self.reason}"
        if end is None:
            return f"the {self.subject} is paused without an end, by {self.by}: {self.reason}"
        verb = "was" if end <= now else "is"
        return f"the {self.subject} {verb} paused until {text(end)[:19]}Z, by {self.by}: {self.reason}"

    def ended(self, *, by: str, at: datetime) -> Self:
        """Return the pause after an operator ended it."""
        return replace(self, ended_at=at, ended_by=by)


@dataclass(frozen=True, slots=True)
class WorkPauseChange:
    """A pause before and after a write; None stands for no pause."""

    old: WorkPause | None
    new: WorkPause


@dataclass(frozen=True, slots=True)
class Hold:
    """Why some work may not begin now."""

    pause: WorkPause
    until: datetime
    """When it may; `LATEST` if that is not known."""


def hold_of(
    pauses: Iterable[WorkPause], work: PausableWork, now: datetime, without: str | None = None
) -> Hold | None:
    """Return what holds some work the longest; None if a run of it may begin.

    Of those without an end, a breaker comes last: a run may probe only if no other pause holds it. The pause
    with the id `without` is ignored.
    """
    covering = (pause for pause in pauses if pause.id != without and pause.covers(work))
    holds = (Hold(pause, pause.holds_until(work)) for pause in covering)
    longest = max(holds, key=lambda hold: (hold.until, hold.pause.breaker is None), default=None)
    return longest if longest is not None and longest.until > now else None


def skip_of(pauses: Iterable[WorkPause], work: PausableWork) -> WorkPause | None:
    """Return a pause under which the work became due, and is skipped; None without one."""
    return next((pause for pause in pauses if pause.covers(work) and pause.skipped_due_at(work.due_at)), None)


def held_before(pauses: Iterable[WorkPause], work: PausableWork, now: datetime) -> WorkPause | None:
    """Return the pause that held some work the longest until now; None if none did."""
    held = (
        pause
        for pause in pauses
        if pause.end is not None and pause.covers(work) and work.due_at < pause.end <= now
    )
    return max(held, key=lambda pause: pause.holds_until(work), default=None)


def check_end(until: datetime | None, *, is_required: bool) -> None:
    """Check that a pause ends by itself if the deployment requires that.

    Raises:
        InvalidArgument: it has no end.
    """
    if until is None and is_required:
        problem = "is no end; this deployment (pause_needs_end) requires the instant at which the pause ends"
        raise InvalidArgument(problem, value=None, field="until")


def pause_of_tenant(pauses: Iterable[WorkPause], tenant_id: TenantId, now: datetime) -> WorkPause | None:
    """Return the pause of a tenant that lasts the longest; None if none is in force."""
    covering = [
        pause
        for pause in pauses
        if (pause.scope, pause.name) == (PauseScope.TENANT, tenant_id) and not pause.is_over(now)
    ]
    return max(covering, key=lambda pause: pause.end or LATEST, default=None)
