"""Rows, claims, settlements and times for the tests of the contract.

Every instant is far ahead, so that no back end removes a row as expired while it is looked at.
"""
# ruff: noqa: S101 - what is not as it should be fails the test that asked

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Protocol, TypeVar

from duetime.ids import TenantId, due_shard_of, new_action_id
from duetime.model.action import Action, ActionRef, Ending, Status
from duetime.model.lease import Applied, Claimed, ClaimTerms, Rejected, Settlement
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import DueEntry

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
"""The due time of the rows."""

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
TICK = timedelta(microseconds=1)
LEASE = 5 * MINUTE
SKEW = 5 * SECOND
LEASE_END = NOON + LEASE
"""When the lease of a claim made at noon ends."""

ORPHANED_AT = LEASE_END + SKEW + TICK
"""The first instant at which that lease may be taken over."""

EXPIRY = NOON + timedelta(days=30)
POLICY = "[3,[60],0.1,null]"
"""A retry policy's text form."""

ACME, GLOBEX = TenantId("acme"), TenantId("globex")
CALLER = "billing-service"

MOST_PAGES = 200
"""More than any test fills: a list that goes on after so many does not move its cursor."""

_ENDINGS = {
    Status.EXECUTED: Ending.EXECUTED,
    Status.FAILED: Ending.FAILED,
    Status.CANCELLED: Ending.CANCELLED,
    Status.PENDING: Ending.RETRY,
}
_numbers = count(1)


def fresh(
    store: ActionStore,
    *,
    tenant_id: TenantId = ACME,
    due_at: datetime = NOON,
    created_at: datetime = NOON - HOUR,
    payload: str = '{"subscription_id":42}',
    payload_offloaded: bool = False,
    correlation_id: str | None = None,
) -> Action:
    """Return an unwritten action."""
    action_id = new_action_id(created_at)
    return Action(
        tenant_id=tenant_id,
        id=action_id,
        type="apply-plan-change",
        due_at=due_at,
        due_shard=due_shard_of(action_id, len(store.due_shards)),
        created_by=CALLER,
        payload=payload,
        payload_size=len(payload.encode()) if payload_offloaded else 0,
        correlation_id=correlation_id,
    )


def put(store: ActionStore, action: Action) -> Action:
    """Put a row and return it."""
    store.put(action)
    return action


def scheduled(
    store: ActionStore,
    *,
    due_at: datetime = NOON,
    tenant_id: TenantId = ACME,
    correlation_id: str | None = None,
) -> Action:
    """Return a pending row."""
    return put(store, fresh(store, due_at=due_at, tenant_id=tenant_id, correlation_id=correlation_id))


def terms(at: datetime = NOON, *, nonce: str | None = None, retry: str = POLICY) -> ClaimTerms:
    """Return the terms of a claim at a time, with a new nonce unless one is given."""
    return ClaimTerms(
        now=at,
        lease_until=at + LEASE,
        skew=SKEW,
        nonce=nonce or f"nonce-{next(_numbers)}",
        instance="worker-1",
        queued_at=at - SECOND,
        retry=retry,
    )


def claim(store: ActionStore, row: ActionRef | Action, at: datetime = NOON) -> Action:
    """Claim what must be there to be claimed, by a row or as it is stored; the row as its run holds it."""
    claimed = store.claim(row if isinstance(row, Action) else stored_row(store, row), terms(at))
    assert isinstance(claimed, Claimed), claimed
    return claimed.action


def running(store: ActionStore) -> Action:
    """Return a row claimed at noon."""
    return claim(store, scheduled(store).ref)


def end(status: Status, at: datetime = NOON + SECOND, message: str | None = None) -> Settlement:
    """A run's end: `status` is final, or pending for another attempt an hour later."""
    retried = status is Status.PENDING
    return Settlement(
        status=status,
        ending=_ENDINGS[status],
        finished_at=at,
        message=message,
        due_at=at + HOUR if retried else None,
        kept_until=None if retried else EXPIRY,
    )


def stored_row(store: ActionStore, ref: ActionRef) -> Action:
    """Return the stored row, which must exist."""
    row = store.get(ref)
    assert row is not None, f"there is no row for {ref}"
    return row


def applied(store: ActionStore, ref: ActionRef, outcome: Applied | Rejected) -> Action:
    """Return the stored row; the outcome of its change must have it."""
    row = stored_row(store, ref)
    assert outcome == Applied(row)
    return row


class _Page(Protocol[T_co]):
    @property
    def cursor(self) -> str | None: ...

    def __iter__(self) -> Iterator[T_co]: ...

    def __len__(self) -> int: ...


def pages(page_after: Callable[[str | None], _Page[T]], limit: int) -> list[T]:
    """Return all items of a list, page by page."""

    def read(cursor: str | None) -> tuple[Sequence[T], str | None]:
        page = page_after(cursor)
        assert len(page) <= limit
        return [*page], page.cursor

    return read_all(read)


def read_all(read: Callable[[str | None], tuple[Sequence[T], str | None]]) -> list[T]:
    """Return all items of a list; `read` returns those after a cursor, and the next cursor."""
    items: list[T] = []
    cursor = None
    for _ in range(MOST_PAGES):
        page, cursor = read(cursor)
        items += page
        if cursor is None:
            return items
    raise AssertionError("the list's pages never end")


@contextmanager
def unchanged(read: Callable[..., object], *key: object) -> Iterator[None]:
    """Assert that what `read` returns for a key is the same before and after."""
    before = read(*key)
    yield
    assert read(*key) == before


def due_entries(
    store: ActionStore, shard: str, *, until: datetime = EXPIRY, limit: int = 100
) -> list[DueEntry]:
    """Return all entries of a due shard, page by page."""

    def read(cursor: str | None) -> tuple[Sequence[DueEntry], str | None]:
        page = store.due(shard, after=None, until=until, limit=limit, cursor=cursor)
        return page.entries, page.cursor

    return read_all(read)


def due_time_in_index(store: ActionStore, action: Action) -> datetime | None:
    """Where the due index has the row; None if it has not."""
    found = [
        due_entry.due_at for due_entry in due_entries(store, action.due_shard) if due_entry.ref == action.ref
    ]
    assert len(found) <= 1, found
    return found[0] if found else None
