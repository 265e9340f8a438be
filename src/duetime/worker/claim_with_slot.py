"""Step 4 for an action of no job, *claim*: one write, or, under a concurrency key, a claim with a slot.

Each claim reads the row first, so nothing is written to a row that cannot be read. A claim with a slot also
reads the holders of the key's slots. It writes both in one transaction if neither has changed; otherwise it
reads them again. A run without a free slot writes nothing: a fresh message repeats the claim later. The claim
first evicts dead holders, so the live leases never exceed the limit.

The sweep cannot see that an action waits. It sends each overdue action again whenever its lateness has
doubled. So a worker replaces a message only until the next one of the sweep; otherwise messages would add up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

from duetime import ids
from duetime.errors import UnreadableRow
from duetime.ids import ActionId
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import Claimed, ClaimTerms, LeaseHeld, NeedsSlot
from duetime.ports.actions import ActionStore, DamagedRow, Holder
from duetime.ports.jobs import LockRequirement
from duetime.ports.wakeups import DueMessage
from duetime.settings import Settings
from duetime.worker.claim_job_run import SHARE_OF_WAIT, ClaimWon, Waiting
from duetime.worker.read_holders import read_holders

log = logging.getLogger(__name__)

SOONEST, LATEST = timedelta(seconds=2), timedelta(seconds=60)
"""The bounds of the delay before the next claim, without its jitter of a quarter."""

_OVERLAP = timedelta(minutes=10)
"""The time for which messages are still replaced after the sweep should have sent another."""


class ClaimOneShot:
    """Claims actions of no job."""

    def __init__(self, actions: ActionStore, *, jitter_draw: Callable[[], float]) -> None:
        self._actions, self._jitter_draw = actions, jitter_draw

    def __call__(self, message: DueMessage, terms: ClaimTerms) -> ClaimWon | LeaseHeld | Waiting | None:
        """Read the row, then claim a run by one write, or with a slot; return None without a run to claim.

        The read finds unreadable rows before a claim writes to them, and settled ones without a write.

        Raises:
            UnreadableRow: the row is damaged; nothing was written.
            BackendUnavailable: a service did not respond; the message must come again.
        """
        if (row := self._row(message.ref)) is None or row.status.is_final:
            return None
        terms = replace(terms, fence=row.fence)
        claim = NeedsSlot() if row.concurrency_key else self._actions.claim(message.ref, terms)
        if isinstance(claim, NeedsSlot):
            return self.with_slot(row, terms)
        return ClaimWon(claim.action, None, LockRequirement.NOTHING) if isinstance(claim, Claimed) else claim

    def _row(self, ref: ActionRef) -> Action | None:
        damaged: list[DamagedRow] = []
        row = next(iter(self._actions.get_rows([ref], damaged=damaged)), None)
        for found in damaged:
            raise UnreadableRow([found.ref.tenant_id, found.ref.id], ValueError(found.reason))
        return row

    def with_slot(self, row: Action, terms: ClaimTerms) -> ClaimWon | LeaseHeld | Waiting | None:
        """Claim a run with a slot of its key. A key that keeps changing counts as busy."""
        as_read = iter([row])
        result = retry_on_conflict(lambda: self._try(next(as_read, None) or self._row(row.ref), terms))
        if isinstance(result, Conflict):
            log.warning("the concurrency key kept changing, claiming later", extra={"action": row.id})
            return self._waiting(SOONEST)
        return result

    def _try(self, row: Action | None, terms: ClaimTerms) -> ClaimWon | LeaseHeld | Waiting | Conflict | None:
        if row is None or row.concurrency_key is None or terms.is_fenced_off(row):
            return None
        if row.status is Status.PROCESSING and row.lease_until is not None:
            if row.claim_nonce == terms.nonce:
                return self._won(row)
            if not terms.may_take_over(row):
                return LeaseHeld(row.lease_until)
        elif row.status is not Status.PENDING or row.due_at > terms.now:
            return None
        return self._contend(row, row.concurrency_key, terms)

    def _contend(self, row: Action, key: str, terms: ClaimTerms) -> ClaimWon | Waiting | Conflict:
        others = self._actions.holders(row.tenant_id, key) - {row.id}
        if len(others) >= row.concurrency_limit:
            if self._evict_dead(row, key, sorted(others), terms):
                return CHANGED
            since = max(row.due_at, ids.created_at(row.id))
            return self._waiting(min(max((terms.now - since) * SHARE_OF_WAIT, SOONEST), LATEST))
        claimed = transition.started(row, terms)
        return self._won(claimed) if self._actions.claim_slot(row, claimed) else CHANGED

    def _won(self, claimed: Action) -> ClaimWon:
        """Return the claim with its payload: an offloaded one is read only after the claim."""
        if claimed.payload_offloaded and claimed.payload is None:
            stored_row = self._actions.get(claimed.ref)
            claimed = replace(claimed, payload=stored_row.payload if stored_row else None)
        return ClaimWon(claimed, None, LockRequirement.NOTHING)

    def _evict_dead(self, row: Action, key: str, holders: list[ActionId], terms: ClaimTerms) -> bool:
        """Free the slots of dead holders; return whether there were any.

        A holder is dead if its row is gone or no longer processing, or if its lease has ended.
        A damaged row counts by what can be read of it.
        """
        refs = [ActionRef(row.tenant_id, holder) for holder in holders]
        rows = read_holders(self._actions, refs, terms)
        dead = [ref for ref in refs if _is_dead(rows.get(ref), terms)]
        for ref in dead:
            self._actions.evict(row.tenant_id, key, ref.id, rows.get(ref))
        return bool(dead)

    def _waiting(self, delay: timedelta) -> Waiting:
        return Waiting(ceil(delay.total_seconds() * (0.75 + self._jitter_draw() / 2)))


def _is_dead(holder: Holder | None, terms: ClaimTerms) -> bool:
    if isinstance(holder, DamagedRow):
        return holder.is_over(terms.now, terms.skew)
    return holder is None or holder.status is not Status.PROCESSING or terms.may_take_over(holder)


def next_message(message: DueMessage, now: datetime, settings: Settings) -> DueMessage | None:
    """Return the message to send again; None if the sweep has sent another one meanwhile."""
    if message.replaced_until is not None:
        return message if now < message.replaced_until else None
    late, longest = max(now - message.due_at, settings.grace), settings.catch_up_rate
    until_sent_again = late if 2 * late < longest else longest
    return replace(message, replaced_until=now + until_sent_again + _OVERLAP)
