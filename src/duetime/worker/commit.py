"""The other end of a run, *settle by commit*.

A handler's own writes and the settle of its action, in one transaction.

::

                 ┌──────────── refused: the beat goes on ────────────┐
                 ▼                                                   │
               open ── commit: the beat stops ── in doubt ── an answer, or the row
                                                     │               │
                           no answer: it stays so ◄──┘               ├─ committed: the action is executed
                                                                     └─ lost: another run has it; stop

A run in doubt may have written all or nothing. Its row is left alone: either it is settled, or its lease ends
and the attempt is repeated, under the next fence, which keeps what might still be under way from being
written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from enum import Enum

from duetime.errors import AlreadyCommitted, BackendUnavailable
from duetime.model.lease import Settlement, SettleResult
from duetime.model.run import Entry, RunCancelled
from duetime.worker.claim_job_run import ClaimWon
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.settle import Settle


class CommitStage(Enum):
    """How far a run's commit has come."""

    OPEN = "open"
    """Nothing was committed."""
    IN_DOUBT = "in doubt"
    """The result is unknown: the row must be left alone."""
    COMMITTED = "committed"
    """The action is executed."""
    LOST = "lost"
    """The run was taken over; there is nothing to settle."""


class RunCommit:
    """What `Run.commit` calls, one for each run. Of several threads one waits for the other."""

    def __init__(
        self,
        held: ClaimWon,
        stop: threading.Event,
        *,
        release: Settle,
        heartbeat: Heartbeat,
        executed: Callable[[], Settlement],
    ) -> None:
        """Make one for a run.

        Args:
            held: what the run has claimed.
            stop: set to stop the run.
            release: what settles it.
            heartbeat: what keeps its lease meanwhile.
            executed: how a run that succeeds now is settled.
        """
        self._held, self.stop = held, stop
        self._release, self._heartbeat, self._executed = release, heartbeat, executed
        self._turn = threading.Lock()
        self._number = 0
        self._doubt: BackendUnavailable | None = None
        self.stage = CommitStage.OPEN
        self.entries: Sequence[Entry] | None = None
        self.settlement: Settlement | None = None

    def __call__(self, entries: Sequence[Entry]) -> None:
        """See `duetime.model.run.Run.commit`."""
        with self._turn:
            self._check_open()
            self._heartbeat.rest(self._held.action)
            self.stage = CommitStage.IN_DOUBT
            self._commit(entries)

    def _check_open(self) -> None:
        if self.stage is CommitStage.COMMITTED:
            raise AlreadyCommitted(self._held.action.id)
        if self.stage is CommitStage.LOST:
            raise RunCancelled
        if self._doubt is not None:
            raise self._doubt  # whatever else this run wants, the first answer is still missing

    def _commit(self, entries: Sequence[Entry]) -> None:
        self._number += 1
        settlement = self._executed()
        try:
            result = self._release.commit(self._held, settlement, entries, self._number)
        except BackendUnavailable as doubt:
            self._doubt = doubt
            raise
        except Exception:
            self.stage = CommitStage.OPEN
            self._heartbeat.resume(self._held.action)
            raise
        if result is not SettleResult.SETTLED:
            self.stage = CommitStage.LOST
            self.stop.set()
            raise RunCancelled
        self.stage, self.entries, self.settlement = CommitStage.COMMITTED, entries, settlement
