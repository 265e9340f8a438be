"""Step 4, *claim*: claim the run of a message on the worker's terms, whether a one-shot's or a job's."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime._lazy_property import lazy_property
from duetime.declare.handler_set import HandlerSet
from duetime.errors import UnreadableRow
from duetime.ids import PLANNER, is_one_shot
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.jobs.trusted_reading import KnownLimits, KnownRegion
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.expiry import NO_EXPIRY, Expiry
from duetime.model.lease import Claimed, ClaimTerms, LeaseHeld, MustBeAlone
from duetime.model.quick_fields import with_fields
from duetime.model.slots import KeySlots
from duetime.ports.actions import DamagedRow, Holder
from duetime.ports.backends import Backends
from duetime.ports.jobs import LockRequirement
from duetime.ports.rate_limits import NoSetLimits
from duetime.ports.wakeups import Delivery, DueMessage
from duetime.retry import NEVER, RetryPolicy
from duetime.settings import Settings
from duetime.worker.claim_results import ClaimResult, ClaimWon, Waiting, read_holders
from duetime.worker.pass_slots import PassSlots
from duetime.worker.paused_work import Held, PausedWork
from duetime.worker.rate_turn import Deferred, RateTurn, RateTurns, StartRefused, StartsAt

if TYPE_CHECKING:
    from duetime.worker.claim_job_run import ClaimJobRun


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
    """Claims actions of no job: by one write, or, under a concurrency key, by a take and a claim.

    Each claim reads the row first, so nothing is written to a row that cannot be read. Under a concurrency
    key, it then reads the key's slots, and takes one with the row's fence; a run to which a slot was passed
    has it already. The claim needs that fence, which an eviction raises, so every run that begins has a slot.
    Without a free slot, the claim evicts dead holders; if there are none, it joins the line, and `PassSlots`
    wakes it. A fresh message claims again after minutes, in case a wake or a holder was lost.

    The sweep cannot see that an action waits. It sends each overdue action again whenever its lateness has
    doubled. So a worker replaces a message only until the next one of the sweep; otherwise messages would add
    up.
    """

    def __init__(
        self,
        backends: Backends,
        *,
        jitter_draw: Callable[[], float],
        paused: PausedWork,
    ) -> None:
        self._actions, self._pass, self._paused = backends.store, PassSlots(backends), paused
        self._jitter_draw, self._retention = jitter_draw, backends.settings.retention

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
        if turn is not None and row.rate_key is None and self._paused.covers_rate_keys():
            row = replace(row, rate_key=turn.key_of(row))
        if self._is_skipped(row, terms):
            return None
        if (blocked := self._blocked(row, terms)) is not None:
            return blocked
        if (held_by := self._paused.held_by(row)) is not None:
            terms = with_fields(terms, held_by=held_by)
        if row.concurrency is not None:
            return self.with_slot(row, terms, turn)
        if turn and (refused := turn(row, terms)):
            return refused
        claim = self._actions.claim(row, terms)
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
        if row is not None and row.concurrency is not None:
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
        slots = self._actions.key_slots(row.tenant_id, row.slot_key)
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
        claim = self._actions.claim(row, terms)
        return replace(_won(claim.action, terms), token=row.fence) if isinstance(claim, Claimed) else CHANGED

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


class ClaimRun:
    """Claims runs for one process."""

    def __init__(
        self,
        handlers: HandlerSet,
        backends: Backends,
        region: KnownRegion,
        paused: PausedWork,
        *,
        instance: str,
        jitter_draw: Callable[[], float],
    ) -> None:
        self._handlers, self._backends, self._region, self._paused = handlers, backends, region, paused
        self._clock, self._settings, self._instance = backends.clock, backends.settings, instance
        self._one_shots = ClaimOneShot(backends, jitter_draw=jitter_draw, paused=paused)
        has_rates = any(handler.rate for handler in handlers.by_name.values())
        limits = KnownLimits(backends.limits if has_rates else NoSetLimits(), backends.clock)
        self.rates = RateTurns(handlers.by_name, backends.store, limits)

    @lazy_property
    def _job_runs(self) -> ClaimJobRun:
        from duetime.worker.claim_job_run import ClaimJobRun  # noqa: PLC0415 - many processes run one-shots alone

        return ClaimJobRun(self._backends, self._paused)

    def __call__(self, delivery: Delivery, *, shares_process: bool) -> ClaimResult:
        """Claim the run of a delivery; return None if it needs no more work, or not in this region.

        Args:
            delivery: the delivery.
            shares_process: whether other runs share the process.

        Raises:
            BackendUnavailable: a service did not respond; the message must come again.
        """
        handler = self._handlers.by_name.get(delivery.message.type)
        policy, expiry = (handler.retry, handler.expiry) if handler else (NEVER, NO_EXPIRY)
        turn = self.rates.of(delivery.message.type, delivery.message.ref.id)
        claim = self._claim(delivery, policy, expiry, turn, shares_process=shares_process)
        while isinstance(claim, StartsAt):
            self._clock.wait_until(claim.at)
            claim = self._claim(delivery, policy, expiry, turn, shares_process=shares_process)
        if isinstance(claim, Deferred):
            return None
        if isinstance(claim, ClaimWon) and turn and turn.failure:
            claim = replace(claim, failure=turn.failure)
        return claim

    def give_up(self, message: DueMessage) -> None:
        """Free the slot that was passed to an action which a pause holds.

        Raises:
            BackendUnavailable: a service did not respond; the message must come again.
        """
        self._one_shots.give_up(message.ref)

    def _claim(
        self,
        delivery: Delivery,
        policy: RetryPolicy,
        expiry: Expiry,
        turn: RateTurn | None,
        *,
        shares_process: bool,
    ) -> ClaimResult | StartRefused:
        message, now = delivery.message, self._clock.now()
        if (epoch := self._region.epoch()) is None:
            return None
        terms = self._terms(delivery, policy, now, epoch, shares_process=shares_process)
        if is_one_shot(message.ref.id):
            return self._one_shots(message, with_fields(terms, expiry=expiry), turn)
        return self._job_runs(message.ref, terms, policy)

    def _terms(
        self, delivery: Delivery, policy: RetryPolicy, now: datetime, epoch: int, *, shares_process: bool
    ) -> ClaimTerms:
        """Return the terms. `now` was read before the epoch: the lease ends in the next one's quiet time."""
        return ClaimTerms(
            now=now,
            lease_until=now + self._settings.lease,
            skew=self._settings.clock_skew,
            nonce=secrets.token_urlsafe(9),
            instance=self._instance,
            queued_at=delivery.queued_at,
            retry=policy.text(),
            epoch=epoch,
            shares_process=shares_process,
        )
