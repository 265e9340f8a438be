"""The engine's rows: each transition once, each clause of its guard once, and transactions with items."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from duetime.ids import ActionId, new_action_id
from duetime.memory.store import MemoryStore
from duetime.model import transition
from duetime.model.action import Action, SkipReason, Status
from duetime.model.checkpoint import Checkpoint
from duetime.model.debounce import coalesced
from duetime.model.lease import Applied, Rejected
from duetime.model.row_parts import Act, Debounced, HandOver, Progress
from duetime.model.swap import PENDING_AS_READ, Guard
from duetime.ports.action_store import ActionStore, RowChanges
from duetime.ports.row_writes import (
    RowCheckpoint,
    RowFollowed,
    RowIsOver,
    RowPut,
    RowStillDead,
    RowWrite,
)
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    LEASE_END,
    MINUTE,
    NOON,
    ORPHANED_AT,
    SECOND,
    TICK,
    end,
    fresh,
    stored_row,
    terms,
)
from duetime_contract.subject import StoreContract


class Change(NamedTuple):
    """A row as it is read, the row after the change, and the guard."""

    read: Action
    after: Action
    guard: Guard


class _Noted(RowChanges):
    due_shards = ("0",)

    def __init__(self) -> None:
        self.made = list[Change]()

    def swap(self, read: Action, after: Action, guard: Guard) -> Applied | Rejected:
        self.made.append(Change(read, after, guard))
        return Applied(after)


def change(method: str, *args: Any, **options: Any) -> Change:
    """Return the change that a method of the store makes."""
    noted = _Noted()
    getattr(noted, method)(*args, **options)
    return noted.made[0]


BY: dict[str, Any] = {"by": CALLER, "at": NOON}
HALF = Progress(0.5, "1 of 2")
PENDING = replace(fresh(MemoryStore()), generation=7)
DEBOUNCED = replace(PENDING, debounced=Debounced("reindex"))
HELD_OFF = transition.deferred(PENDING, until=NOON + MINUTE, held_by="a pause", waits_for=None)
RUN = replace(transition.started(PENDING, terms()), fence=8)
RICH = replace(transition.reported(RUN, HALF), checkpoint=Checkpoint("1", 8, 3))
TERMS = HandOver(fence=8, at=NOON, times_out_at=NOON + HOUR, key="key", beat_seconds=60)
HANDED = transition.handed_over(RUN, TERMS)
FAILED = replace(transition.settled(RUN, end(Status.FAILED, message="é" * 500)), due_shard="")
DISMISSED = transition.dismissed(FAILED, "by hand", **BY)
DONE: dict[str, Any] = {"completion": "first", "result": '{"pages":3}'}
CHANGES: Mapping[str, Change] = {
    "claim": change("claim", PENDING, terms()),
    "take over": change("claim", RICH, terms(ORPHANED_AT)),
    "take over a hand-over": change("claim", HANDED, terms(ORPHANED_AT)),
    "renew": change("renew", RUN, LEASE_END + MINUTE),
    "report": change("report", RUN, HALF),
    "hand over": change("hand_over", RUN, TERMS),
    "hand over with a question": change(
        "hand_over", RUN, replace(TERMS, question="Refund 900 €?", decision_terms="execute")
    ),
    "heartbeat by token": change("beat", HANDED, NOON + 3 * MINUTE, now=NOON + SECOND, progress=HALF),
    **{
        f"settle as {status}": change("settle", RICH, end(status, message="because"))
        for status in (Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING)
    },
    **{
        f"complete as {status}": change("settle", HANDED, replace(end(status), **DONE))
        for status in (Status.EXECUTED, Status.PENDING)
    },
    "ask to cancel": change("ask_to_cancel", RUN, **BY),
    "cancel": change("cancel", PENDING, **BY, kept_until=EXPIRY),
    "skip": change("skip", PENDING, SkipReason.PAUSED, note="é" * 500, **BY, kept_until=EXPIRY),
    "reschedule": change("reschedule", HELD_OFF, NOON + HOUR, **BY, expires_at=EXPIRY),
    "defer": change("defer", PENDING, NOON + HOUR, held_by="a pause", waits_for="another"),
    "release": change("release", PENDING, replace(PENDING, due_at=NOON + HOUR, unmet="it failed")),
    "coalesce": Change(
        DEBOUNCED, coalesced(DEBOUNCED, fresh(MemoryStore(), due_at=NOON + HOUR), **BY), PENDING_AS_READ
    ),
    "redrive": change("redrive", FAILED, NOON + HOUR, **BY),
    "redrive a dismissed row": change("redrive", DISMISSED, NOON + HOUR, **BY),
    "dismiss": change("dismiss", FAILED, "by hand", **BY),
}
OTHERS: Mapping[str, tuple[Any, ...]] = {
    "generation": (6, 99),
    "fence": (7, 99),
    "lease_until": (LEASE_END - TICK, LEASE_END + TICK),
    "checkpoint": (Checkpoint("1", 8, 99), None),
    "progress": (Progress(0.75, "1 of 2"), Progress(0.5, "more"), None),
    "dismissed_reason": ("known",),
    "cancel_request": (Act(NOON, "ops"),),
}
"""By the name of a field, values that no row of `CHANGES` has."""


def violations(made: Change) -> Iterator[tuple[str, Action]]:
    """Yield the names of a guard's clauses, and stored rows that violate each alone."""
    read, guard = made.read, made.guard
    for status in Status:
        if status is not guard.status:
            yield "status", replace(read, status=status, lease_until=read.lease_until or LEASE_END)
    for name in (*guard.as_read, *guard.unset):
        for value in OTHERS[name]:
            if value != getattr(read, name):
                yield name, replace(read, **{name: value})
    if guard.is_handed_over is not None:
        yield "is_handed_over", replace(read, hand_over=None if read.is_handed_over else TERMS)
    for name in guard.at_most:
        yield name, replace(read, **{name: getattr(made.after, name) + TICK})
    for name, least in guard.above.items():
        yield name, replace(read, **{name: least})


def indexed(row: Action) -> Action:
    """Return a row as it is read: a final one is in no shard of the due index."""
    return replace(row, due_shard="" if row.status.is_final else row.due_shard or "0")


def renamed(made: Change, action_id: ActionId) -> Change:
    """Return the change of another row."""
    return Change(replace(made.read, id=action_id), replace(made.after, id=action_id), made.guard)


class RowChangeContract(StoreContract):
    """`swap`: a guarded change of a row, in one write."""

    @pytest.mark.parametrize("name", CHANGES)
    def test_a_change_writes_its_fields_once_and_moves_the_row_in_the_due_index(
        self, store: ActionStore, name: str
    ) -> None:
        made = CHANGES[name]
        store.put(made.read)
        is_final = made.after.status.is_final
        for _ in range(2):  # the first response may be lost
            outcome = store.swap(*made)
            assert isinstance(outcome, Applied)
            assert indexed(outcome.action) == indexed(stored_row(store, made.read.ref)) == indexed(made.after)
        due_at = self.due_time(
            store, replace(made.after, due_shard=made.after.due_shard or PENDING.due_shard)
        )
        assert due_at == (None if is_final else made.after.due_at)

    @pytest.mark.parametrize("name", CHANGES)
    def test_a_row_that_violates_one_clause_of_the_guard_is_returned_unchanged(
        self, store: ActionStore, name: str
    ) -> None:
        for clause, violating in violations(CHANGES[name]):
            made = renamed(CHANGES[name], new_action_id(NOON))
            stored = indexed(replace(violating, id=made.read.id))
            store.put(stored)
            assert store.swap(*made) == Rejected(stored), clause
            assert store.get(stored.ref) == stored, clause

    def test_a_change_of_no_row_or_of_another_tenants_is_rejected(self, store: ActionStore) -> None:
        store.put(RUN)
        for read in (replace(RUN, tenant_id=GLOBEX), replace(RUN, id=new_action_id(NOON))):
            assert store.renew(read, LEASE_END + MINUTE) is None
            assert store.get(read.ref) is None
        assert store.get(RUN.ref) == RUN

    def test_a_change_leaves_what_others_wrote_beside_it(self, store: ActionStore) -> None:
        store.put(RUN)
        follower = new_action_id(NOON)
        assert store.add_follower(RUN.ref, follower)
        store.ask_to_cancel(RUN, **BY)
        store.report(RUN, HALF)
        store.renew(RUN, LEASE_END + MINUTE)
        row = stored_row(store, RUN.ref)
        assert (row.followers, row.cancel_request, row.progress) == ((follower,), Act(NOON, CALLER), HALF)
        assert row.lease_until == LEASE_END + MINUTE


ADDED = ActionId(new_action_id(NOON))
LATE = Checkpoint("2", 8, 3)
WRITES: Mapping[str, tuple[RowWrite, Action | None, tuple[Action | None, ...]]] = {
    "put": (RowPut(PENDING), PENDING, (RUN, FAILED)),
    "checkpoint": (
        RowCheckpoint(RUN, LATE),
        replace(RUN, checkpoint=LATE),
        (
            None,
            FAILED,
            replace(RUN, fence=9),
            replace(RUN, checkpoint=Checkpoint("1", 8, 3)),
            replace(RUN, checkpoint=Checkpoint("1", 8, 4)),
        ),
    ),
    "follow": (
        RowFollowed(RUN.ref, ADDED),
        replace(RUN, is_awaited=True, followers=(ADDED,)),
        (None,),
    ),
    "is over": (RowIsOver(RUN.ref), FAILED, (RUN, PENDING)),
    "is still dead": (
        RowStillDead(RUN.ref, RUN),
        replace(RUN, fence=9, nonce=None),
        (
            None,
            replace(RUN, fence=9),
            replace(RUN, lease_until=LEASE_END + TICK),
            replace(RUN, status=Status.PENDING),
        ),
    ),
    "is still pending": (
        RowStillDead(PENDING.ref, PENDING, loses_slot=True),
        replace(PENDING, fence=1),
        (RUN, replace(PENDING, fence=1)),
    ),
    "is still final": (RowStillDead(FAILED.ref, FAILED), FAILED, (None, PENDING, RUN)),
    "is still gone": (RowStillDead(RUN.ref, None), None, (RUN, FAILED)),
}


class RowWriteContract(StoreContract):
    """Writes of rows that share transactions with items."""

    @pytest.mark.parametrize("name", WRITES)
    def test_a_write_of_a_row_is_made_if_its_guard_holds(self, store: ActionStore, name: str) -> None:
        made, after, rejected = WRITES[name]
        before = {"put": None, "checkpoint": RUN, "follow": RUN, "is still dead": RUN}.get(
            name, PENDING if name == "is still pending" else after
        )
        if before is not None:
            store.put(before)
        other = replace(PENDING, id=new_action_id(NOON))
        assert store.items.write(made, RowPut(other)).is_written
        assert (store.get(RUN.ref), store.get(other.ref)) == (after, other)
        assert rejected

    @pytest.mark.parametrize(
        ("name", "place"), [(name, place) for name, made in WRITES.items() for place in range(len(made[2]))]
    )
    def test_a_write_of_a_row_that_has_changed_rejects_its_transaction(
        self, store: ActionStore, name: str, place: int
    ) -> None:
        made, _, rejected = WRITES[name]
        stored = rejected[place]
        if stored is not None:
            store.put(stored)
        other = replace(PENDING, id=new_action_id(NOON))
        outcome = store.items.write(RowPut(other), made)
        assert not outcome.is_written
        assert isinstance(made, RowPut) or outcome.row(1) == stored
        assert (store.get(RUN.ref), store.get(other.ref)) == (stored, None)
