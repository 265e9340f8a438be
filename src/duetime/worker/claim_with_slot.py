"""Step 4 under a concurrency key, *take a slot*: a claim that other runs with that key have a say in.

It reads the row and who holds the key's slots, and writes both in one transaction if nothing of that has
changed; else it reads again. A run that finds no slot free writes nothing: a fresh message looks again later.
What a dead run held is freed first, and that run fenced off, so that never more than the limit hold a live
lease.

The sweep does not know what waits: it sends what is overdue again, the next time when it is twice as late. So
a message is replaced by fresh ones only until then, or each sweep would have one more look for the same
action.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

from duetime import ids
from duetime.ids import ActionId
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import Claimed, ClaimTerms, LeaseHeld, NeedsSlot
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import LockRequirement
from duetime.ports.wakeups import DueMessage
from duetime.settings import Settings
from duetime.worker.claim_job_run import ClaimWon, Waiting

log = logging.getLogger(__name__)

SOONEST, LATEST = timedelta(seconds=2), timedelta(seconds=60)
"""A run that was denied looks again after so long, give or take a quarter."""

_SHARE = 0.25
"""Of the time that it has waited already: so those that wait long cost few looks."""

_GOES_ON = timedelta(minutes=10)
"""A message is replaced for so long after the sweep should have sent another."""

_RACES = 10


class ClaimOneShot:
    """Claims actions of no job: by one write, or with a slot."""

    def __init__(self, actions: ActionStore, *, jitter_draw: Callable[[], float]) -> None:
        self._actions, self._take_slot = actions, ClaimWithSlot(actions, jitter_draw=jitter_draw)

    def __call__(self, message: DueMessage, terms: ClaimTerms) -> ClaimWon | LeaseHeld | Waiting | None:
        """Claim a run, or say when to look again; None when there is nothing to do.

        A message may be older than the key; the row decides.
        """
        claim = NeedsSlot() if message.is_keyed else self._actions.claim(message.ref, terms)
        if isinstance(claim, NeedsSlot):
            return self._take_slot(message.ref, terms)
        return ClaimWon(claim.action, None, LockRequirement.NOTHING) if isinstance(claim, Claimed) else claim


class ClaimWithSlot:
    """Claims actions that have a concurrency key."""

    def __init__(self, actions: ActionStore, *, jitter_draw: Callable[[], float]) -> None:
        self._actions, self._chance = actions, jitter_draw

    def __call__(self, ref: ActionRef, terms: ClaimTerms) -> ClaimWon | LeaseHeld | Waiting | None:
        """Claim a run with a slot of its key, or say when to look again; None when there is nothing to do.

        A key that keeps changing while it looks is busy: it looks again later, too.

        Raises:
            BackendUnavailable: a service did not answer; the message must come again.
        """
        for _ in range(_RACES):
            done = self._try(ref, terms)
            if not isinstance(done, _ReadAgain):
                return done
        log.warning("its concurrency key kept changing, it looks again later", extra={"action": ref.id})
        return self._in(SOONEST)

    def _try(self, ref: ActionRef, terms: ClaimTerms) -> ClaimWon | LeaseHeld | Waiting | _ReadAgain | None:
        row = next(iter(self._actions.get_rows([ref])), None)
        if row is None or row.concurrency_key is None:
            return None
        if row.status is Status.PROCESSING and row.lease_until is not None:
            if row.claim_nonce == terms.nonce:
                return self._admitted(row)
            if not terms.may_take_over(row):
                return LeaseHeld(row.lease_until)
        elif row.status is not Status.PENDING or row.due_at > terms.now:
            return None
        return self._contend(row, row.concurrency_key, terms)

    def _contend(self, row: Action, key: str, terms: ClaimTerms) -> ClaimWon | Waiting | _ReadAgain:
        others = self._actions.holders(row.tenant_id, key) - {row.id}
        if len(others) >= row.concurrency_limit:
            is_freed = self._free_dead(row, key, sorted(others), terms)
            return _AGAIN if is_freed else self._later(row, terms.now)
        claimed = transition.started(row, terms)
        return self._admitted(claimed) if self._actions.claim_slot(row, claimed) else _AGAIN

    def _admitted(self, claimed: Action) -> ClaimWon:
        """The run, with its payload: one that is set apart is read only now, and not with each look."""
        if claimed.payload_offloaded and claimed.payload is None:
            stored_row = self._actions.get(claimed.ref)
            claimed = replace(claimed, payload=stored_row.payload if stored_row else None)
        return ClaimWon(claimed, None, LockRequirement.NOTHING)

    def _free_dead(self, row: Action, key: str, holders: list[ActionId], terms: ClaimTerms) -> bool:
        """Free what dead runs hold; whether there were any."""
        found = self._actions.get_rows([ActionRef(row.tenant_id, holder) for holder in holders])
        rows = {holder.id: holder for holder in found}
        dead = [holder for holder in holders if _is_dead(rows.get(holder), terms)]
        for holder in dead:
            self._actions.evict(row.tenant_id, key, holder, rows.get(holder))
        return bool(dead)

    def _later(self, row: Action, now: datetime) -> Waiting:
        since = max(row.due_at, ids.created_at(row.id))
        return self._in(min(max((now - since) * _SHARE, SOONEST), LATEST))

    def _in(self, wait: timedelta) -> Waiting:
        return Waiting(ceil(wait.total_seconds() * (0.75 + self._chance() / 2)))


def next_look(message: DueMessage, now: datetime, settings: Settings) -> DueMessage | None:
    """The message for another look; None where the sweep has sent one by now, which goes on in its place.

    A job's run looks on under the same message.
    """
    if not ids.is_one_shot(message.ref.id):
        return message
    if message.looks_until is not None:
        return message if now < message.looks_until else None
    late, longest = max(now - message.due_at, settings.grace), settings.catch_up_rate
    until_sent_again = late if 2 * late < longest else longest
    return replace(message, is_keyed=True, looks_until=now + until_sent_again + _GOES_ON)


class _ReadAgain:
    """What was read has changed: read again."""


_AGAIN = _ReadAgain()


def _is_dead(holder: Action | None, terms: ClaimTerms) -> bool:
    """Whether a holder will not free its slot.

    Its row is gone, or no longer processing, or its worker died.
    """
    if holder is None or holder.status is not Status.PROCESSING:
        return True
    return terms.may_take_over(holder)
