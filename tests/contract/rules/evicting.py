"""Evictions: what a holder cannot free any more is freed for others; and races for slots."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from duetime.model.action import Action, Status
from duetime.model.lease import Claimed, LeaseHeld, SettleResult
from duetime.ports.action_store import ActionStore
from duetime_contract.races import CROWD, ROUNDS, together
from duetime_contract.specimens import (
    CALLER,
    HOUR,
    LEASE,
    LEASE_END,
    NOON,
    ORPHANED_AT,
    end,
    stored_row,
    terms,
)
from tests.contract.rules.slots import (
    LIMIT,
    KeyedContract,
    begin,
    holders,
    holding,
    keyed,
    move_of,
    slots_of,
    take,
    waiting,
)


def evict(store: ActionStore, dead: Action, row: Action | None) -> bool:
    """Evict a holder by its row as read, and by the slots as they are now."""
    return store.evict(move_of(store, dead), row)


class EvictContract(KeyedContract):
    """*evict*: what a holder cannot free any more is freed for others."""

    def test_a_dead_run_loses_its_slot_its_fence_and_its_nonce(self, store: ActionStore, run: Action) -> None:
        assert evict(store, run, run)
        assert store.get(run.ref) == replace(run, fence=run.fence + 1, nonce=None)
        assert holders(store) == set()

    def test_an_eviction_passes_the_slot_on(self, store: ActionStore, run: Action) -> None:
        (first,) = waiting(store)
        assert store.evict(move_of(store, run, first), run)
        assert slots_of(store).holders == {first.id: first.fence}

    def test_a_holder_that_has_not_begun_loses_its_slot_and_its_fence(self, store: ActionStore) -> None:
        action = keyed(store)
        take(store, action)
        assert evict(store, action, action)
        assert store.get(action.ref) == replace(action, fence=1)
        assert holders(store) == set()

    def test_a_claim_that_comes_after_its_eviction_fails(self, store: ActionStore) -> None:
        action = keyed(store)
        take(store, action)
        evict(store, action, action)
        assert take(store, keyed(store))
        before = store.get(action.ref)
        assert not isinstance(store.claim(action, terms()), Claimed)
        assert store.get(action.ref) == before

    def test_a_holder_that_has_begun_meanwhile_retains_its_slot(self, store: ActionStore) -> None:
        action = keyed(store)
        assert begin(store, action.ref)
        assert not evict(store, action, action)
        assert holders(store) == {action.id}

    def test_a_late_eviction_takes_no_slot_that_was_taken_again(self, store: ActionStore) -> None:
        action = keyed(store)
        take(store, action)
        late = move_of(store, action)
        evict(store, action, action)
        row = stored_row(store, action.ref)
        assert take(store, row)
        assert not store.evict(late, row)
        assert not store.evict(late, action)
        assert slots_of(store).holders == {row.id: row.fence}

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED])
    def test_a_final_row_loses_its_slot_alone(self, store: ActionStore, run: Action, status: Status) -> None:
        store.settle(run, end(status))
        row = stored_row(store, run.ref)
        assert evict(store, run, row)
        assert (store.get(run.ref), holders(store)) == (row, set())

    def test_a_row_that_was_rescheduled_loses_its_slot_and_its_fence(self, store: ActionStore) -> None:
        action = keyed(store)
        take(store, action)
        store.reschedule(action, NOON + HOUR, by=CALLER, at=NOON)
        row = stored_row(store, action.ref)
        assert evict(store, action, row)
        assert stored_row(store, action.ref).fence == 1

    def test_an_evicted_run_that_wakes_holds_nothing(self, store: ActionStore, run: Action) -> None:
        evict(store, run, run)
        following = holding(store)
        before = store.get(run.ref)
        assert store.renew(run, ORPHANED_AT + LEASE) is None
        assert store.peek(run) is None
        executed = end(Status.EXECUTED, ORPHANED_AT)
        assert store.settle(run, executed) is SettleResult.LEASE_LOST
        assert store.commit(run, executed, entries=(), number=1) is SettleResult.LEASE_LOST
        assert (store.get(run.ref), holders(store)) == (before, {following.id})

    def test_a_claim_whose_response_comes_after_its_eviction_fails(self, store: ActionStore) -> None:
        action, claim_terms = keyed(store), terms()
        take(store, action)
        store.claim(action, claim_terms)
        claimed = stored_row(store, action.ref)
        evict(store, claimed, claimed)
        assert store.claim(action, claim_terms) == LeaseHeld(LEASE_END)

    def test_an_evicted_run_is_taken_over_with_a_slot_of_its_own(
        self, store: ActionStore, run: Action
    ) -> None:
        evict(store, run, run)
        following = holding(store)
        assert not begin(store, run.ref, terms(ORPHANED_AT))
        store.settle(following, end(Status.EXECUTED))
        store.move_slots(move_of(store, following))
        assert begin(store, run.ref, terms(ORPHANED_AT))
        row = stored_row(store, run.ref)
        assert (row.fence, row.attempt, row.recoveries) == (3, 1, 1)
        assert holders(store) == {run.id}

    def test_a_holder_that_renewed_its_lease_meanwhile_retains_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        store.renew(run, ORPHANED_AT + LEASE)
        before = store.get(run.ref)
        assert not evict(store, run, run)
        assert (store.get(run.ref), holders(store)) == (before, {run.id})

    def test_a_holder_that_was_taken_over_meanwhile_retains_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        begin(store, run.ref, terms(ORPHANED_AT))
        assert not evict(store, run, run)
        assert holders(store) == {run.id}

    def test_a_holder_that_started_again_meanwhile_retains_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        store.settle(run, end(Status.PENDING))
        pending = stored_row(store, run.ref)
        begin(store, run.ref, terms(NOON + 2 * HOUR))
        assert not evict(store, run, pending)
        assert holders(store) == {run.id}

    def test_a_row_without_a_slot_is_unchanged(self, store: ActionStore, run: Action) -> None:
        late = move_of(store, run)
        assert store.evict(late, run)
        row = stored_row(store, run.ref)
        assert not store.evict(late, row)
        assert store.get(run.ref) == row

    def test_a_holder_with_a_row_is_not_evicted_as_missing(self, store: ActionStore, run: Action) -> None:
        assert not evict(store, run, None)
        assert holders(store) == {run.id}


class SlotRaceContract(KeyedContract):
    """What holds when several want a slot at the same moment."""

    def test_of_many_concurrent_claims_at_most_the_limit_get_a_slot(self, store: ActionStore) -> None:
        rows = [keyed(store, limit=LIMIT) for _ in range(CROWD)]
        won = together([partial(begin, store, row.ref) for row in rows])
        running = [row.id for row in rows if stored_row(store, row.ref).status is Status.PROCESSING]
        assert running == [row.id for row, has in zip(rows, won, strict=True) if has]
        assert 1 <= len(running) <= LIMIT
        assert holders(store) == set(running)

    def test_of_many_that_claim_one_action_with_a_slot_at_once_exactly_one_wins(
        self, store: ActionStore
    ) -> None:
        action = keyed(store, limit=LIMIT)
        take(store, action)
        won = together([partial(store.claim, action, terms()) for _ in range(CROWD)])
        assert sum(isinstance(answer, Claimed) for answer in won) == 1
        assert (stored_row(store, action.ref).fence, holders(store)) == (1, {action.id})

    def test_of_many_that_join_the_line_at_once_each_is_in_it(self, store: ActionStore, run: Action) -> None:
        rows, slots = [keyed(store) for _ in range(CROWD)], slots_of(store)
        assert all(together([partial(store.wait_for_slot, row, slots) for row in rows]))
        assert {*slots_of(store).waiting} == {row.id for row in rows}
        assert holders(store) == {run.id}

    def test_of_a_free_and_an_action_that_joins_the_line_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            run, late = holding(store), keyed(store)
            slots = slots_of(store)
            freed, joined = together(
                [
                    partial(store.move_slots, move_of(store, run)),
                    partial(store.wait_for_slot, late, slots),
                ]
            )
            assert freed is not joined
            assert (holders(store), slots_of(store).waiting) == (
                (set(), ()) if freed else ({run.id}, (late.id,))
            )
            if joined:
                store.move_slots(move_of(store, run, late))
                store.move_slots(move_of(store, late))

    def test_of_a_late_settle_and_an_eviction_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            late = holding(store, limit=100)
            settled, evicted = together(
                [
                    partial(store.settle, late, end(Status.EXECUTED, ORPHANED_AT)),
                    partial(evict, store, late, late),
                ]
            )
            row = stored_row(store, late.ref)
            assert (settled is SettleResult.SETTLED) == (row.status is Status.EXECUTED)
            assert evicted == (row.fence == late.fence + 1)
            assert evicted != (settled is SettleResult.SETTLED)
            assert (late.id in holders(store)) is not evicted

    def test_of_a_claim_and_an_eviction_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            action = keyed(store, limit=100)
            take(store, action)
            answer, evicted = together(
                [partial(store.claim, action, terms()), partial(evict, store, action, action)]
            )
            claimed = isinstance(answer, Claimed)
            assert claimed is not evicted
            assert (action.id in holders(store)) is claimed
            assert (stored_row(store, action.ref).status is Status.PROCESSING) is claimed

    def test_of_a_renewal_and_an_eviction_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            late = holding(store, limit=100)
            renewed, evicted = together(
                [
                    partial(store.renew, late, ORPHANED_AT + LEASE),
                    partial(evict, store, late, late),
                ]
            )
            assert (renewed is None) == evicted
            assert (late.id in holders(store)) is not evicted
