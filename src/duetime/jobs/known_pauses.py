"""The pauses of work, and the open breakers, as a process knows them. Each method may have to read them.

Raises:
    BackendUnavailable: they cannot be read, of each method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.jobs.trusted_reading import TrustedReading
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
from duetime.ports.work_pauses import WorkPauses


class KnownPauses:
    """A cache of the pauses. Safe to call from several threads."""

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
