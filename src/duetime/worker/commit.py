"""The end of a run by `Run.commit`: one transaction writes the handler's own entries and settles the action.

::

                 ┌──────────── rejected: beats resume ────────────────┐
                 ▼                                                    │
               open ── commit: beats stop ── in doubt ── a response, or the row
                                                 │                    │
                     no response: still in doubt ◄┘                   ├─ committed: the action is executed
                                                                      └─ lost: another run has it; stop

A run in doubt may have written all or nothing, and its worker leaves the row alone. Either the row is
settled, or the lease ends and the attempt is repeated under the next fence. That fence rejects a late write.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from enum import Enum

from duetime.errors import AlreadyCommitted, BackendUnavailable
from duetime.model.lease import Settlement, SettleResult
from duetime.model.run import Entry, RunCancelled
from duetime.worker.claim_results import ClaimWon
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
    """The callable behind `Run.commit`, one for each run. Calls of several threads wait for one another."""

    def __init__(
        self,
        held: ClaimWon,
        stop: threading.Event,
        *,
        settle: Settle,
        heartbeat: Heartbeat,
        executed: Callable[[], Settlement],
    ) -> None:
        """Make one for a run.

        Args:
            held: the run's claim.
            stop: set to stop the run.
            settle: settles the run.
            heartbeat: keeps the run's lease.
            executed: returns the settlement of a run that succeeds now.
        """
        self._held, self.stop = held, stop
        self._settle, self._heartbeat, self._executed = settle, heartbeat, executed
        self._lock = threading.Lock()
        self._number = 0
        self._doubt: BackendUnavailable | None = None
        self.stage = CommitStage.OPEN
        self.entries: Sequence[Entry] | None = None
        self.settlement: Settlement | None = None

    def __call__(self, entries: Sequence[Entry]) -> None:
        """See `duetime.model.run.Run.commit`."""
        with self._lock:
            if self.stage is CommitStage.COMMITTED:
                raise AlreadyCommitted(self._held.action.id)
            if self.stage is CommitStage.LOST:
                raise RunCancelled
            if self._doubt is not None:
                raise self._doubt  # the result of the first commit is still unknown
            self._heartbeat.rest(self._held.action)
            self.stage = CommitStage.IN_DOUBT
            self._commit(entries)

    def _commit(self, entries: Sequence[Entry]) -> None:
        self._number += 1
        settlement = self._executed()
        try:
            result = self._settle.commit(self._held, settlement, entries, self._number)
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
