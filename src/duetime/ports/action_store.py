"""The actions' rows, over any back end: each change of a row as it was read is one swap.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from duetime.ids import ActionId, due_shard_of
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason
from duetime.model.checkpoint import Checkpoint
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import (
    Applied,
    Claimed,
    ClaimTerms,
    LeaseHeld,
    Rejected,
    Renewed,
    Settlement,
    SettleResult,
    outlasts,
    renewed_if,
)
from duetime.model.row_parts import HandOver, Progress
from duetime.model.swap import (
    DEAD_LETTER_AS_READ,
    HANDED_OVER,
    MY_RUN,
    NOT_YET_CANCELLED,
    PENDING_AS_READ,
    RENEWABLE,
    WITH_ITS_WORKER,
    Guard,
    applied_if_mine,
    claimable,
    redrivable,
    settleable,
)
from duetime.ports.action_keys import DebounceKeys, IdempotencyKeys
from duetime.ports.actions import DamagedRow
from duetime.ports.at_once import AtOnce, one_by_one
from duetime.ports.batches import Batches
from duetime.ports.delegate import delegate
from duetime.ports.keyed_items import Items
from duetime.ports.rates import Rates
from duetime.ports.row_lists import RowLists
from duetime.ports.row_writes import RowCheckpoint, RowFollowed, RowLease, RowPut, RowSwap, RowWrite
from duetime.ports.run_logs import Tracebacks
from duetime.ports.slots import Slots


class RowChanges:
    """Changes over the `swap` of a back end."""

    due_shards: Sequence[str]

    def swap(self, read: Action, after: Action, guard: Guard) -> Applied | Rejected:
        """Write the fields in which `after` differs from `read`, if the stored row satisfies the guard.

        One write, and no read. A change whose response was lost is recognised as applied.
        """
        raise NotImplementedError

    def retaken(self, row: Action, after: Action, at: datetime) -> Applied | Rejected:
        """Redrive a row that takes its idempotency key again."""
        raise NotImplementedError

    def with_payload(self, row: Action) -> Action:
        """Return a row with its payload, wherever that is."""
        return row

    def claim(self, row: Action, terms: ClaimTerms) -> Claimed | LeaseHeld | None:
        """*claim*: pending → processing, or processing → processing if the lease has ended.

        The terms decide by `row`, as the caller has read it: a run may begin if it

        - is pending, due at or before ``terms.now``, and not expired by then, unless ``terms.expiry`` lets
          expired actions fail; or
        - is processing, and its lease ended more than ``terms.skew`` before ``terms.now`` (a take-over: it
          increases `recoveries`, not `attempt`).

        The stored row must be as read: `duetime.model.swap.claimable`. Otherwise, change nothing.
        The claim sets the lease, the nonce and the next fence, and starts an attempt. It stores
        ``terms.retry`` unless the row has a policy. A row that is processing with this nonce is claimed by
        this call: its response was lost. The progress of a former run is removed.
        With ``terms.epoch``, the next fence is at least the first one of that epoch, and no run of a row with
        a fence of a later epoch may begin. The slot of a concurrency key was taken before, with the fence of
        `row`.

        Returns:
            `Claimed` with the payload; `LeaseHeld` if another run has a live lease; None in all other cases.
        """
        current: Action | None = row
        if terms.may_begin(row):
            current = self.swap(row, transition.started(row, terms), claimable(row)).action
        if current is None or current.lease_until is None or terms.is_fenced_off(current):
            return None
        if current.nonce == terms.nonce:
            return Claimed(self.with_payload(current))
        return LeaseHeld(current.lease_until)

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        """*heartbeat*: move the lease to `until` if the row is processing under this fence.

        A lease that ends later stays: a renewal may arrive after a later one; so does that of a hand-over.
        Otherwise return None.
        """
        outcome = self.swap(claimed, transition.beaten(claimed, until, None), RENEWABLE)
        return renewed_if(outcome, claimed, lambda _row: True)

    def hand_over(self, claimed: Action, hand_over: HandOver) -> Renewed | None:
        """*hand over*: replace the lease of a row that is processing under this fence by its own.

        From then on, the row is handed over under this fence, once: a late request changes nothing. A row
        that is as this call leaves it was handed over by its first attempt. Otherwise return None.
        """
        after = transition.handed_over(claimed, hand_over)
        return renewed_if(self.swap(claimed, after, WITH_ITS_WORKER), claimed)

    def beat(
        self, row: Action, until: datetime, *, now: datetime, progress: Progress | None = None
    ) -> Renewed | None:
        """*heartbeat by token*: move the lease of a hand-over to `until`, and store its progress.

        The row must be handed over under the fence of `row`, with a lease that ends after `now`. A row with a
        later lease stays as it is: a heartbeat may arrive after a later one. Otherwise return None.
        """
        lasting = replace(HANDED_OVER, at_most=("lease_until",), above={"lease_until": now})
        outcome = self.swap(row, transition.beaten(row, until, progress), lasting)
        return renewed_if(outcome, row, lambda current: outlasts(current, until, now))

    def report(self, claimed: Action, progress: Progress) -> Renewed | None:
        """*report*: store the progress of a row that is processing under this fence.

        Otherwise return None.
        """
        return renewed_if(self.swap(claimed, transition.reported(claimed, progress), MY_RUN), claimed)

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        """*settle*: processing → executed, failed, cancelled or pending, if the row is under this fence.

        A final row leaves the due index and gets its time of expiry. A pending row gets its new due time and
        the next
        `generation`. If a cancel was requested, the result is `CANCEL_REQUESTED` instead. If the row is no
        longer under
        this fence, the result is `LEASE_LOST`. Both change nothing.
        A row that this fence has settled was settled by the first attempt of this call.
        With ``settlement.completion``, the row must also be handed over under this fence, with a lease that
        ends after ``finished_at``; otherwise the result is `LEASE_LOST`. Then only a row with this completion
        was settled by this call.
        The slot of a concurrency key stays: the caller frees it with `move_slots`.
        """
        outcome = self.swap(claimed, transition.settled(claimed, settlement), settleable(settlement))
        return settlement.result_in(claimed, outcome.action)

    def ask_to_cancel(self, row: Action, *, by: str, at: datetime) -> Applied | Rejected:
        """*ask to cancel*: write a request on a row that is processing under the fence of `row`.

        The first request stays; the fence does not change.
        """
        outcome = self.swap(row, transition.asked_to_cancel(row, by=by, at=at), NOT_YET_CANCELLED)
        run = outcome.action
        is_asked = renewed_if(outcome, row, lambda current: current.cancel_request is not None)
        return Applied(run) if run is not None and is_asked else outcome

    def cancel(self, row: Action, *, by: str, at: datetime, kept_until: datetime) -> Applied | Rejected:
        """*cancel*: pending → cancelled, if the row is pending under the `generation` of `row`.

        The row leaves the due index. Here and below, a request that arrives late, after another change of the
        row, is rejected: each change, and each attempt, has its own generation.
        """
        return self.end_pending(row, transition.cancelled(row, by=by, at=at, kept_until=kept_until))

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, kept_until: datetime
    ) -> Applied | Rejected:
        """*skip*: pending → skipped, if the row is pending under the `generation` of `row`.

        It leaves the due index.
        """
        ended = transition.skipped(row, reason, note=note, by=by, at=at, kept_until=kept_until)
        return self.end_pending(row, ended)

    def end_pending(self, row: Action, ended: Action) -> Applied | Rejected:
        """Replace a row that is pending as read by `ended`, which a transition made of it."""
        return self.swap(row, ended, PENDING_AS_READ)

    def reschedule(
        self, row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None = None
    ) -> Applied | Rejected:
        """*reschedule*: pending → pending, with a new due time and expiry, and the next `generation`.

        The row must be pending under the `generation` of `row`.
        """
        after = transition.rescheduled(row, due_at, by=by, at=at, expires_at=expires_at)
        return self.swap(row, after, PENDING_AS_READ)

    def defer(
        self, row: Action, until: datetime, *, held_by: str | None = None, waits_for: str | None = None
    ) -> Applied | Rejected:
        """*defer*: pending → pending, with `until` as due time and as its instant under a rate limit.

        With `waits_for`, `until` is no such instant: the row waits for that run of another job.

        The row must be pending under the `generation` of `row`; it gets the next one. Its first due time
        stays. `held_by` is the pause that held it until now; without one, the former stays.
        """
        after = transition.deferred(row, until=until, held_by=held_by, waits_for=waits_for)
        return self.swap(row, after, PENDING_AS_READ)

    release = end_pending

    def redrive(self, row: Action, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        """*redrive*: failed → pending, with the next `generation`, in the due index, without an expiry.

        The row must have failed under the `generation` of `row`. If it was dismissed since it was read,
        the redrive is rejected. A row with an idempotency key takes the key again in the same transaction. If
        another action has the key, return `Rejected` with the id of that action.
        """
        shard = due_shard_of(row.id, len(self.due_shards))
        after = transition.redriven(row, due_at, shard, by=by, at=at)
        if row.idempotency_key is None:
            return self.swap(row, after, redrivable(row))
        return self.retaken(row, after, at)

    def dismiss(self, row: Action, reason: str, *, by: str, at: datetime) -> Applied | Rejected:
        """*dismiss*: failed → failed, with a reason, and out of the list of `failed`.

        The row must have failed under the `generation` of `row`. A dismissed row is rejected. Its
        `kept_until` stays; a redrive removes the reason.
        """
        return self.swap(row, transition.dismissed(row, reason, by=by, at=at), DEAD_LETTER_AS_READ)


class ActionStore(RowChanges, RowLists):
    """The rows. The table is the source of truth; everything else is a wake-up.

    Args:
        items: the keyed items beside the rows.
        batches: the batches of the table.
        at_once: makes calls that are independent of each other.
    """

    def __init__(
        self, items: Items, batches: Batches, *, due_shards: int, at_once: AtOnce = one_by_one
    ) -> None:
        self.items, self._batches, self._at_once = items, batches, at_once
        self.due_shards = tuple(map(str, range(due_shards)))
        self.keys, self.debounce = IdempotencyKeys(items, self.get), DebounceKeys(items, self.get)
        self.slots, self.rates, self._tracebacks = Slots(items, at_once), Rates(items), Tracebacks(items)

    def get(self, ref: ActionRef) -> Action | None:
        """Return the row with its payload, by a consistent read, or None if there is no row."""
        row = self.items.row(ref)
        return row and self.with_payload(row)

    def put(self, action: Action) -> None:
        """*schedule*: add a pending row if no row has this id.

        An id is random, or names one occurrence of one job. Therefore an existing row is the same action: a
        response was lost, or another planner was faster. This is success. An offloaded payload is written
        first, so that no row is ever without its payload.
        """
        self.items.write(RowPut(action))

    record = put

    def put_many(self, actions: Sequence[Action]) -> None:
        """*schedule*, in bulk: put each action as `put` does, in no order and not as one transaction.

        After a lost response, no write replaces a row that may have run.

        Raises:
            BackendUnavailable: some rows may be missing. A repeat with the same actions is safe.
        """
        rows = {action.ref: action for action in actions}.values()
        (one_by_one if len(rows) == 1 else self._at_once)(self.put, rows)

    def swap(self, read: Action, after: Action, guard: Guard) -> Applied | Rejected:  # noqa: D102
        if read.status is not guard.status:
            return Rejected(self.get(read.ref))
        return applied_if_mine(self._outcome(RowSwap(read, after, guard)), read, after, guard)

    def checkpoint(self, claimed: Action, checkpoint: Checkpoint) -> Renewed | None:
        """*checkpoint*: store the checkpoint of a run if the row is processing under its fence.

        A later checkpoint stays: this request may arrive after it. The claim of a take-over returns the
        checkpoint that is stored then. Return None if the row is no longer processing under this fence; then
        nothing was stored.
        """
        outcome = self._outcome(RowCheckpoint(claimed, checkpoint))
        return renewed_if(outcome, claimed, lambda row: not checkpoint.replaces(row.checkpoint))

    def peek(self, claimed: Action) -> Renewed | None:
        """Return whether a cancel was requested, without a write and by an eventually consistent read.

        Return None if the row is no longer processing under this fence.
        """
        row = self.items.row(claimed.ref, may_lag=True)
        return None if row is None else renewed_if(Applied(row), claimed)

    def add_follower(self, ref: ActionRef, follower: ActionId) -> bool:
        """*follow*: add an id to the followers of a row of any status; return whether there is a row."""
        return self.items.write(RowFollowed(ref, follower)).is_written

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        """Write a lease into a damaged row, if its status, fence and lease are as in `row`."""
        self.items.write(RowLease(row, until))

    def _outcome(self, write: RowWrite) -> Applied | Rejected:
        outcome = self.items.write(write)
        row = outcome.row()
        return Applied(row) if outcome.is_written and row is not None else Rejected(row)

    @abstractmethod
    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        """*schedule*: return the writes of `put` as entries for the caller's own ``TransactWriteItems``.

        With `terms`, the entries also take the action's idempotency key, if no action has it. Here, a key
        whose time has passed counts as taken.

        Raises:
            Unsupported: this back end is not DynamoDB.
        """

    @abstractmethod
    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        """*settle by commit*: settle the row as executed and write the handler's entries, in one transaction.

        `number` counts the commits of one run. A repeat with the same arguments is the same commit, and is
        made once.
        The slot of a concurrency key stays. A request to cancel stops no commit.

        Returns:
            `SETTLED` if this commit has settled the row. `LEASE_LOST`, with nothing written, if the row is no
            longer under
            this fence or was settled in another way.

        Raises:
            CommitRejected: the condition of an entry failed, or another transaction was writing an item.
            Nothing was
                written.
            Unsupported: this back end cannot write the entries. Nothing was written.
            BackendUnavailable: no attempt had a response. The commit may be written, now or later. A read of
            the row, or a
                take-over, shows the result.
        """

    @abstractmethod
    def remove_payload(self, ref: ActionRef) -> None:
        """Delete the offloaded payload of a removed row."""

    def retaken(self, row: Action, after: Action, at: datetime) -> Applied | Rejected:  # noqa: D102
        return self.keys.redrive(row, after, at)

    put_once = delegate("keys", IdempotencyKeys.put_once)
    first_of_key = delegate("keys", IdempotencyKeys.first_of_key)
    remove_key = delegate("keys", IdempotencyKeys.remove_key)

    find_debounced = delegate("debounce", DebounceKeys.find_debounced)
    put_debounced = delegate("debounce", DebounceKeys.put_debounced)
    coalesce = delegate("debounce", DebounceKeys.coalesce)

    key_slots = delegate("slots", Slots.key_slots)
    take_slot = delegate("slots", Slots.take_slot)
    wait_for_slot = delegate("slots", Slots.wait_for_slot)
    join_tail = delegate("slots", Slots.join_tail)
    mark_tail = delegate("slots", Slots.mark_tail)
    tail = delegate("slots", Slots.tail)
    leave_tail = delegate("slots", Slots.leave_tail)
    move_slots = delegate("slots", Slots.move_slots)
    evict = delegate("slots", Slots.evict)

    start_within_rate = delegate("rates", Rates.start_within_rate)
    reserve_start = delegate("rates", Rates.reserve_start)
    next_start = delegate("rates", Rates.next_start)

    put_traceback = delegate("_tracebacks", Tracebacks.put_traceback)
    tracebacks = delegate("_tracebacks", Tracebacks.tracebacks)

    open_batch = delegate("_batches", Batches.open_batch)
    find_batch = delegate("_batches", Batches.find_batch)
    change_batch = delegate("_batches", Batches.change_batch)
    batches = delegate("_batches", Batches.batches)
    member_statuses = delegate("_batches", Batches.member_statuses)
