"""What the steps need of the actions' rows, written as a specification; the rules are those of `duetime.ports.wakeups`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from duetime.ids import ActionId, JobName, TenantId
from duetime.model.action import Action, ActionRef, SkipReason
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
    """Some actions of a list, and where the next page begins; `cursor` is None on the last one."""

    actions: tuple[Action, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True, slots=True)
class DueEntry:
    """One entry of the due index: it may lag behind its row by a moment."""

    ref: ActionRef
    due_at: datetime


@dataclass(frozen=True, slots=True)
class DuePage:
    """Entries of one due shard, soonest first; `cursor` is None on the last page."""

    entries: tuple[DueEntry, ...]
    cursor: str | None


class ActionStore(Protocol):
    """The rows. The table is the truth; everything else is a wake-up."""

    @property
    def due_shards(self) -> Sequence[str]:
        """Every partition that the due index may have."""
        ...

    def put(self, action: Action) -> None:
        """*schedule*: add a pending row if there is none with this id.

        An id is random, or names one occurrence of one job, so a row that is there already is this one: its answer was
        lost, or another planner came first. That is success.
        A payload set apart is written first, so no row is ever without its payload.
        """
        ...

    def put_many(self, actions: Sequence[Action]) -> None:
        """*schedule*, in bulk: each as `put` does, in no order, not all or nothing.

        After a lost answer nothing is written over a row that may have run.

        Raises:
            BackendUnavailable: some may not have been added; repeating the call with the same actions is safe.
        """
        ...

    def put_once(self, action: Action, terms: KeyTerms) -> Action:
        """*schedule, under a key*: take the action's idempotency key, and add its row, in one transaction.

        A key is free that no action of the tenant has; and one whose time has passed by ``terms.now``, and whose
        action is final, or gone: it is taken over. Otherwise the action that has the key is returned, as it is now;
        a returned action with the id of `action` is this one, also where an answer was lost.

        Raises:
            IdempotencyConflict: the key is not free, and its action has another type or payload; nothing was added.
        """
        ...

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        """*schedule*, inside a caller's own ``TransactWriteItems``: what `put` would write, as entries of its list.

        With `terms` the action's idempotency key is taken as well, if no action has it: one whose time has passed
        counts as taken here.

        Raises:
            Unsupported: this back end is not DynamoDB.
        """
        ...

    def get(self, ref: ActionRef) -> Action | None:
        """The row as of now (a consistent read), its payload included; None if there is none."""
        ...

    def get_rows(self, refs: Sequence[ActionRef]) -> Sequence[Action]:
        """The rows as of now, payloads set apart not included; missing ones are left out, in no order."""
        ...

    def claim(self, ref: ActionRef, terms: ClaimTerms) -> Claimed | LeaseHeld | NeedsSlot | None:
        """*claim*: pending → processing, or processing → processing where the lease has ended.

        Eligible is a row that

        - is pending, and due at or before ``terms.now``; or
        - is processing, and its lease ended more than ``terms.skew`` before ``terms.now`` (a take-over: it counts
          in `recoveries`, not in `attempt`).

        It takes the lease, the nonce and the next fence, starts an attempt, and keeps ``terms.retry`` unless the row
        has a policy. A row that is processing with this very nonce is mine: an answer was lost. `LeaseHeld` for a live
        lease of another; None for everything else. The payload is included.

        A row with a concurrency key, were it eligible but for that, is `NeedsSlot`, and nothing is changed.
        """
        ...

    def holders(self, tenant_id: TenantId, concurrency_key: str) -> frozenset[ActionId]:
        """Which actions hold a slot of a concurrency key, as of now (a consistent read)."""
        ...

    def claim_slot(self, row: Action, claimed: Action) -> bool:
        """*claim under a concurrency key*: in one transaction, `row` becomes `claimed` and holds a slot of its key.

        The row must stand as it was read: status, gen, fence and lease. Others hold fewer than its limit; it may hold
        one already. False, and nothing happens, if not; a row that is processing under the nonce of `claimed`
        was claimed by this call's first try. What else is in the row, such as a request to cancel, is left alone.
        """
        ...

    def evict(self, tenant_id: TenantId, concurrency_key: str, dead: ActionId, row: Action | None) -> bool:
        """Free the slot of an action that cannot free it any more, if its row still stands as it was read.

        That is `row`: not processing, or processing under a lease that has ended; or None where it is gone. The fence of
        a processing one goes on by one, and its nonce goes: should its worker wake, or hear of its claim only then, it
        holds nothing any more. False, and nothing happens, if the row has changed, or the action holds no slot.
        """
        ...

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        """*heartbeat*: move the lease to `until`, if the row is processing under this fence; None if not."""
        ...

    def peek(self, claimed: Action) -> Renewed | None:
        """Look, without writing and without consistency, whether a cancel was asked for.

        None if the row is no longer processing under this fence.
        """
        ...

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        """*settle*: processing → executed, failed, cancelled, or pending again, if the row is under this fence.

        A final row leaves the due index and gets its time of expiry. A pending one gets its new due time and the next
        `generation`, unless a cancel was asked for: that is `CANCEL_REQUESTED`. A run that is no longer under this fence is
        `LEASE_LOST`. Both change nothing. A row that this very fence has settled was settled by this call's first try.
        With it, the slot of its concurrency key is freed, whatever it becomes; where others keep the key busy, the row is
        settled without, and whoever looks next for a slot evicts it.
        """
        ...

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        """*settle by commit*: the settle as executed, and the handler's own entries with it, in one transaction.

        `number` counts the commits that one run asks for: the same arguments again are the same commit, and done once.
        `SETTLED` if this very commit is what has settled the row. A row that is no longer under this fence, or was
        settled in any other way, is `LEASE_LOST`; nothing is written. A request to cancel stops no commit.
        The slot of a concurrency key is freed as a settle frees it.

        Raises:
            CommitRefused: the condition of an entry did not hold, or others were busy with an item; nothing was written.
            Unsupported: this back end cannot write the entries; nothing was written.
            BackendUnavailable: there was no answer, however often it was asked: it may have been written, or be
                written yet. Whoever reads the row, or takes it over, will know.
        """
        ...

    def cancel(self, ref: ActionRef, *, by: str, at: datetime, expires_at: datetime) -> Applied | Rejected:
        """*cancel*: pending → cancelled; the row leaves the due index."""
        ...

    def ask_to_cancel(self, ref: ActionRef, *, by: str, at: datetime) -> Applied | Rejected:
        """*ask to cancel*: leave a request on a processing row, the first one stays; its fence is untouched."""
        ...

    def reschedule(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        """*reschedule*: pending → pending, with a new due time and the next `generation`."""
        ...

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, expires_at: datetime
    ) -> Applied | Rejected:
        """*skip*: pending → skipped, if the row is pending under the `generation` of `row`; it leaves the due index."""
        ...

    def record(self, action: Action) -> None:
        """Add a row that is settled already: what ran outside the road. Nothing happens if there is one."""
        ...

    def redrive(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        """*redrive*: failed → pending, with the next `generation`, in the due index again, and no longer expiring.

        A row with an idempotency key takes it again, in the same transaction; if another action has it meanwhile,
        that is `RequestRejected`, and tells which.
        """
        ...

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        """A tenant's actions with that correlation id, oldest first. May lag behind the rows by a moment."""
        ...

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        """A tenant's one-shots, newest first; runs of jobs are in `of_job`."""
        ...

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        """Failed actions of some tenants, runs of jobs too, the latest failure first, then the highest id.

        It may lag behind the rows by a moment, but shows none that has been redriven.

        Raises:
            InvalidCursor: a list of these tenants did not give out the cursor.
        """
        ...

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """A tenant's one-shots with ``after < due_at <= until``, settled ones too, the soonest first, then by id.

        It is asked only with ``due_order``, and shows what was scheduled since that was chosen. It may lag behind the
        rows by a moment; one whose due time moves while one pages may be shown twice, or not at all.

        Raises:
            InvalidCursor: no list in due order gave out the cursor.
        """
        ...

    def of_job(
        self,
        tenant_id: TenantId,
        job: JobName,
        *,
        limit: int,
        cursor: str | None,
        has_events: bool = False,
    ) -> Page:
        """A tenant's runs of a job, newest first, by version and nominal time; one partition is read.

        Those that events started are in partitions of their own, which are read only if `has_events`.
        """
        ...

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
        """Rows of a job's version with a nominal time in (after, until], oldest first; manual runs, too."""
        ...

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        """Entries of a due shard with ``after < due_at <= until``, soonest first; unsettled rows only.

        Reads what it returns and no more, however much is stored.
        """
        ...

    def remove_payload(self, ref: ActionRef) -> None:
        """Delete a payload set apart, whose row has been removed."""
        ...

    def remove_key(self, ref: ActionRef, key: str) -> None:
        """Delete an idempotency key whose action's row has been removed, unless another action has it by now."""
        ...
