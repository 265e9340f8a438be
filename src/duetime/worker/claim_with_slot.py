"""Step 4 for an action of no job, *claim*: one write, or, under a concurrency key, a take and a claim.

Each claim reads the row first, so nothing is written to a row that cannot be read. Under a concurrency key,
it then reads the key's slots, and takes one with the row's fence; a run to which a slot was passed has it
already. The claim needs that fence, which an eviction raises, so every run that begins has a slot. Without a
free slot, the claim evicts dead holders; if there are none, it joins the line, and `pass_slots` wakes it. A
fresh message claims again after minutes, in case a wake or a holder was lost.

The sweep cannot see that an action waits. It sends each overdue action again whenever its lateness has
doubled. So a worker replaces a message only until the next one of the sweep; otherwise messages would add up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

from duetime import ids, instant
from duetime.errors import UnreadableRow
from duetime.ids import PLANNER
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.lease import Claimed, ClaimTerms, LeaseHeld, MustBeAlone, NeedsSlot
from duetime.model.quick_fields import with_fields
from duetime.model.slots import KeySlots
from duetime.ports.actions import ActionStore, DamagedRow, Holder
from duetime.ports.jobs import LockRequirement
from duetime.ports.wakeups import DueMessage
from duetime.settings import Settings
from duetime.worker.claim_results import ClaimResult, ClaimWon, Waiting
from duetime.worker.pass_slots import PassSlots
from duetime.worker.paused_work import Held, PausedWork
from duetime.worker.rate_turn import RateTurn, StartRefused, StartsAt
from duetime.worker.read_holders import read_holders

log = logging.getLogger(__name__)

_CONTENDED = timedelta(seconds=2)
"""The delay before the next claim if the key kept changing, without its jitter of a quarter."""

_FIRST_CHECK, _LAST_CHECK = timedelta(minutes=5), timedelta(minutes=12)
"""The bounds of the delay before the next claim of an action in line, without its jitter of a quarter.

Within them, the delay is as long as the action has waited. The longest one with its jitter is 15 minutes, the
longest delay of a message in SQS.
"""

_OVERLAP = timedelta(minutes=10)
"""The time for which messages are still replaced after the sweep should have sent another."""


class ClaimOneShot:
    """Claims actions of no job."""

    def __init__(
        self,
        actions: ActionStore,
        pass_slots: PassSlots,
        *,
        jitter_draw: Callable[[], float],
        retention: timedelta,
        paused: PausedWork,
    ) -> None:
        self._actions, self._pass, self._paused = actions, pass_slots, paused
        self._jitter_draw, self._retention = jitter_draw, retention

    def __call__(
        self, message: DueMessage, terms: ClaimTerms, turn: RateTurn | None = None
    ) -> ClaimResult | StartRefused:
        """Read the row, then claim a run by one write, or with a slot; return None without a run to claim.

        The read finds unreadable rows before a claim writes to them, and settled ones without a write.

        Raises:
            UnreadableRow: the row is damaged; nothing was written.
            BackendUnavailable: a service did not respond; the message must come again.
        """
        row = self._row(message.ref)
        if row is None or row.status.is_final:
            self._give_up(row)
            return None
        generation = row.generation if terms.expiry.after else None
        terms = with_fields(terms, fence=row.fence, generation=generation)
        if turn is not None and row.rate_key is None and self._paused.covers_rate_keys():
            row = replace(row, rate_key=turn.key_of(row))
        if self._is_skipped(row, terms):
            return None
        if (blocked := self._blocked(row, terms)) is not None:
            return blocked
        if (held_by := self._paused.held_by(row)) is not None:
            terms = with_fields(terms, held_by=held_by)
        if row.concurrency_key is None and turn and (refused := turn(row, terms)):
            return refused
        claim = NeedsSlot() if row.concurrency_key else self._actions.claim(message.ref, terms)
        if isinstance(claim, NeedsSlot):
            return self.with_slot(row, terms, turn)
        return _won(claim.action, terms) if isinstance(claim, Claimed) else claim

    def give_up(self, ref: ActionRef) -> None:
        """Free the slot of an action that may not begin now, if it has one."""
        self._give_up(self._row(ref))

    def _is_skipped(self, row: Action, terms: ClaimTerms) -> bool:
        """Skip a row that has expired, or became due under a pause that skips; return whether it is one."""
        if self._has_expired(row, terms):
            self._skip_expired(row, terms)
            return True
        if (skip := self._paused.skip_of(row, terms)) is not None:
            self._skip(row, SkipReason.PAUSED, skip.note(terms.now), terms)
            return True
        return False

    def _blocked(self, row: Action, terms: ClaimTerms) -> Held | LeaseHeld | MustBeAlone | None:
        if row.lease_until and not terms.may_take_over(row):
            return LeaseHeld(row.lease_until)  # found without a write, however often its message comes
        held = self._paused.hold_of_row(row, terms)
        return MustBeAlone(row.recoveries) if held is None and terms.must_be_alone(row) else held

    def _has_expired(self, row: Action, terms: ClaimTerms) -> bool:
        """Return whether the row is due, and expired before a run of it could begin."""
        return row.status is Status.PENDING and row.due_at <= terms.now and not terms.may_claim(row)

    def _skip_expired(self, row: Action, terms: ClaimTerms) -> None:
        expires_at = terms.expiry.of(row)
        note = f"it expired at {instant.text(expires_at)}" if expires_at else ""
        self._skip(row, SkipReason.EXPIRED, note, terms)

    def _skip(self, row: Action, reason: SkipReason, note: str, terms: ClaimTerms) -> None:
        """Skip a row. If it has changed since it was read, its new due time has its own wake."""
        at, kept_until = row.next_change_at(terms.now), terms.now + self._retention
        self._actions.skip(row, reason, note=note, by=PLANNER, at=at, kept_until=kept_until)
        self._give_up(row)

    def _give_up(self, row: Action | None) -> None:
        """Free the slot of an action that does not run now, if one was passed to it or its end left one."""
        if row is not None and row.concurrency_key is not None:
            self._pass.give_up(row)

    def _row(self, ref: ActionRef) -> Action | None:
        damaged: list[DamagedRow] = []
        row = next(iter(self._actions.get_rows([ref], damaged=damaged)), None)
        for found in damaged:
            raise UnreadableRow([found.ref.tenant_id, found.ref.id], ValueError(found.reason))
        return row

    def with_slot(
        self, row: Action, terms: ClaimTerms, turn: RateTurn | None = None
    ) -> ClaimWon | LeaseHeld | Waiting | StartRefused | None:
        """Claim a run with a slot of its key. A key that keeps changing counts as busy."""
        as_read = iter([row])
        result = retry_on_conflict(lambda: self._try(next(as_read, None) or self._row(row.ref), terms, turn))
        if isinstance(result, Conflict):
            log.warning(
                "the concurrency key kept changing, claiming later",
                extra={"action": row.id, "tenant": row.tenant_id},
            )
            return self._waiting(_CONTENDED)
        return result

    def _try(
        self, row: Action | None, terms: ClaimTerms, turn: RateTurn | None
    ) -> ClaimWon | LeaseHeld | StartRefused | Conflict | None:
        if row is None or terms.is_fenced_off(row):
            return None
        if row.lease_until is not None:
            if not terms.may_take_over(row):
                return LeaseHeld(row.lease_until)
        elif row.status is not Status.PENDING or row.due_at > terms.now:
            self._give_up(row)
            return None
        elif self._has_expired(row, terms):
            self._skip_expired(row, terms)
            return None
        return self._contend(row, terms, turn)

    def _contend(
        self, row: Action, terms: ClaimTerms, turn: RateTurn | None
    ) -> ClaimWon | Waiting | StartRefused | Conflict | None:
        """Begin a run with a slot, take a slot, or join the line of those that wait for one."""
        slots = self._actions.key_slots(row.tenant_id, row.concurrency_key or "")
        if slots.is_full_for(row):
            return CHANGED if self._evict_dead(row, slots, terms) else self._join_line(row, slots, terms)
        if row.id not in slots.holders and self._pass.fill(slots, row.id):
            return CHANGED
        if turn and (refused := turn(row, terms)):
            if not isinstance(refused, StartsAt):
                self._give_up(row)
            return refused
        if not (slots.has_token(row) or self._actions.take_slot(row, slots, terms.now)):
            return CHANGED
        claimed = transition.started(row, terms)
        if not self._actions.claim_row(row, claimed):
            return CHANGED
        if claimed.payload is None:
            stored_row = self._actions.get(claimed.ref)
            claimed = replace(claimed, payload=stored_row.payload if stored_row else None)
        return replace(_won(claimed, terms), token=row.fence)

    def _join_line(self, row: Action, slots: KeySlots, terms: ClaimTerms) -> Waiting | Conflict:
        """Wait at the end of the line."""
        if row.id not in slots.waiting:
            has_joined = (
                self._actions.wait_for_slot(row, slots)
                if slots.has_room()
                else self._join_tail(row, slots, terms.now)
            )
            if not has_joined:
                return CHANGED
        waited = terms.now - max(row.due_at, ids.created_at(row.id))
        return self._waiting(min(max(waited, _FIRST_CHECK), _LAST_CHECK))

    def _join_tail(self, row: Action, slots: KeySlots, now: datetime) -> bool:
        """Join the tail of the line; return False if a slot may be free since."""
        self._actions.join_tail(row, now)
        slots = self._actions.key_slots(slots.tenant_id, slots.key)
        if not slots.has_tail:
            slots = self._actions.mark_tail(slots.tenant_id, slots.key, now)
        return slots.is_full_for(row)

    def _evict_dead(self, row: Action, slots: KeySlots, terms: ClaimTerms) -> bool:
        """Free the slots of dead holders; return whether there were any.

        A holder is dead if its row is gone or final or not due, or if its lease has ended, or if it has not
        begun for as long as a lease. A damaged row counts by what can be read of it.
        """
        refs = [ActionRef(row.tenant_id, holder) for holder in sorted(slots.holders)]
        rows = read_holders(self._actions, refs, terms)
        dead = [ref for ref in refs if _is_dead(rows.get(ref), slots, terms)]
        for ref in dead[:1]:  # the others by the slots as they are then
            self._pass.evict(slots, ref.id, rows.get(ref))
        return bool(dead)

    def _waiting(self, delay: timedelta) -> Waiting:
        return Waiting(ceil(delay.total_seconds() * (0.75 + self._jitter_draw() / 2)))


def _won(claimed: Action, terms: ClaimTerms) -> ClaimWon:
    return ClaimWon(claimed, None, LockRequirement.NOTHING, terms.expiry.of(claimed))


def _is_dead(holder: Holder | None, slots: KeySlots, terms: ClaimTerms) -> bool:
    if isinstance(holder, DamagedRow):
        return holder.is_over(terms.now, terms.skew)
    if holder is None or holder.status.is_final:
        return True
    if holder.status is Status.PROCESSING:
        return terms.may_take_over(holder)
    is_stuck = slots.taken_at + terms.length + terms.skew < terms.now
    return is_stuck or holder.due_at > terms.now + terms.skew


def next_message(message: DueMessage, now: datetime, settings: Settings) -> DueMessage | None:
    """Return the message to send again; None if the sweep has sent another one meanwhile."""
    if message.replaced_until is not None:
        return message if now < message.replaced_until else None
    late, longest = max(now - message.due_at, settings.grace), settings.catch_up_rate
    until_sent_again = late if 2 * late < longest else longest
    return replace(message, replaced_until=now + until_sent_again + _OVERLAP)
