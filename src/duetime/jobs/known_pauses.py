"""The pauses of work as a process knows them: read at most every five seconds, and only when work is due.

If they cannot be read, the process uses those that it read last. A process that has read none pauses nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.work_pause import WorkPause, pause_of_tenant
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

    def of_tenant(self, tenant_id: TenantId) -> WorkPause | None:
        """Return the pause that covers a tenant; None if its work may begin. The system has none."""
        if tenant_id == SYSTEM_TENANT:
            return None
        now = self._clock.now()
        if self._read_at is None or not self._read_at <= now < self._read_at + REREAD_AFTER:
            self._read(now)
        return pause_of_tenant(self._known, tenant_id, now)

    def list(self) -> Sequence[WorkPause]:
        """Return the pauses that are not over, the oldest first, by a consistent read.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        now = self._clock.now()
        self._known, self._read_at = self._pauses.list(), now
        return [pause for pause in self._known if not pause.is_over(now)]

    def begin(self, pause: WorkPause) -> None:
        """Store a pause beside the others."""
        self._pauses.begin(pause)
        self._read_at = None

    def end_all(self, tenant_id: TenantId, by: str) -> Sequence[WorkPause]:
        """End all pauses of a tenant; return them."""
        now = self._clock.now()
        ended = [pause.ended(by=by, at=now) for pause in self.list() if pause.name == tenant_id]
        for pause in ended:
            self._pauses.end(pause)
        self._read_at = None
        return ended

    def _read(self, now: datetime) -> None:
        self._read_at = now
        try:
            self._known = self._pauses.list()
        except DuetimeError as error:
            log.warning("pauses not read, the last known ones hold", extra={"reason": truncate(error)})
