"""What operators set, as a process knows it: read at most every five seconds, and trusted for fifteen.

Pauses, open breakers, set limits and the active region are read so. A process acts on a reading only while it
is younger than `TRUSTED`. One that cannot read them claims nothing, and its messages come again. So what an
operator sets holds in each process within that time, even while the tables are throttled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, DuetimeError, StateConflict, truncate
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.active_region import TRUSTED, epoch_of
from duetime.model.rate_limit import RateLimit
from duetime.model.work_pause import (
    Hold,
    PausableWork,
    PauseScope,
    WorkPause,
    held_before,
    hold_of,
    pause_of_tenant,
    skip_of,
)
from duetime.ports.rate_limits import SetLimits
from duetime.ports.regions import ActiveRegions
from duetime.ports.work_pauses import WorkPauses

log = logging.getLogger(__name__)

REREAD_AFTER = timedelta(seconds=5)
"""A read costs one read unit."""

T = TypeVar("T")


class _Reading(NamedTuple, Generic[T]):
    """A value, and the begin of its read by both clocks: only one of them goes on in a frozen process."""

    value: T
    elapsed: float
    at: datetime


class TrustedReading(Generic[T]):
    """A cache of one small value. Safe to call from several threads."""

    def __init__(self, what: str, read: Callable[[], T], clock: Clock) -> None:
        """Create one; `what` names the value in sentences."""
        self._what, self._read, self._clock = what, read, clock
        self._tried: _Reading[None] | None = None
        """The latest read, also a failed one; while it lasts, only if the reading is trusted meanwhile."""
        self._reading: _Reading[T] | None = None

    def get(self) -> T:
        """Return the value, after a read if the last one is too old.

        Raises:
            BackendUnavailable: the last reading is older than `TRUSTED`, and the value cannot be read.
        """
        reading, tried = self._reading, self._tried
        if tried is None or self._age(tried) >= REREAD_AFTER:
            try:
                reading = self._read_now()
            except DuetimeError as error:
                log.warning("not read", extra={"what": self._what, "reason": truncate(error)})
        if not self._is_trusted(reading):
            raise BackendUnavailable("the back end", f"this process cannot read {self._what}")
        return reading.value

    def read(self) -> T:
        """Read the value now.

        Raises:
            BackendUnavailable: it cannot be read.
        """
        return self._read_now().value

    def is_from(self, at: datetime) -> bool:
        """Return whether the reading began at an instant, or later."""
        reading = self._reading
        return reading is not None and reading.at >= at

    def forget(self) -> None:
        """Read the value again when it is needed next: this process has changed it."""
        self._tried = self._reading = None

    def _read_now(self) -> _Reading[T]:
        begun = _Reading(None, self._clock.elapsed(), self._clock.now())
        if self._is_trusted(self._reading):
            self._tried = begun  # other threads need not read, too
        try:
            self._reading = reading = _Reading(self._read(), begun.elapsed, begun.at)
        finally:
            self._tried = begun
        return reading

    def _is_trusted(self, reading: _Reading[T] | None) -> TypeGuard[_Reading[T]]:
        return reading is not None and self._age(reading) < TRUSTED

    def _age(self, reading: _Reading[Any]) -> timedelta:
        elapsed = timedelta(seconds=self._clock.elapsed() - reading.elapsed)
        return max(elapsed, self._clock.now() - reading.at)


class KnownLimits:
    """A cache of the rate limits that operators set; only a process with a rated type reads them."""

    def __init__(self, limits: SetLimits, clock: Clock) -> None:
        self._limits = limits
        self._known = TrustedReading("the set rate limits", self._read, clock)

    def require(self) -> None:
        """Check that the limits are known.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        self._known.get()

    def of(self, name: str, declared: RateLimit) -> RateLimit:
        """Return the limit in force for a type.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        return self._known.get().get(name, declared)

    def _read(self) -> Mapping[str, RateLimit]:
        return {limit.name: limit.limit for limit in self._limits.list()}


class KnownRegion:
    """A cache of the active region. Without a standby region it reads nothing.

    A process claims, and renews leases, only while it knows the region. A failover waits until such readings
    and the leases that they allowed have ended. So a region that cannot read the item stops by itself.
    """

    def __init__(self, regions: ActiveRegions, clock: Clock) -> None:
        self._regions = regions
        self._known = TrustedReading("which region is active", regions.read, clock)

    @property
    def own(self) -> str:
        """The region of this process; empty without a standby region."""
        return self._regions.own

    def epoch(self) -> int | None:
        """Return the epoch at which this region may claim; None while it stands by.

        Without a standby region it is 0.

        Raises:
            BackendUnavailable: the last reading is too old, and the item cannot be read.
        """
        if not self.own:
            return 0
        active = self._known.get()
        return active.epoch if active is not None and active.region == self.own else None

    def is_standby(self) -> bool:
        """Return whether another region, or none, is active; False while that cannot be read."""
        try:
            return self.epoch() is None
        except DuetimeError:
            return False

    def is_active(self) -> bool:
        """Return whether this region is active; False while that cannot be read."""
        try:
            return self.epoch() is not None
        except DuetimeError:
            return False

    def require_active(self) -> None:
        """Check that this region is active, for a write that no claim of it precedes.

        Raises:
            StateConflict: another region is active, or none during a failover.
            BackendUnavailable: as `epoch`.
        """
        if self.epoch() is None:
            active = self._known.get()
            region = active.region if active else ""
            remedy = (
                f"call the active region, {region}" if region else "call again when the failover has ended"
            )
            raise StateConflict(f"{self.own} stands by", remedy, code="standby-region")

    def is_current(self, fence: int) -> bool:
        """Return whether a run under this fence may renew its lease and settle: its epoch has not ended.

        Raises:
            BackendUnavailable: as `epoch`.
        """
        return not self.own or self.epoch() == epoch_of(fence)


class KnownPauses:
    """A cache of the pauses of work, and of the open breakers. Each method may have to read them.

    Raises:
        BackendUnavailable: they cannot be read, of each method.
    """

    def __init__(self, pauses: WorkPauses, clock: Clock) -> None:
        self._pauses, self._clock = pauses, clock
        self._known = TrustedReading("the pauses", self._read, clock)

    def of_tenant(self, tenant_id: TenantId) -> WorkPause | None:
        """Return the pause in force that covers a tenant; None without one. The system has none."""
        if tenant_id == SYSTEM_TENANT:
            return None
        now = self._clock.now()
        return pause_of_tenant(self._known.get(), tenant_id, now)

    def hold_of(self, work: PausableWork, without: str | None = None) -> Hold | None:
        """Return what holds some work; None if a run of it may begin. The pause `without` is ignored."""
        now = self._clock.now()
        return hold_of(self._known.get(), work, now, without)

    def held_before(self, work: PausableWork) -> WorkPause | None:
        """Return the pause that held some work until now; None if none did."""
        now = self._clock.now()
        return held_before(self._known.get(), work, now)

    def skip_of(self, work: PausableWork) -> WorkPause | None:
        """Return a pause under which overdue work became due, and is skipped; None without one.

        If the pauses were last read before it became due, they are read again. So a pause that was in force
        at that read was in force at the due time, whatever happens to it meanwhile.
        """
        found = skip_of(self._known.get(), work)
        if found is not None and not self._known.is_from(work.due_at):
            found = skip_of(self._known.read(), work)
        return found

    def known_skip_of(self, work: PausableWork) -> WorkPause | None:
        """Return a known pause under which some work is skipped when it is due; None without one."""
        return skip_of(self._known.get(), work)

    def find(self, is_meant: Callable[[WorkPause], bool], *, is_fresh: bool = False) -> WorkPause | None:
        """Return a pause in force, as known or, with `is_fresh`, as stored; None without one."""
        now = self._clock.now()
        known = self.stored() if is_fresh else self._known.get()
        return next((pause for pause in known if not pause.is_over(now) and is_meant(pause)), None)

    def knows_any(self) -> bool:
        """Return whether any pause is known, also an ended one."""
        return bool(self._known.get())

    def knows(self, scope: PauseScope) -> bool:
        """Return whether a pause of a scope is known, also an ended one."""
        return any(pause.scope is scope for pause in self._known.get())

    def ready_at(self, work: PausableWork, *, late: timedelta, is_first: bool) -> datetime:
        """Return from when on a run of overdue work may begin; `LATEST` if that is not known.

        That of a breaker that lacks a probe for so long is when the probe was due: its messages may be lost.

        Args:
            work: the work.
            late: how late a probe is lacking.
            is_first: whether no run has begun yet, so that a pause may skip the work.
        """
        hold, now = self.hold_of(work), self._clock.now()
        if hold is None:
            pause = self.held_before(work)
            return work.due_at if pause is None else pause.holds_until(work)
        if is_first and self.known_skip_of(work) is not None:
            return work.due_at
        breaker = hold.pause.breaker
        if breaker is not None and hold.pause.end is None and breaker.lacks_a_probe(now - late):
            return breaker.probes_at
        return hold.until

    def may_cover(self, work: PausableWork) -> bool:
        """Return whether a known pause may cover some work; only workers compute some rate keys."""
        return any(
            pause.covers(work) or (pause.scope is PauseScope.RATE_KEY and work.rate_key is None)
            for pause in self._known.get()
        )

    def is_look_due(
        self, since: datetime | None, now: datetime, late: Sequence[timedelta], skew: timedelta
    ) -> bool:
        """Return whether a sweep must look at what pauses hold, if it looked at `since`, or never."""
        return any(
            at <= now and (since is None or since < at)
            for pause in self._known.get()
            for at in pause.looks(late, skew)
        )

    def forget(self) -> None:
        """Read the pauses again when they are needed next."""
        self._known.forget()

    def list(self) -> Sequence[WorkPause]:
        """Return the pauses that are not over, the oldest first, by a consistent read."""
        now = self._clock.now()
        return [pause for pause in self.stored() if not pause.is_over(now)]

    def stored(self) -> Sequence[WorkPause]:
        """Return all stored pauses, also ended ones, by a consistent read."""
        return self._known.read()

    def _read(self) -> Sequence[WorkPause]:
        return self._pauses.list()

    def begin(self, pause: WorkPause) -> None:
        """Store a pause beside the others."""
        self._pauses.begin(pause)
        self._known.forget()

    def end_all(self, pauses: Iterable[WorkPause], by: str) -> Sequence[WorkPause]:
        """End these pauses; return them as ended."""
        now = self._clock.now()
        ended = [pause.ended(by=by, at=now) for pause in pauses]
        for pause in ended:
            self._pauses.end(pause)
        self._known.forget()
        return ended
