"""The claim: who gets it, who does not, and what a run that was taken over can still do."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from duetime.model.action import Action, Attempt, Status
from duetime.model.expiry import Expiry
from duetime.model.lease import Claimed, LeaseHeld, SettleResult
from duetime.model.row_parts import Act
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import (
    CALLER,
    GLOBEX,
    HOUR,
    LEASE,
    LEASE_END,
    MINUTE,
    NOON,
    ORPHANED_AT,
    POLICY,
    SECOND,
    SKEW,
    TICK,
    claim,
    end,
    fresh,
    put,
    running,
    scheduled,
    stored_row,
    terms,
    unchanged,
)
from duetime_contract.subject import StoreContract


class ClaimContract(StoreContract):
    """*claim*: the first run of an action."""

    def test_a_claim_starts_a_run(self, store: ActionStore) -> None:
        action, claim_terms = scheduled(store), terms(NOON + MINUTE)
        won = store.claim(action, claim_terms)
        assert isinstance(won, Claimed)
        row = won.action
        assert (row.status, row.fence, row.attempt, row.recoveries) == (Status.PROCESSING, 1, 1, 0)
        assert (row.lease_until, row.nonce, row.retry) == (
            claim_terms.lease_until,
            claim_terms.nonce,
            POLICY,
        )
        assert row.attempts == (
            Attempt(queued_at=claim_terms.queued_at, started_at=claim_terms.now, instance="worker-1"),
        )

    def test_a_claim_leaves_due_time_generation_and_payload_alone(
        self, store: ActionStore, action: Action
    ) -> None:
        row = claim(store, action.ref)
        assert (row.due_at, row.nominal_at, row.generation, row.payload) == (NOON, NOON, 1, action.payload)

    def test_the_claimed_action_equals_the_stored_row(self, store: ActionStore, claimed: Action) -> None:
        assert store.get(claimed.ref) == claimed

    def test_a_claimed_row_stays_in_the_due_index(self, store: ActionStore, claimed: Action) -> None:
        assert self.due_time(store, claimed) == NOON

    def test_a_row_due_this_very_instant_is_claimed(self, store: ActionStore) -> None:
        assert isinstance(store.claim(scheduled(store), terms(NOON)), Claimed)

    def test_a_claim_before_the_due_time_gets_nothing_and_changes_nothing(
        self, store: ActionStore, action: Action
    ) -> None:
        assert store.claim(action, terms(NOON - TICK)) is None
        assert store.get(action.ref) == action

    def test_an_action_is_claimed_before_its_expiry_alone(self, store: ActionStore) -> None:
        action = put(store, replace(fresh(store), expires_at=NOON + MINUTE))
        with unchanged(store.get, action.ref):
            assert store.claim(action, terms(NOON + MINUTE)) is None
        assert isinstance(store.claim(action, terms(NOON + MINUTE - TICK)), Claimed)

    def test_an_expired_action_is_claimed_to_fail_if_its_type_says_so(self, store: ActionStore) -> None:
        action = put(store, replace(fresh(store), expires_at=NOON + MINUTE))
        to_fail = replace(terms(NOON + HOUR), expiry=Expiry(on_expiry="fail"))
        assert isinstance(store.claim(action, to_fail), Claimed)

    def test_a_claim_needs_the_generation_as_read(self, store: ActionStore, action: Action) -> None:
        store.reschedule(action, NOON - HOUR, by="ops", at=NOON)
        with unchanged(store.get, action.ref):
            assert store.claim(action, terms()) is None
        assert isinstance(store.claim(stored_row(store, action.ref), terms()), Claimed)

    def test_a_claim_of_a_row_that_is_gone_gets_nothing(self, store: ActionStore) -> None:
        gone = fresh(store)
        assert store.claim(gone, terms()) is None
        assert store.get(gone.ref) is None

    def test_a_claim_under_another_tenant_gets_nothing(self, store: ActionStore, action: Action) -> None:
        assert store.claim(replace(action, tenant_id=GLOBEX), terms()) is None
        assert store.get(action.ref) == action

    def test_a_claim_repeated_with_its_nonce_is_the_same_claim(self, store: ActionStore) -> None:
        action, claim_terms = scheduled(store), terms()
        assert store.claim(action, claim_terms) == store.claim(action, claim_terms)
        assert stored_row(store, action.ref).fence == 1

    def test_a_nonce_is_recognised_even_after_its_lease_has_ended(
        self, store: ActionStore, action: Action
    ) -> None:
        first = store.claim(action, terms(nonce="mine"))
        assert store.claim(action, terms(ORPHANED_AT + HOUR, nonce="mine")) == first

    def test_the_nonce_of_a_run_that_has_ended_claims_nothing(
        self, store: ActionStore, action: Action
    ) -> None:
        won = store.claim(action, terms(nonce="mine"))
        assert isinstance(won, Claimed)
        store.settle(won.action, end(Status.EXECUTED))
        assert store.claim(action, terms(nonce="mine")) is None

    def test_a_claim_of_a_live_lease_returns_its_end(self, store: ActionStore, claimed: Action) -> None:
        assert store.claim(claimed, terms(NOON + SECOND)) == LeaseHeld(LEASE_END)
        assert store.get(claimed.ref) == claimed

    def test_a_claim_of_a_renewed_lease_returns_its_new_end(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.renew(claimed, LEASE_END + MINUTE)
        assert store.claim(claimed, terms(ORPHANED_AT)) == LeaseHeld(LEASE_END + MINUTE)

    def test_the_retry_policy_of_the_first_claim_stays(self, store: ActionStore, action: Action) -> None:
        store.settle(claim(store, action.ref), end(Status.PENDING))
        again = store.claim(stored_row(store, action.ref), terms(NOON + 2 * HOUR, retry="[9,[1],0,null]"))
        assert isinstance(again, Claimed)
        assert again.action.retry == POLICY


class TakeOverContract(StoreContract):
    """*claim* of a run whose worker died, and what that worker can still do if it did not."""

    @pytest.mark.parametrize("at", [LEASE_END, LEASE_END + SKEW - TICK, LEASE_END + SKEW])
    def test_a_lease_counts_as_live_until_the_skew_has_passed(
        self, store: ActionStore, at: datetime, claimed: Action
    ) -> None:
        assert store.claim(claimed, terms(at)) == LeaseHeld(LEASE_END)
        assert store.get(claimed.ref) == claimed

    def test_a_take_over_is_counted_as_a_recovery_and_not_as_an_attempt(
        self, store: ActionStore, claimed: Action
    ) -> None:
        row = claim(store, claimed.ref, ORPHANED_AT)
        assert (row.status, row.fence, row.attempt, row.recoveries) == (Status.PROCESSING, 2, 1, 1)
        assert row.lease_until == ORPHANED_AT + LEASE

    def test_a_take_over_repeats_the_lost_attempts_number(self, store: ActionStore) -> None:
        row = claim(store, running(store).ref, ORPHANED_AT)
        assert [number for number, _ in row.numbered_attempts()] == [1, 1]
        assert [attempt.finished_at for attempt in row.attempts] == [None, None]

    def test_a_take_over_leaves_due_time_generation_and_policy_alone(
        self, store: ActionStore, claimed: Action
    ) -> None:
        taken = store.claim(claimed, terms(ORPHANED_AT, retry="[9,[1],0,null]"))
        assert isinstance(taken, Claimed)
        assert (taken.action.due_at, taken.action.generation, taken.action.retry) == (NOON, 1, POLICY)

    def test_a_take_over_retains_a_request_to_cancel(self, store: ActionStore, claimed: Action) -> None:
        store.ask_to_cancel(claimed, by=CALLER, at=NOON + SECOND)
        assert claim(store, claimed.ref, ORPHANED_AT).cancel_request == Act(NOON + SECOND, CALLER)

    def test_a_take_over_repeated_with_its_nonce_is_the_same(self, store: ActionStore) -> None:
        dead, claim_terms = running(store), terms(ORPHANED_AT)
        assert store.claim(dead, claim_terms) == store.claim(dead, claim_terms)

    def test_a_run_taken_over_is_held_by_its_new_worker(self, store: ActionStore, claimed: Action) -> None:
        claim(store, claimed.ref, ORPHANED_AT)
        assert store.claim(claimed, terms(ORPHANED_AT)) == LeaseHeld(ORPHANED_AT + LEASE)

    def test_each_take_over_is_counted(self, store: ActionStore, claimed: Action, taken_over: Action) -> None:
        third = claim(store, claimed.ref, ORPHANED_AT + LEASE + SKEW + TICK)
        assert (taken_over.recoveries, third.recoveries, third.fence, third.attempt) == (1, 2, 3, 1)

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING])
    def test_a_run_that_was_taken_over_settles_nothing(
        self, store: ActionStore, status: Status, claimed: Action, taken_over: Action
    ) -> None:
        assert store.settle(claimed, end(status, ORPHANED_AT)) is SettleResult.LEASE_LOST
        assert store.get(claimed.ref) == taken_over

    def test_a_run_that_was_taken_over_renews_nothing(
        self, store: ActionStore, claimed: Action, taken_over: Action
    ) -> None:
        assert store.renew(claimed, ORPHANED_AT + HOUR) is None
        assert store.get(claimed.ref) == taken_over

    def test_a_run_that_was_taken_over_sees_so_when_it_looks(
        self, store: ActionStore, claimed: Action, taken_over: Action
    ) -> None:
        assert store.peek(claimed) is None
        assert store.get(claimed.ref) == taken_over

    def test_a_run_that_was_taken_over_settles_nothing_that_the_next_one_has_ended(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.settle(claim(store, claimed.ref, ORPHANED_AT), end(Status.FAILED, ORPHANED_AT))
        with unchanged(store.get, claimed.ref):
            assert store.settle(claimed, end(Status.EXECUTED, ORPHANED_AT)) is SettleResult.LEASE_LOST
