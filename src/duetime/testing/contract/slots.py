"""Concurrency keys: a claim takes a slot of its key, and the run's end frees it."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace

import pytest

from duetime.ids import TenantId
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import ClaimTerms, LeaseHeld, NeedsSlot, Renewed, SettleResult
from duetime.model.transition import started
from duetime.ports.actions import ActionStore
from duetime.testing.contract.scheduling import LARGE
from duetime.testing.contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    LEASE,
    LEASE_END,
    NOON,
    ORPHANED_AT,
    SECOND,
    TICK,
    end,
    fresh,
    put,
    stored_row,
    terms,
)
from duetime.testing.contract.subject import StoreContract

KEY = "customer:42"
LIMIT = 3
ENDS = [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING]


def keyed(
    store: ActionStore,
    *,
    key: str = KEY,
    limit: int = 1,
    tenant_id: TenantId = ACME,
    payload_offloaded: bool = False,
) -> Action:
    """A pending row with a concurrency key."""
    return put(
        store,
        replace(
            fresh(store, tenant_id=tenant_id, payload=LARGE if payload_offloaded else "{}"),
            payload_offloaded=payload_offloaded,
            concurrency_key=key,
            concurrency_limit=limit,
        ),
    )


def begin(store: ActionStore, ref: ActionRef, claim_terms: ClaimTerms | None = None) -> bool:
    """Claim a row with a slot, as it is read now; whether it was."""
    row = stored_row(store, ref)
    return store.claim_slot(row, started(row, claim_terms or terms()))


def holding(store: ActionStore, *, limit: int = 1) -> Action:
    """A row claimed at noon with a slot of its key."""
    ref = keyed(store, limit=limit).ref
    assert begin(store, ref)
    return stored_row(store, ref)


class KeyedContract(StoreContract):
    """A run that holds a slot of its key, for the parts that need one."""

    @pytest.fixture
    def run(self, store: ActionStore) -> Action:
        """An action claimed at noon with the only slot of its key."""
        return holding(store)


class SlotContract(KeyedContract):
    """*claim under a concurrency key*, and how a run's end frees its slot."""

    @pytest.fixture
    def keyed_action(self, store: ActionStore) -> Action:
        return keyed(store)

    def test_a_concurrency_key_and_its_limit_are_read_back(self, store: ActionStore) -> None:
        action = keyed(store, limit=LIMIT)
        assert store.get(action.ref) == action
        assert list(store.get_rows([action.ref])) == [action]

    def test_a_claim_of_a_row_with_a_concurrency_key_needs_a_slot_and_changes_nothing(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        assert store.claim(keyed_action.ref, terms()) == NeedsSlot()
        assert store.get(keyed_action.ref) == keyed_action
        assert store.holders(ACME, KEY) == frozenset()

    def test_a_row_that_is_not_due_is_not_claimed_with_any_key(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        assert store.claim(keyed_action.ref, terms(NOON - TICK)) is None
        store.cancel(keyed_action, by=CALLER, at=NOON, expires_at=EXPIRY)
        assert store.claim(keyed_action.ref, terms()) is None

    def test_a_claim_of_a_dead_run_with_a_concurrency_key_needs_a_slot_and_changes_nothing(
        self, store: ActionStore, run: Action
    ) -> None:
        assert store.claim(run.ref, terms(ORPHANED_AT - TICK)) == LeaseHeld(LEASE_END)
        assert store.claim(run.ref, terms(ORPHANED_AT)) == NeedsSlot()
        assert store.get(run.ref) == run

    @pytest.mark.parametrize("payload_offloaded", [False, True], ids=["payload in the row", "payload apart"])
    def test_a_claim_with_a_slot_begins_a_run_as_a_claim_does(
        self, store: ActionStore, payload_offloaded: bool
    ) -> None:
        action, claim_terms = keyed(store, payload_offloaded=payload_offloaded), terms()
        assert begin(store, action.ref, claim_terms)
        assert store.get(action.ref) == started(action, claim_terms)
        assert store.holders(ACME, KEY) == {action.id}

    def test_fewer_than_the_limit_may_run_beside_it(self, store: ActionStore) -> None:
        rows = [keyed(store, limit=LIMIT) for _ in range(LIMIT + 1)]
        assert [begin(store, row.ref) for row in rows] == [True] * LIMIT + [False]
        assert store.get(rows[-1].ref) == rows[-1]
        assert store.holders(ACME, KEY) == {row.id for row in rows[:-1]}

    def test_each_claim_has_its_own_limit(self, store: ActionStore) -> None:
        holding(store, limit=1)
        assert not begin(store, keyed(store, limit=1).ref)
        assert begin(store, keyed(store, limit=2).ref)
        assert not begin(store, keyed(store, limit=2).ref)

    def test_a_dead_run_is_taken_over_only_while_fewer_than_its_own_limit_run_beside_it(
        self, store: ActionStore
    ) -> None:
        narrow, wide = holding(store, limit=1), holding(store, limit=2)
        assert not begin(store, narrow.ref, terms(ORPHANED_AT))
        assert store.get(narrow.ref) == narrow
        store.settle(wide, end(Status.EXECUTED))
        assert begin(store, narrow.ref, terms(ORPHANED_AT))

    def test_other_keys_and_other_tenants_have_slots_of_their_own(self, store: ActionStore) -> None:
        holding(store)
        others = [keyed(store, key=f"{KEY}0"), keyed(store, tenant_id=GLOBEX)]
        assert all(begin(store, other.ref) for other in others)
        assert store.holders(GLOBEX, KEY) == {others[1].id}

    def test_a_claim_repeated_with_its_nonce_is_the_same_claim_with_a_slot(self, store: ActionStore) -> None:
        action, claim_terms = keyed(store), terms()
        claimed = started(action, claim_terms)
        assert store.claim_slot(action, claimed)
        assert store.claim_slot(action, claimed)
        assert store.get(action.ref) == claimed

    def test_a_row_that_changed_since_it_was_read_is_not_claimed_with_a_slot(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        store.reschedule(keyed_action, NOON, by=CALLER, at=NOON)
        changed = stored_row(store, keyed_action.ref)
        assert not store.claim_slot(keyed_action, started(keyed_action, terms()))
        assert store.get(keyed_action.ref) == changed
        assert store.holders(ACME, KEY) == frozenset()

    def test_a_row_that_is_gone_is_not_claimed_with_a_slot(self, store: ActionStore) -> None:
        stranger = replace(fresh(store), concurrency_key=KEY)
        assert not store.claim_slot(stranger, started(stranger, terms()))
        assert (store.get(stranger.ref), store.holders(ACME, KEY)) == (None, frozenset())

    def test_a_dead_run_that_holds_a_slot_is_taken_over_with_it(self, store: ActionStore) -> None:
        dead, claim_terms = holding(store), terms(ORPHANED_AT)
        assert begin(store, dead.ref, claim_terms)
        row = stored_row(store, dead.ref)
        assert row == started(dead, claim_terms)
        assert (row.fence, row.attempt, row.recoveries) == (2, 1, 1)
        assert store.holders(ACME, KEY) == {dead.id}

    def test_a_run_that_renewed_its_lease_in_the_last_moment_is_not_taken_over_with_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        assert store.renew(run, ORPHANED_AT + LEASE)
        assert not store.claim_slot(run, started(run, terms(ORPHANED_AT)))
        assert stored_row(store, run.ref).fence == 1

    def test_a_request_to_cancel_survives_a_take_over_with_a_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        store.ask_to_cancel(run, by=CALLER, at=NOON + SECOND)
        assert store.claim_slot(run, started(run, terms(ORPHANED_AT)))
        row = stored_row(store, run.ref)
        assert (row.fence, row.cancel_requested_by, row.cancel_requested_at) == (2, CALLER, NOON + SECOND)

    @pytest.mark.parametrize("status", ENDS)
    def test_a_settle_frees_the_slot_whatever_the_action_becomes(
        self, store: ActionStore, status: Status, run: Action
    ) -> None:
        assert store.settle(run, end(status)) is SettleResult.SETTLED
        assert stored_row(store, run.ref).status is status
        assert store.holders(ACME, KEY) == frozenset()
        assert begin(store, keyed(store).ref)

    def test_a_repeated_settle_frees_no_other_slot(self, store: ActionStore, run: Action) -> None:
        store.settle(run, end(Status.EXECUTED))
        following = holding(store)
        assert store.settle(run, end(Status.EXECUTED)) is SettleResult.SETTLED
        assert store.holders(ACME, KEY) == {following.id}

    def test_a_run_that_was_taken_over_frees_no_slot(self, store: ActionStore, run: Action) -> None:
        begin(store, run.ref, terms(ORPHANED_AT))
        before = store.get(run.ref)
        assert store.settle(run, end(Status.EXECUTED, ORPHANED_AT)) is SettleResult.LEASE_LOST
        assert (store.get(run.ref), store.holders(ACME, KEY)) == (before, frozenset({run.id}))

    def test_a_retry_that_is_rejected_for_a_cancel_retains_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        store.ask_to_cancel(run, by=CALLER, at=NOON + SECOND)
        assert store.settle(run, end(Status.PENDING)) is SettleResult.CANCEL_REQUESTED
        assert store.holders(ACME, KEY) == {run.id}
        assert store.settle(run, end(Status.CANCELLED)) is SettleResult.SETTLED
        assert store.holders(ACME, KEY) == frozenset()

    def test_a_commit_frees_the_slot(self, store: ActionStore, run: Action) -> None:
        executed = end(Status.EXECUTED)
        assert store.commit(run, executed, entries=(), number=1) is SettleResult.SETTLED
        assert store.commit(run, executed, entries=(), number=1) is SettleResult.SETTLED
        assert stored_row(store, run.ref).status is Status.EXECUTED
        assert store.holders(ACME, KEY) == frozenset()

    def test_a_commit_of_a_run_that_was_taken_over_frees_no_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        begin(store, run.ref, terms(ORPHANED_AT))
        assert (
            store.commit(run, end(Status.EXECUTED, ORPHANED_AT), entries=(), number=1)
            is SettleResult.LEASE_LOST
        )
        assert store.holders(ACME, KEY) == {run.id}

    def test_a_heartbeat_retains_the_slot(self, store: ActionStore, run: Action) -> None:
        assert store.renew(run, LEASE_END + LEASE) == Renewed(cancel_requested=False)
        assert store.holders(ACME, KEY) == {run.id}

    def test_a_redriven_action_has_its_concurrency_key_still(self, store: ActionStore) -> None:
        run = holding(store, limit=LIMIT)
        store.settle(run, end(Status.FAILED))
        store.redrive(run, NOON + HOUR, by=CALLER, at=NOON + HOUR)
        row = stored_row(store, run.ref)
        assert (row.concurrency_key, row.concurrency_limit) == (KEY, LIMIT)
        assert store.claim(run.ref, terms(NOON + HOUR)) == NeedsSlot()
        assert begin(store, run.ref, terms(NOON + HOUR))


class HoldersContract(KeyedContract):
    """Who holds the slots of a key."""

    def test_an_unused_key_has_no_holders(self, store: ActionStore) -> None:
        keyed(store)
        assert store.holders(ACME, KEY) == frozenset()

    def test_no_list_shows_the_holder_of_a_slot(self, store: ActionStore, run: Action) -> None:
        assert [row.id for row in store.of_tenant(ACME, limit=10, cursor=None)] == [run.id]

    def test_every_valid_key_has_slots(self, store: ActionStore) -> None:
        for key in ("é", "a b", "slots", "ab" * 64):
            assert begin(store, keyed(store, key=key).ref)
            assert len(store.holders(ACME, key)) == 1
