"""Evictions: what a dead run holds of a concurrency key is freed for others; and races for slots."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace
from functools import partial

from duetime.model.action import Action, Status
from duetime.model.lease import NeedsSlot, SettleResult
from duetime.model.transition import started
from duetime.ports.actions import ActionStore
from duetime.testing.contract.races import CROWD, ROUNDS, together
from duetime.testing.contract.slots import KEY, LIMIT, KeyedContract, begin, holding, keyed
from duetime.testing.contract.specimens import (
    ACME,
    HOUR,
    LEASE,
    NOON,
    ORPHANED_AT,
    end,
    stored_row,
    terms,
)


class EvictContract(KeyedContract):
    """*evict*: what a holder cannot free any more is freed for others."""

    def test_a_dead_run_loses_its_slot_its_fence_and_its_nonce(self, store: ActionStore, run: Action) -> None:
        assert store.evict(ACME, KEY, run.id, run)
        assert store.get(run.ref) == replace(run, fence=run.fence + 1, claim_nonce=None)
        assert store.holders(ACME, KEY) == frozenset()

    def test_an_evicted_run_that_wakes_holds_nothing(self, store: ActionStore, run: Action) -> None:
        store.evict(ACME, KEY, run.id, run)
        following = holding(store)
        before = store.get(run.ref)
        assert store.renew(run, ORPHANED_AT + LEASE) is None
        assert store.peek(run) is None
        executed = end(Status.EXECUTED, ORPHANED_AT)
        assert store.settle(run, executed) is SettleResult.LEASE_LOST
        assert store.commit(run, executed, entries=(), number=1) is SettleResult.LEASE_LOST
        assert (store.get(run.ref), store.holders(ACME, KEY)) == (before, frozenset({following.id}))

    def test_a_claim_whose_response_comes_after_its_eviction_fails(self, store: ActionStore) -> None:
        action, claim_terms = keyed(store), terms()
        claimed = started(action, claim_terms)
        store.claim_slot(action, claimed)
        store.evict(ACME, KEY, action.id, claimed)
        assert not store.claim_slot(action, claimed)
        assert store.claim(action.ref, replace(claim_terms, now=ORPHANED_AT)) == NeedsSlot()

    def test_an_evicted_run_is_taken_over_with_a_slot_of_its_own(
        self, store: ActionStore, run: Action
    ) -> None:
        store.evict(ACME, KEY, run.id, run)
        following = holding(store)
        assert not begin(store, run.ref, terms(ORPHANED_AT))
        store.settle(following, end(Status.EXECUTED))
        assert begin(store, run.ref, terms(ORPHANED_AT))
        row = stored_row(store, run.ref)
        assert (row.fence, row.attempt, row.recoveries) == (3, 1, 1)
        assert store.holders(ACME, KEY) == {run.id}

    def test_a_holder_that_renewed_its_lease_meanwhile_retains_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        store.renew(run, ORPHANED_AT + LEASE)
        before = store.get(run.ref)
        assert not store.evict(ACME, KEY, run.id, run)
        assert (store.get(run.ref), store.holders(ACME, KEY)) == (before, frozenset({run.id}))

    def test_a_holder_that_was_taken_over_meanwhile_retains_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        begin(store, run.ref, terms(ORPHANED_AT))
        assert not store.evict(ACME, KEY, run.id, run)
        assert store.holders(ACME, KEY) == {run.id}

    def test_a_holder_that_started_again_meanwhile_retains_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        store.settle(run, end(Status.PENDING))
        waiting = stored_row(store, run.ref)
        begin(store, run.ref, terms(NOON + 2 * HOUR))
        assert not store.evict(ACME, KEY, run.id, waiting)
        assert store.holders(ACME, KEY) == {run.id}

    def test_a_row_without_a_slot_is_unchanged(self, store: ActionStore, run: Action) -> None:
        store.evict(ACME, KEY, run.id, run)
        row = stored_row(store, run.ref)
        assert not store.evict(ACME, KEY, run.id, row)
        assert store.get(run.ref) == row

    def test_a_holder_with_a_row_is_not_evicted_as_missing(self, store: ActionStore, run: Action) -> None:
        assert not store.evict(ACME, KEY, run.id, None)
        assert store.holders(ACME, KEY) == {run.id}


class SlotRaceContract(KeyedContract):
    """What holds when several want a slot at the same moment."""

    def test_of_many_concurrent_claims_at_most_the_limit_get_a_slot(self, store: ActionStore) -> None:
        rows = [keyed(store, limit=LIMIT) for _ in range(CROWD)]
        won = together([partial(begin, store, row.ref) for row in rows])
        running = [row.id for row in rows if stored_row(store, row.ref).status is Status.PROCESSING]
        assert running == [row.id for row, has in zip(rows, won, strict=True) if has]
        assert 1 <= len(running) <= LIMIT
        assert store.holders(ACME, KEY) == set(running)

    def test_of_many_that_claim_one_action_with_a_slot_at_once_exactly_one_wins(
        self, store: ActionStore
    ) -> None:
        action = keyed(store, limit=LIMIT)
        won = together([partial(store.claim_slot, action, started(action, terms())) for _ in range(CROWD)])
        assert won.count(True) == 1
        assert (stored_row(store, action.ref).fence, store.holders(ACME, KEY)) == (1, frozenset({action.id}))

    def test_of_a_late_settle_and_an_eviction_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            late = holding(store)
            settled, evicted = together(
                [
                    partial(store.settle, late, end(Status.EXECUTED, ORPHANED_AT)),
                    partial(store.evict, ACME, KEY, late.id, late),
                ]
            )
            row = stored_row(store, late.ref)
            assert (settled is SettleResult.SETTLED) == (row.status is Status.EXECUTED)
            assert evicted == (row.fence == late.fence + 1)
            assert evicted != (settled is SettleResult.SETTLED)
            assert store.holders(ACME, KEY) == frozenset()

    def test_of_a_renewal_and_an_eviction_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            late = holding(store, limit=100)
            renewed, evicted = together(
                [
                    partial(store.renew, late, ORPHANED_AT + LEASE),
                    partial(store.evict, ACME, KEY, late.id, late),
                ]
            )
            assert (renewed is None) == evicted
            assert (late.id in store.holders(ACME, KEY)) is not evicted
