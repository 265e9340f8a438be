"""The pauses of work as a process knows them: read at most every five seconds, and only when work is due.

If they cannot be read, the process uses those that it read last. A process that has read none pauses nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.ids import SYSTEM_TENANT, TenantId
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

log = logging.getLogger(__name__)

REREAD_AFTER = timedelta(seconds=5)
"""A pause holds in each process within this time; a read costs one read unit."""


class KnownPauses:
    """A cache of the pauses. Safe to call from several threads."""

    def __init__(self, pauses: WorkPauses, clock: Clock) -> None:
        self._pauses, self._clock = pauses, clock
        self._known: Sequence[WorkPause] = ()
        self._read_at: datetime | None = None
        self._known_at: datetime | None = None

    def of_tenant(self, tenant_id: TenantId) -> WorkPause | None:
        """Return the pause in force that covers a tenant; None without one. The system has none."""
        if tenant_id == SYSTEM_TENANT:
            return None
        now = self._clock.now()
        return pause_of_tenant(self._fresh(now), tenant_id, now)

    def hold_of(self, work: PausableWork, without: str | None = None) -> Hold | None:
        """Return what holds some work; None if a run of it may begin. The pause `without` is ignored."""
        now = self._clock.now()
        return hold_of(self._fresh(now), work, now, without)

    def held_before(self, work: PausableWork) -> WorkPause | None:
        """Return the pause that held some work until now; None if none did."""
        now = self._clock.now()
        return held_before(self._fresh(now), work, now)

    def skip_of(self, work: PausableWork) -> WorkPause | None:
        """Return a pause under which overdue work became due, and is skipped; None without one.

        If the pauses were last read before it became due, they are read again. So a pause that was in force
        at that read was in force at the due time, whatever happens to it meanwhile.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        now = self._clock.now()
        found = skip_of(self._fresh(now), work)
        if found is not None and (self._known_at is None or self._known_at < work.due_at):
            self._load(now)
            found = skip_of(self._known, work)
        return found

    def known_skip_of(self, work: PausableWork) -> WorkPause | None:
        """Return a known pause under which some work is skipped when it is due; None without one."""
        return skip_of(self._fresh(self._clock.now()), work)

    def find(self, is_meant: Callable[[WorkPause], bool], *, is_fresh: bool = False) -> WorkPause | None:
        """Return a pause in force, as known or, with `is_fresh`, as stored; None without one.

        Raises:
            BackendUnavailable: they cannot be read; only with `is_fresh`.
        """
        now = self._clock.now()
        known = self.stored() if is_fresh else self._fresh(now)
        return next((pause for pause in known if not pause.is_over(now) and is_meant(pause)), None)

    def knows_any(self) -> bool:
        """Return whether any pause is known, also an ended one."""
        return bool(self._fresh(self._clock.now()))

    def knows(self, scope: PauseScope) -> bool:
        """Return whether a pause of a scope is known, also an ended one."""
        return any(pause.scope is scope for pause in self._fresh(self._clock.now()))

    def forget(self) -> None:
        """Read the pauses again when they are needed next."""
        self._read_at = None

    def list(self) -> Sequence[WorkPause]:
        """Return the pauses that are not over, the oldest first, by a consistent read.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        now = self._clock.now()
        self._load(now)
        return [pause for pause in self._known if not pause.is_over(now)]

    def stored(self) -> Sequence[WorkPause]:
        """Return all stored pauses, also ended ones, by a consistent read.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        self._load(self._clock.now())
        return self._known

    def begin(self, pause: WorkPause) -> None:
        """Store a pause beside the others."""
        self._pauses.begin(pause)
        self._read_at = None

    def end_all(self, pauses: Iterable[WorkPause], by: str) -> Sequence[WorkPause]:
        """End these pauses; return them as ended."""
        now = self._clock.now()
        ended = [pause.ended(by=by, at=now) for pause in pauses]
        for pause in ended:
            self._pauses.end(pause)
        self._read_at = None
        return ended

    def _fresh(self, now: datetime) -> Sequence[WorkPause]:
        """Return the known pauses, also ended ones, after a read if the last one is too old."""
        if self._read_at is None or not self._read_at <= now < self._read_at + REREAD_AFTER:
            self._read(now)
        return self._known

    def _load(self, now: datetime) -> None:
        self._known = self._pauses.list()
        self._known_at = self._read_at = now

    def _read(self, now: datetime) -> None:
        self._read_at = now
        try:
            self._load(now)
        except DuetimeError as error:
            log.warning("pauses not read, the last known ones hold", extra={"reason": truncate(error)})
