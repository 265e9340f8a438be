"""*Tend*: attend to each job whose time for that has come. The sweep does it each minute, the catch-up every six hours.

It reads the index of jobs by when they must be attended to, so it costs what is due and not what is stored. A job that cannot be
attended to holds up no other; it stays in the index, and the next pass tries again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime

from duetime.attend import Attend
from duetime.clock import Clock
from duetime.errors import DuetimeError, cut
from duetime.job import JobRef
from duetime.job_ports import JobStore
from duetime.plan import LEAD
from duetime.settings import Settings

log = logging.getLogger(__name__)

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Tended:
    """What one pass did."""

    attended: int = 0
    planned: int = 0
    failed: tuple[str, ...] = ()
    """Names of jobs that are left for the next pass."""


class Tend:
    """Attends to jobs, soonest first."""

    def __init__(self, jobs: JobStore, attend: Attend, *, clock: Clock, settings: Settings) -> None:
        self._jobs, self._attend = jobs, attend
        self._clock, self._settings = clock, settings

    def __call__(self, *, stop_at: datetime) -> Tended:
        """Attend until done, or until `stop_at`; then the next pass finds the rest."""
        attended, planned, failed = 0, 0, list[str]()
        for ref in self._due():
            if self._clock.now() >= stop_at:
                break
            try:
                planned += self._attend(ref).made
                attended += 1
            except DuetimeError as error:
                log.warning("job not attended to", extra={"job": ref.name, "reason": cut(error)})
                failed.append(ref.name)
        return Tended(attended, planned, tuple(failed))

    def _due(self) -> list[JobRef]:
        """All that are due now, read before any is attended to: that moves them in the index."""
        found, cursor, until = list[JobRef](), None, self._clock.now() + LEAD
        while True:
            refs, cursor = self._jobs.to_attend(until, limit=_PAGE, cursor=cursor)
            found += refs
            if cursor is None:
                return found
