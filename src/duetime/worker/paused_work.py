"""What pauses mean for the messages and rows that a worker handles.

A message has the tenant and the type of its action, so most pauses need no read of the row. A concurrency key
and a rate key are in the row, which each claim of a one-shot reads anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from duetime.errors import truncate
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import ClaimTerms
from duetime.model.work_pause import Hold, PausableWork, PauseScope, WorkPause, work_of
from duetime.ports.wakeups import DueMessage


@dataclass(frozen=True, slots=True)
class Held:
    """A pause holds the run: its message comes again."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class SkipByPause:
    """The action became due under a pause that skips."""

    pause: WorkPause

    def note(self, now: datetime) -> str:
        """Return the details of the skip."""
        return truncate(self.pause.story(now))


class PausedWork:
    """Decides about the work of one worker."""

    def __init__(
        self,
        pauses: KnownPauses,
        worker: str,
        probed_by: Callable[[ActionRef], str | None] = lambda _ref: None,
    ) -> None:
        self._pauses, self._worker, self._probed_by = pauses, worker, probed_by

    def covers_rate_keys(self) -> bool:
        """Return whether a pause of a rate key is known: then each action's key must be known, too."""
        return self._pauses.knows(PauseScope.RATE_KEY)

    def hold_of(self, message: DueMessage) -> Hold | None:
        """Return what holds a due message; None if its row decides.

        Work that is skipped is not held, since its skip is a write on its row.
        """
        work = PausableWork(
            tenant_id=message.ref.tenant_id,
            id=message.ref.id,
            type=message.type,
            due_at=message.due_at,
            worker=self._worker,
        )
        hold = self._pauses.hold_of(work)
        return None if hold is None or self._pauses.skip_of(work) is not None else hold

    def skip_of(self, row: Action, terms: ClaimTerms) -> SkipByPause | None:
        """Return the pause under which an action became due, and is skipped; None without one.

        An action that has begun is never skipped: its retry waits.

        Raises:
            BackendUnavailable: the pauses must be read again before a skip, and cannot be.
        """
        if row.status is not Status.PENDING or row.attempt or row.due_at > terms.now:
            return None
        pause = self._pauses.skip_of(work_of(row, self._worker))
        return None if pause is None else SkipByPause(pause)

    def hold_of_row(self, row: Action, terms: ClaimTerms) -> Held | None:
        """Return what holds a run that would begin now; None if it may."""
        is_due = row.status is Status.PENDING and row.due_at <= terms.now
        if not is_due and not (row.status is Status.PROCESSING and terms.may_take_over(row)):
            return None
        hold = self._pauses.hold_of(work_of(row, self._worker), self._probed_by(row.ref))
        return None if hold is None else Held(hold)

    def held_by(self, row: Action) -> str | None:
        """Return the pause that held a row until now, for its history."""
        probed = self._probed_by(row.ref)
        if probed is not None:
            pause = self._pauses.find(lambda known: known.id == probed)
        else:
            pause = self._pauses.held_before(work_of(row, self._worker))
        return None if pause is None else truncate(pause.story(pause.end or pause.since))
