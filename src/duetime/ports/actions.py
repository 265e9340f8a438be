"""The interface to the actions' rows, written as a specification.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from duetime.model.action import Action, ActionRef, SkipReason, Status

if TYPE_CHECKING:
    from duetime.ids import ActionId, JobName, TenantId
    from duetime.model.attempt_traceback import AttemptTraceback
    from duetime.model.batch import ActionBatch, BatchRef, MemberStatus
    from duetime.model.checkpoint import Checkpoint
    from duetime.model.debounce import DebounceHolder
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
    )
    from duetime.model.rate_limit import Pace, RateBucket
    from duetime.model.row_parts import HandOver, Progress
    from duetime.model.slots import KeySlots, SlotMove, TailEntry


@dataclass(frozen=True, slots=True)
class Scanned:
    """The rows that a page of a scan read; their contents were compared one by one."""

    rows: int
    """How many rows this page compared."""
    until: datetime | None
    """The place of the last one in the list's order: when it was created, was due, or failed."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list of actions. `cursor` is the start of the next page, or None on the last page."""

    actions: tuple[Action, ...]
    cursor: str | None
    scanned: Scanned | None = None
    """Of a search by error or payload."""

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True, slots=True)
class DueEntry:
    """One entry of the due index. It may lag behind its row by a moment."""

    ref: ActionRef
    due_at: datetime


@dataclass(frozen=True, slots=True)
class DuePage:
    """Entries of one due shard, soonest first. `cursor` is None on the last page."""

    entries: tuple[DueEntry, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that duetime did not write, or that was damaged: no step can read it.

    Attributes:
        status: as far as it can be read; None otherwise.
        lease_until: the same.
        stored: what a condition compares, in the back end's form.
    """

    ref: ActionRef
    reason: str
    status: Status | None = None
    lease_until: datetime | None = None
    stored: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def may_run(self) -> bool:
        """Whether it may be processing."""
        return self.status in {None, Status.PROCESSING}

    def is_over(self, now: datetime, skew: timedelta) -> bool:
        """Return whether no run of it has a live lease; False while the lease cannot be read."""
        has_ended = self.lease_until is not None and self.lease_until + skew < now
        return has_ended or not self.may_run


Holder: TypeAlias = Action | DamagedRow
"""The row of a run that holds a lock or a slot."""


@dataclass(frozen=True, slots=True)
class DamagedItem:
    """An item that is no action's row, and that no step can read."""

    kind: str
    pk: str
    sk: str
    reason: str


@dataclass(frozen=True, slots=True)
class BatchPage:
    """One page of a list of batches. `cursor` is the start of the next page, or None on the last page."""

    batches: tuple[ActionBatch, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[ActionBatch]:
        return iter(self.batches)


class ActionStore(Protocol):
    """The rows. The table is the source of truth; everything else is a wake-up."""

    @property
    def due_shards(self) -> Sequence[str]:
        """Return all partitions that the due index can have."""

    def put(self, action: Action) -> None:
        """*schedule*: add a pending row if no row has this id.

        An id is random, or names one occurrence of one job. Therefore an existing row is the same action: a
        response was lost, or another planner was faster. This is success. An offloaded payload is written
        first, so that no row is ever without its payload.
        """

    def put_many(self, actions: Sequence[Action]) -> None:
        """*schedule*, in bulk: put each action as `put` does, in no order and not as one transaction.

        After a lost response, no write replaces a row that may have run.

        Raises:
            BackendUnavailable: some rows may be missing. A repeat with the same actions is safe.
        """

    def put_once(self, action: Action, terms: KeyTerms) -> Action:
        """*schedule, under a key*: take the action's idempotency key, and add its row, in one transaction.

        A key is free if no action of the tenant has it. If the key's time has passed by ``terms.now``, and
        its action is final or gone, this action takes the key over. Otherwise, return the current row of the
        action that has the key. A returned action with the id of `action` is this action, also after a lost
        response.

        Raises:
            KeyConflict: the key is not free, and its action has another type or payload. Nothing was
            added.
        """

    def first_of_key(self, action: Action, terms: KeyTerms) -> Action | None:
        """Return the action that `put_once` would return in place of `action`; None if its key is free.

        Another writer may take a free key at once.

        Raises:
            KeyConflict: as for `put_once`.
        """

    def find_debounced(self, tenant_id: TenantId, key: str) -> DebounceHolder | None:
        """Return the latest action of a debounce key, by consistent reads; None if the key is free."""

    def put_debounced(self, action: Action, former: DebounceHolder | None) -> bool:
        """*schedule, debounced*: take the action's debounce key, and add its row, in one transaction.

        Without `former`, the key must be free; with it, the key must be of that action, which a caller has
        read and which no longer awaits its first run. Otherwise change nothing and return False. If the row
        exists, an earlier try of this call has added it: return True.
        """

    def coalesce(self, row: Action, changed: Action, holder: DebounceHolder) -> Applied | Rejected:
        """*coalesce*: pending → pending, with the due time, payload and expiry of `changed`.

        The row must be pending under the `generation` of `row`; `changed` has the next one. `holder` is what
        `find_debounced` returned. A row that has taken the same call, now or before other calls and runs,
        was changed by an earlier try of this call: return `Applied` with the present row.
        """

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        """*schedule*: return the writes of `put` as entries for the caller's own ``TransactWriteItems``.

        With `terms`, the entries also take the action's idempotency key, if no action has it. Here, a key
        whose time has passed counts as taken.

        Raises:
            Unsupported: this back end is not DynamoDB.
        """

    def get(self, ref: ActionRef) -> Action | None:
        """Return the row with its payload, by a consistent read, or None if there is no row."""

    def get_rows(
        self, refs: Sequence[ActionRef], *, damaged: list[DamagedRow] | None = None
    ) -> Sequence[Action]:
        """Return the current rows in no order, without offloaded payloads and without missing rows.

        Unreadable rows are left out, and appended to `damaged`.
        """

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

    def key_slots(self, tenant_id: TenantId, concurrency_key: str) -> KeySlots:
        """Return the holders of a concurrency key's slots and its line, by a consistent read."""

    def take_slot(self, row: Action, slots: KeySlots, at: datetime) -> bool:
        """*take*: make `row` a holder of its key, with its fence.

        Other actions must hold fewer slots than the limit of this action, and none if none did in `slots`;
        none may have joined or left the line since that was read. If the action is a holder in `slots`, it
        must be one still, and gets its fence if that is higher. Otherwise return False and change nothing. If
        the action holds a slot with its fence already, return True.
        """

    def wait_for_slot(self, row: Action, slots: KeySlots) -> bool:
        """*wait*: append `row` to the line of its key, if as many as its limit hold slots, and there is room.

        Otherwise return False and change nothing. `slots` is the key as read. There is no room before a tail.
        """

    def join_tail(self, row: Action, at: datetime) -> None:
        """Put `row` into the tail of its key's line, unless it is there; `mark_tail` lets moves read it."""

    def mark_tail(self, tenant_id: TenantId, concurrency_key: str, at: datetime) -> KeySlots:
        """Write that the line of a key goes on in its tail; return the key as it is then."""

    def tail(self, tenant_id: TenantId, concurrency_key: str, *, limit: int) -> Sequence[TailEntry]:
        """Return the first entries of the tail of a key's line, by a consistent read."""

    def leave_tail(self, tenant_id: TenantId, concurrency_key: str, entries: Sequence[TailEntry]) -> None:
        """Remove entries from the tail of a key's line, unless their actions have joined it again since."""

    def move_slots(self, move: SlotMove) -> bool:
        """*free* or *pass*: remove a holder, and make the next of the line holders.

        The holder that leaves must hold its slot with the fence as read; the entries of the line that go must
        be as read, and all of the line if it gets some of the tail. If others become holders, all holders
        must be as read. If slots stay free, none may have joined the line or begun a tail. A tail that ends
        must be marked. Otherwise change nothing; return whether the slots are as the move leaves them.
        """

    def evict(self, move: SlotMove, row: Holder | None) -> bool:
        """*evict*: move slots as `move_slots` does, if the stored row of the one that leaves is as in `row`.

        `row` is not processing, or is processing under a lease that has ended, or is None if the row is gone.
        In one transaction, the fence of a row that is not final increases by one, and its nonce is removed.
        If its worker wakes, or receives the response of its claim only then, it holds nothing. If the row or
        the slots have changed, return False and change nothing. A damaged row loses its nonce, and its fence
        increases if it is a number.
        """

    def start_within_rate(
        self, bucket: RateBucket, pace: Pace, now: datetime, *, is_reserved: bool
    ) -> datetime | None:
        """Count a start at `now` under a rate limit, if that allows it; return None then.

        Otherwise, return the first instant at which it may allow one, and change nothing. In any window, at
        most its length divided by the interval, plus the burst, are counted at one pace, whatever the order
        of calls. Starts at former paces count by their number. A start without `is_reserved` also waits for
        the instants that others have reserved. After a lost response, a repeat may count the start twice.
        """

    def reserve_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        """Take the next free instant under a rate limit, `now` or later, and return it.

        Each call takes an interval; the burst is taken at `now`. Each pace has a line of its own.
        """

    def next_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        """Return the instant that `reserve_start` would take, and change nothing."""

    def defer(
        self, row: Action, until: datetime, *, held_by: str | None = None, waits_for: str | None = None
    ) -> Applied | Rejected:
        """*defer*: pending → pending, with `until` as due time and as its instant under a rate limit.

        With `waits_for`, `until` is no such instant: the row waits for that run of another job.

        The row must be pending under the `generation` of `row`; it gets the next one. Its first due time
        stays. `held_by` is the pause that held it until now; without one, the former stays.
        """

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        """Write a lease into a damaged row, if its status, fence and lease are as in `row`."""

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        """*heartbeat*: move the lease to `until` if the row is processing under this fence.

        A lease that ends later stays: a renewal may arrive after a later one; so does that of a hand-over.
        Otherwise return None.
        """

    def hand_over(self, claimed: Action, hand_over: HandOver) -> Renewed | None:
        """*hand over*: replace the lease of a row that is processing under this fence by its own.

        From then on, the row is handed over under this fence, once: a late request changes nothing. A row
        that is as this call leaves it was handed over by its first attempt. Otherwise return None.
        """

    def beat(
        self, row: Action, until: datetime, *, now: datetime, progress: Progress | None = None
    ) -> Renewed | None:
        """*heartbeat by token*: move the lease of a hand-over to `until`, and store its progress.

        The row must be handed over under the fence of `row`, with a lease that ends after `now`. A row with a
        later lease stays as it is: a heartbeat may arrive after a later one. Otherwise return None.
        """

    def report(self, claimed: Action, progress: Progress) -> Renewed | None:
        """*report*: store the progress of a row that is processing under this fence.

        Otherwise return None.
        """

    def checkpoint(self, claimed: Action, checkpoint: Checkpoint) -> Renewed | None:
        """*checkpoint*: store the checkpoint of a run if the row is processing under its fence.

        A later checkpoint stays: this request may arrive after it. The claim of a take-over returns the
        checkpoint that is stored then. Return None if the row is no longer processing under this fence; then
        nothing was stored.
        """

    def peek(self, claimed: Action) -> Renewed | None:
        """Return whether a cancel was requested, without a write and by an eventually consistent read.

        Return None if the row is no longer processing under this fence.
        """

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

    def cancel(self, row: Action, *, by: str, at: datetime, kept_until: datetime) -> Applied | Rejected:
        """*cancel*: pending → cancelled, if the row is pending under the `generation` of `row`.

        The row leaves the due index. Here and below, a request that arrives late, after another change of the
        row, is rejected: each change, and each attempt, has its own generation.
        """

    def ask_to_cancel(self, row: Action, *, by: str, at: datetime) -> Applied | Rejected:
        """*ask to cancel*: write a request on a row that is processing under the fence of `row`.

        The first request stays; the fence does not change.
        """

    def reschedule(
        self, row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None = None
    ) -> Applied | Rejected:
        """*reschedule*: pending → pending, with a new due time and expiry, and the next `generation`.

        The row must be pending under the `generation` of `row`.
        """

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, kept_until: datetime
    ) -> Applied | Rejected:
        """*skip*: pending → skipped, if the row is pending under the `generation` of `row`.

        It leaves the due index.
        """

    def record(self, action: Action) -> None:
        """Add a row that is settled already, for a run outside the normal path.

        An existing row stays as it is.
        """

    def redrive(self, row: Action, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        """*redrive*: failed → pending, with the next `generation`, in the due index, without an expiry.

        The row must have failed under the `generation` of `row`. If it was dismissed since it was read,
        the redrive is rejected. A row with an idempotency key takes the key again in the same transaction. If
        another action has the key, return `Rejected` with the id of that action.
        """

    def dismiss(self, row: Action, reason: str, *, by: str, at: datetime) -> Applied | Rejected:
        """*dismiss*: failed → failed, with a reason, and out of the list of `failed`.

        The row must have failed under the `generation` of `row`. A dismissed row is rejected. Its
        `kept_until` stays; a redrive removes the reason.
        """

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        """Return a tenant's actions with this correlation id, oldest first. The list may lag by a moment."""

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        """Return a tenant's one-shots, newest first. `of_job` returns runs of jobs."""

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        """Return failed actions of some tenants, latest failure first, then highest id; runs of jobs too.

        The list may lag by a moment, but contains no action that was redriven or
        dismissed.

        Raises:
            InvalidCursor: the cursor is not from a list of these tenants.
        """

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Return a tenant's one-shots with ``after < due_at <= until``, soonest first, then by id.

        Settled ones are included.

        Callers use it only with the setting ``due_order``. It contains the actions scheduled since the
        setting is on. The list may lag by a moment. An action whose due time moves between two pages may
        occur twice or not at all.

        Raises:
            InvalidCursor: the cursor is not from a list in due order.
        """

    def of_job(
        self,
        tenant_id: TenantId,
        job: JobName,
        *,
        limit: int,
        cursor: str | None,
        has_events: bool = False,
    ) -> Page:
        """Return a tenant's runs of a job, newest first, by version and nominal time.

        This reads one partition.

        Runs that events started are in partitions of their own, which are read only if `has_events`. A
        triggered run has its payload, unless that is offloaded; other runs have none.
        """

    def occurrences(
        self,
        tenant_id: TenantId,
        job: JobName,
        version: int,
        *,
        after: datetime,
        until: datetime,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Return rows of a job's version with a nominal time in (after, until], oldest first.

        Manual runs are included.
        """

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        """Return entries of a due shard with ``after < due_at <= until``, soonest first; unsettled rows only.

        It reads only the entries that it returns, however many are stored.
        """

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        """*open*: add a batch and its completion action, in one transaction, if no batch has its name.

        Otherwise add nothing, and return the present batch. A batch with the `version` of `batch` was added
        by an earlier try of this call.
        """

    def find_batch(self, ref: BatchRef) -> ActionBatch | None:
        """Return a batch, by a consistent read."""

    def change_batch(self, read: ActionBatch, changed: ActionBatch) -> bool:
        """Replace a batch, if its version is that of `read`; else change nothing and return False.

        If its version is that of `changed`, an earlier try of this call has replaced it: return True.
        """

    def batches(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> BatchPage:
        """Return a tenant's batches by name. The list may lag by a moment."""

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        """Return the statuses of a batch's members in one of `SHARDS`, with numbers in [start, stop).

        The reads are consistent. Missing rows are left out.
        """

    def add_follower(self, ref: ActionRef, follower: ActionId) -> bool:
        """*follow*: add an id to the followers of a row of any status; return whether there is a row."""

    def release(self, row: Action, released: Action) -> Applied | Rejected:
        """*release*: pending → pending or skipped: a held row gets its due time, or is skipped.

        The row must be pending under the `generation` of `row`. `released` is what it becomes, with the next
        generation if it stays pending.
        """

    def put_traceback(self, ref: ActionRef, traceback: AttemptTraceback, kept_until: datetime) -> None:
        """Store the traceback of an attempt beside its row, until `kept_until`; a repeat replaces it."""

    def tracebacks(self, ref: ActionRef) -> Sequence[AttemptTraceback]:
        """Return the stored tracebacks of the action's latest `KEPT_ATTEMPTS` failed attempts, in order."""

    def remove_payload(self, ref: ActionRef) -> None:
        """Delete the offloaded payload of a removed row."""

    def remove_key(self, ref: ActionRef, key: str) -> None:
        """Delete the idempotency key of a removed row, unless another action has the key now."""
