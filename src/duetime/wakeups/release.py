"""*Release*: give a held action its due time once its predecessors have ended.

The rows decide; the stream, the callers and the sweep only name the rows that may be released. The write
requires the generation that was read. So a held action is released once, also if two processes try at once.
"""

from __future__ import annotations

import logging

from duetime.clock import Clock
from duetime.ids import PLANNER
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason
from duetime.model.batch import ActionBatch, BatchRef
from duetime.model.lease import Applied
from duetime.model.predecessors import Decision, Predecessors, Verdict, decide
from duetime.ports.actions import ActionStore, DamagedRow
from duetime.settings import Settings

log = logging.getLogger(__name__)


class Release:
    """Decides about held actions by their predecessors' rows."""

    def __init__(self, store: ActionStore, *, clock: Clock, settings: Settings) -> None:
        self._store, self._clock, self._settings = store, clock, settings

    def __call__(self, ref: ActionRef, *, has_success: bool = False) -> bool:
        """Release, fail or skip a held action whose predecessors have ended; return whether it is done.

        A run that waits for one of another job becomes due instead; its claim decides.

        Args:
            ref: the action.
            has_success: whether one of those that it follows was executed.

        Raises:
            BackendUnavailable: it may be released, now or later; a repeat is safe.
            UnreadableRow: duetime did not write one of its batches.
        """
        row = next(iter(self._store.get_rows([ref])), None)
        if row is not None and row.waits_for_run:
            return has_success and self._wake(row)
        if row is None or not row.is_held:
            return False
        verdict = self._verdict(row)
        if verdict.decision is Decision.WAIT:
            return False
        log.info("action released", extra={"action": row.id, "decision": verdict.decision.value})
        self._store.release(row, self._released(row, verdict))
        return True

    def _wake(self, row: Action) -> bool:
        """Let a run look at the other job's run now; return whether it does."""
        now = self._clock.now()
        if row.due_at <= now:
            return False
        return isinstance(self._store.defer(row, now, waits_for=row.waits_for), Applied)

    def _verdict(self, row: Action) -> Verdict:
        predecessors, damaged = Predecessors.parse(row.after or ""), list[DamagedRow]()
        refs = [ActionRef(row.tenant_id, one) for one in predecessors.ids]
        rows = {found.id: found for found in self._store.get_rows(refs, damaged=damaged)}
        if damaged:  # it may still run
            return Verdict(Decision.WAIT)
        return decide(row, rows, batches_of(self._store, row, predecessors))

    def _released(self, row: Action, verdict: Verdict) -> Action:
        now = self._clock.now()
        if verdict.decision is not Decision.SKIP:
            return transition.released(row, now=now, unmet=verdict.unmet)
        kept_until = now + self._settings.retention
        note = verdict.unmet or ""
        return transition.skipped(
            row, SkipReason.PREDECESSOR, note=note, by=PLANNER, at=now, kept_until=kept_until
        )


def batches_of(store: ActionStore, row: Action, predecessors: Predecessors) -> dict[str, ActionBatch]:
    """Return the batches among a row's predecessors, without those that are gone."""
    found = [store.find_batch(BatchRef(row.tenant_id, name)) for name in predecessors.batches]
    return {batch.name: batch for batch in found if batch is not None}
