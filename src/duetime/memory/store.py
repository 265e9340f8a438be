"""Rows in memory: each method under one lock, so its condition and its write are one step, as in DynamoDB."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from duetime.action import KEPT_ATTEMPTS, Action, ActionRef, Attempt, Status
from duetime.change import Change
from duetime.errors import InvalidCursor, Unsupported
from duetime.ids import TenantId
from duetime.lease import Claimed, ClaimTerms, Held, Moved, Refused, Renewed, Settlement, SettleResult
from duetime.ports import DueEntry, DuePage, Page
from duetime.settings import DUE_SHARDS

_Due = tuple[datetime, str, str]


class MemoryStore:
    """The rows, in a dictionary. `on_change` is called with each change, in order: it is the table's stream."""

    def __init__(
        self, *, due_shards: int = DUE_SHARDS, on_change: Callable[[Change], None] = lambda _change: None
    ) -> None:
        self.due_shards: Sequence[str] = tuple(map(str, range(due_shards)))
        self._on_change = on_change
        self._rows: dict[ActionRef, Action] = {}
        self._due: dict[str, list[_Due]] = {shard: [] for shard in self.due_shards}
        self._lock = threading.RLock()

    def put(self, action: Action) -> None:
        """See `duetime.ports.ActionStore`, here and below."""
        with self._lock:
            if action.ref not in self._rows:
                self._write(None, action)

    def put_many(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self.put(action)

    def entries(self, action: Action) -> Sequence[Mapping[str, Any]]:
        del action
        raise Unsupported("a transaction of your own needs DynamoDB; the memory back end has none")

    def get(self, ref: ActionRef) -> Action | None:
        return self._rows.get(ref)

    def get_rows(self, refs: Sequence[ActionRef]) -> Sequence[Action]:
        with self._lock:
            return [_small(self._rows[ref]) for ref in dict.fromkeys(refs) if ref in self._rows]

    def claim(self, ref: ActionRef, terms: ClaimTerms) -> Claimed | Held | None:
        with self._lock:
            row = self._rows.get(ref)
            if row is None:
                return None
            if row.status is Status.PENDING and row.due_at <= terms.now:
                return Claimed(self._write(row, _started(row, terms, is_take_over=False)))
            if row.status is not Status.PROCESSING or row.lease_until is None:
                return None
            if row.claim_nonce == terms.nonce:
                return Claimed(row)
            if row.lease_until + terms.skew < terms.now:
                return Claimed(self._write(row, _started(row, terms, is_take_over=True)))
            return Held(row.lease_until)

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        with self._lock:
            row = self._held(claimed)
            if row is None:
                return None
            self._write(row, replace(row, lease_until=until))
            return Renewed(cancel_requested=row.cancel_requested_at is not None)

    def peek(self, claimed: Action) -> Renewed | None:
        row = self._held(claimed)
        return None if row is None else Renewed(cancel_requested=row.cancel_requested_at is not None)

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        with self._lock:
            row = self._held(claimed)
            if row is None:
                return _settled_before(self._rows.get(claimed.ref), claimed)
            if settlement.status is Status.PENDING and row.cancel_requested_at:
                return SettleResult.CANCEL_REQUESTED
            self._write(row, _settled(row, settlement))
            return SettleResult.SETTLED

    def cancel(self, ref: ActionRef, *, by: str, at: datetime, expires_at: datetime) -> Moved | Refused:
        outcome = self._move(
            ref,
            Status.PENDING,
            lambda row: replace(
                row, status=Status.CANCELLED, changed_by=by, changed_at=at, expires_at=expires_at
            ),
        )
        return _unless_mine(outcome, Status.CANCELLED, by=by, at=at)

    def ask_to_cancel(self, ref: ActionRef, *, by: str, at: datetime) -> Moved | Refused:
        return self._move(
            ref,
            Status.PROCESSING,
            lambda row: replace(
                row,
                cancel_requested_at=row.cancel_requested_at or at,
                cancel_requested_by=row.cancel_requested_by or by,
            ),
        )

    def reschedule(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Moved | Refused:
        return self._move(
            ref,
            Status.PENDING,
            lambda row: replace(
                row, due_at=due_at, first_due_at=None, gen=row.gen + 1, changed_by=by, changed_at=at
            ),
        )

    def redrive(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Moved | Refused:
        outcome = self._move(
            ref,
            Status.FAILED,
            lambda row: replace(
                row,
                status=Status.PENDING,
                due_at=due_at,
                first_due_at=row.nominal_at,
                gen=row.gen + 1,
                redriven_after=row.attempt,
                recoveries=0,
                cancel_requested_at=None,
                cancel_requested_by=None,
                changed_by=by,
                changed_at=at,
                expires_at=None,
            ),
        )
        return _unless_mine(outcome, Status.PENDING, by=by, at=at)

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        with self._lock:
            found = (
                row
                for row in self._of(tenant_id)
                if row.correlation_id == correlation_id and (cursor is None or row.id > cursor)
            )
            return _page(sorted(found, key=lambda row: row.id), limit)

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = (row for row in self._of(tenant_id) if cursor is None or row.id < cursor)
            return _page(sorted(found, key=lambda row: row.id, reverse=True), limit)

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        with self._lock:
            entries = self._due[shard]
            first = 0 if after is None else bisect_right(entries, (after, "\uffff", ""))
            if cursor is not None:
                first = max(first, bisect_right(entries, _from_cursor(cursor)))
            last = bisect_left(entries, (until, "\uffff", ""))
            found = entries[first : min(last, first + limit)]
        more = first + limit < last
        return DuePage(
            tuple(DueEntry(ActionRef(TenantId(tenant), row_id), due_at) for due_at, tenant, row_id in found),  # type: ignore[arg-type]
            _to_cursor(found[-1]) if more else None,
        )

    def remove_payload(self, ref: ActionRef) -> None:
        """A payload in memory goes with its row."""

    def remove_expired(self, now: datetime) -> None:
        """Play DynamoDB's time to live: drop the rows that have expired."""
        with self._lock:
            for row in [each for each in self._rows.values() if each.expires_at and each.expires_at <= now]:
                del self._rows[row.ref]
                self._on_change(Change(row, None))

    def earliest_due(self) -> datetime | None:
        """The due time of the unsettled row that is due first."""
        with self._lock:
            return min((entries[0][0] for entries in self._due.values() if entries), default=None)

    def rows(self) -> tuple[Action, ...]:
        """All rows, oldest first: for tests and simulations, which may look at everything."""
        with self._lock:
            return tuple(sorted(self._rows.values(), key=lambda row: row.id))

    def _of(self, tenant_id: TenantId) -> Iterable[Action]:
        return (row for row in self._rows.values() if row.tenant_id == tenant_id)

    def _held(self, claimed: Action) -> Action | None:
        row = self._rows.get(claimed.ref)
        is_mine = row is not None and row.status is Status.PROCESSING and row.fence == claimed.fence
        return row if is_mine else None

    def _move(self, ref: ActionRef, needed: Status, change: Callable[[Action], Action]) -> Moved | Refused:
        with self._lock:
            row = self._rows.get(ref)
            if row is None or row.status is not needed:
                return Refused(row)
            return Moved(self._write(row, change(row)))

    def _write(self, old: Action | None, new: Action) -> Action:
        if old is not None and not old.status.is_final:
            entries = self._due[old.due_shard]
            del entries[bisect_left(entries, _due_key(old))]
        if not new.status.is_final:
            insort(self._due[new.due_shard], _due_key(new))
        self._rows[new.ref] = new
        self._on_change(Change(old, new))
        return new


def _started(row: Action, terms: ClaimTerms, *, is_take_over: bool) -> Action:
    attempt = Attempt(queued_at=terms.queued_at, started_at=terms.now, instance=terms.instance)
    return replace(
        row,
        status=Status.PROCESSING,
        fence=row.fence + 1,
        attempt=row.attempt + (not is_take_over),
        recoveries=row.recoveries + is_take_over,
        attempts=(*row.attempts, attempt),
        lease_until=terms.lease_until,
        claim_nonce=terms.nonce,
        retry=row.retry or terms.retry,
    )


def _settled(row: Action, settlement: Settlement) -> Action:
    ended = replace(
        row.attempts[-1],
        finished_at=settlement.finished_at,
        ending=settlement.ending,
        message=settlement.message,
    )
    settled = replace(
        row,
        status=settlement.status,
        attempts=(*row.attempts[:-1], ended)[-KEPT_ATTEMPTS:],
        lease_until=None,
        claim_nonce=None,
        expires_at=settlement.expires_at,
    )
    if settlement.due_at is None:
        return settled
    return replace(settled, due_at=settlement.due_at, first_due_at=row.nominal_at, gen=row.gen + 1)


def _settled_before(standing: Action | None, claimed: Action) -> SettleResult:
    was_this_run = standing is not None and standing.fence == claimed.fence
    return SettleResult.SETTLED if was_this_run else SettleResult.LEASE_LOST


def _unless_mine(outcome: Moved | Refused, status: Status, *, by: str, at: datetime) -> Moved | Refused:
    """A row that stands as this very call would have left it was changed by its first try."""
    row = outcome.action
    is_mine = row is not None and (row.status, row.changed_by, row.changed_at) == (status, by, at)
    return Moved(row) if row is not None and is_mine else outcome


def _small(row: Action) -> Action:
    return row.without_payload() if row.payload_apart else row


def _due_key(row: Action) -> _Due:
    return (row.due_at, row.tenant_id, row.id)


def _page(rows: Sequence[Action], limit: int) -> Page:
    shown = tuple(row.without_payload() for row in islice(rows, limit))
    return Page(shown, shown[-1].id if len(rows) > limit else None)


def _to_cursor(entry: _Due) -> str:
    return " ".join((entry[0].isoformat(), *entry[1:]))


def _from_cursor(cursor: str) -> _Due:
    try:
        due_at, tenant, row_id = cursor.split(" ")
        return (datetime.fromisoformat(due_at), tenant, row_id)
    except ValueError:
        raise InvalidCursor from None
