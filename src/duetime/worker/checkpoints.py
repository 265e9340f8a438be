"""The checkpoints of one run: they are stored under its fence, and order themselves by number."""

from __future__ import annotations

import threading

from duetime.errors import AlreadyCommitted
from duetime.model.action import Action
from duetime.model.checkpoint import Checkpoint
from duetime.model.outcome import Outcome, of_continue
from duetime.model.run import RunCancelled
from duetime.ports.actions import ActionStore
from duetime.worker.commit import CommitStage, RunCommit


class RunCheckpoints:
    """The callable behind `Run.checkpoint`, one for each run. Its calls wait for one another."""

    def __init__(self, action: Action, store: ActionStore, commit: RunCommit) -> None:
        """Make one for a run.

        Args:
            action: the row as claimed.
            store: has the row.
            commit: the run's.
        """
        self._action, self._store, self._commit = action, store, commit
        self._lock, self._number = threading.Lock(), 0
        self.latest = action.checkpoint
        """See `duetime.model.run.Checkpointing`."""

    def __call__(self, text: str) -> None:
        """See `duetime.model.run.Run.checkpoint`."""
        with self._lock:
            if self._commit.stage is CommitStage.LOST:
                raise RunCancelled
            if self._commit.stage is not CommitStage.OPEN:
                raise AlreadyCommitted(self._action.id)
            self._number += 1
            checkpoint = Checkpoint(text, self._action.fence, self._number)
            held = self._store.checkpoint(self._action, checkpoint)
            if held is None:
                self._commit.stop.set()
                raise RunCancelled
            if held.cancel_requested:
                self._commit.stop.set()
            self.latest = checkpoint

    def outcome_of_continue(self) -> Outcome:
        """Return the outcome of the run if its handler raises `Continue`."""
        began = self._action.checkpoint
        has_advanced = self.latest is not None and (began is None or began.text != self.latest.text)
        return of_continue(self._action, has_advanced=has_advanced)
