"""The interface to the actions' rows, written as a specification.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeAlias

from duetime.ids import ActionId, JobName, TenantId
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import (
    Applied,
    Claimed,
    ClaimTerms,
    LeaseHeld,
    NeedsSlot,
    Rejected,
    Renewed,
    Settlement,
    SettleResult,
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list of actions. `cursor` is the start of the next page, or None on the last page."""

    actions: tuple[Action, ...]
    cursor: str | None

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
            IdempotencyConflict: the key is not free, and its action has another type or payload. Nothing was
            added.
        """

    def first_of_key(self, action: Action, terms: KeyTerms) -> Action | None:
        """Return the action that `put_once` would return in place of `action`; None if its key is free.

        Another writer may take a free key at once.

        Raises:
            IdempotencyConflict: as for `put_once`.
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

    def claim(self, ref: ActionRef, terms: ClaimTerms) -> Claimed | LeaseHeld | NeedsSlot | None:
        """*claim*: pending → processing, or processing → processing if the lease has ended.

        A row is eligible if it

        - is pending, and due at or before ``terms.now``; or
        - is processing, and its lease ended more than ``terms.skew`` before ``terms.now`` (a take-over: it
          increases
          `recoveries`, not `attempt`).

        The claim sets the lease, the nonce and the next fence, and starts an attempt. It stores
        ``terms.retry`` unless the
        row has a policy. A row that is processing with this nonce is claimed by this call: its response was
        lost.
        With ``terms.epoch``, the next fence is at least the first one of that epoch, and a row with a fence
        of a later epoch is not eligible. ``terms.fence`` is the fence as read; an outdated one costs a write.

        Returns:
            `Claimed` with the payload; `LeaseHeld` if another run has a live lease; `NeedsSlot` if an
            eligible row has a
            concurrency key (nothing is changed); None in all other cases.
        """

    def holders(self, tenant_id: TenantId, concurrency_key: str) -> frozenset[ActionId]:
        """Return the actions that hold a slot of a concurrency key, by a consistent read."""

    def claim_slot(self, row: Action, claimed: Action) -> bool:
        """*claim under a concurrency key*: replace `row` by `claimed` and take a slot, in one transaction.

        Status, generation, fence and lease of the stored row must be as in `row`. Other actions must hold
        fewer slots than the limit of this action, which may hold a slot already. Otherwise, return False and
        change nothing. A row that is processing with the nonce of `claimed` was claimed by the first attempt
        of this call: return True. Other attributes of the row, such as a request to cancel, stay as they are.
        """

    def evict(self, tenant_id: TenantId, concurrency_key: str, dead: ActionId, row: Holder | None) -> bool:
        """Free the slot of an action that cannot free it any more, if its stored row is as in `row`.

        `row` is not processing, or is processing under a lease that has ended, or is None if the row is gone.
        The fence of
        a processing row increases by one, and its nonce is removed. If its worker wakes, or receives the
        response of its
        claim only then, it holds nothing. If the row has changed, or holds no slot, return False and change
        nothing. A damaged row loses its nonce, and its fence increases if it is a number.
        """

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        """Write a lease into a damaged row, if its status, fence and lease are as in `row`."""

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        """*heartbeat*: move the lease to `until` if the row is processing under this fence.

        A lease that ends later stays: a renewal may arrive after a later one. Otherwise return None.
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
        The settle also frees the slot of the row's concurrency key, whatever the new status. If other
        transactions block
        the key, the row is settled alone, and the next run that looks for a slot evicts it.
        """

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        """*settle by commit*: settle the row as executed and write the handler's entries, in one transaction.

        `number` counts the commits of one run. A repeat with the same arguments is the same commit, and is
        made once.
        The slot of a concurrency key is freed as by `settle`. A request to cancel stops no commit.

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

    def cancel(self, row: Action, *, by: str, at: datetime, expires_at: datetime) -> Applied | Rejected:
        """*cancel*: pending → cancelled, if the row is pending under the `generation` of `row`.

        The row leaves the due index. Here and below, a request that arrives late, after another change of the
        row, is rejected: each change, and each attempt, has its own generation.
        """

    def ask_to_cancel(self, row: Action, *, by: str, at: datetime) -> Applied | Rejected:
        """*ask to cancel*: write a request on a row that is processing under the fence of `row`.

        The first request stays; the fence does not change.
        """

    def reschedule(self, row: Action, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        """*reschedule*: pending → pending, with a new due time and the next `generation`.

        The row must be pending under the `generation` of `row`.
        """

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, expires_at: datetime
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

        The row must have failed under the `generation` of `row`. A dismissed row is rejected. Its expiry
        stays; a redrive removes the reason.
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

        Runs that events started are in partitions of their own, which are read only if `has_events`.
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

    def remove_payload(self, ref: ActionRef) -> None:
        """Delete the offloaded payload of a removed row."""

    def remove_key(self, ref: ActionRef, key: str) -> None:
        """Delete the idempotency key of a removed row, unless another action has the key now."""
