"""Concurrency keys: a run takes a slot before its claim, or waits in line, and its end passes the slot on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import Claimed, ClaimTerms, SettleResult
from duetime.model.row_parts import Act, Concurrency
from duetime.model.slots import MOST_WAITING, KeySlots, SlotMove
from duetime.model.transition import started
from duetime.ports.action_store import ActionStore
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    LEASE,
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
from duetime_contract.subject import StoreContract

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
            payload_size=len(LARGE) if payload_offloaded else 0,
            concurrency=Concurrency(key, limit),
        ),
    )


def slots_of(store: ActionStore, key: str = KEY, tenant_id: TenantId = ACME) -> KeySlots:
    """The slots of a key, as they are now."""
    return store.key_slots(tenant_id, key)


def holders(store: ActionStore, key: str = KEY, tenant_id: TenantId = ACME) -> set[ActionId]:
    """Who holds the slots of a key."""
    return {*slots_of(store, key, tenant_id).holders}


def take(store: ActionStore, row: Action, slots: KeySlots | None = None) -> bool:
    """Take a slot for a row, by the slots as they are now; whether it has one."""
    slots = slots or slots_of(store, row.slot_key, row.tenant_id)
    return store.take_slot(row, slots, NOON)


def begin(store: ActionStore, ref: ActionRef, claim_terms: ClaimTerms | None = None) -> bool:
    """Take a slot for a row as it is now, and claim it; whether it has begun."""
    row = stored_row(store, ref)
    slots = slots_of(store, row.slot_key, row.tenant_id)
    has_slot = slots.has_token(row) or take(store, row, slots)
    return has_slot and isinstance(store.claim(row, claim_terms or terms()), Claimed)


def holding(store: ActionStore, *, limit: int = 1) -> Action:
    """A row claimed at noon with a slot of its key."""
    ref = keyed(store, limit=limit).ref
    assert begin(store, ref)
    return stored_row(store, ref)


def waiting(store: ActionStore, number: int = 1, *, limit: int = 1) -> list[Action]:
    """Rows in the line of the key, the first in front."""
    rows = [keyed(store, limit=limit) for _ in range(number)]
    assert all(store.wait_for_slot(row, slots_of(store)) for row in rows)
    return rows


def move_of(store: ActionStore, freed: Action | None = None, *passed: Action, **more: Any) -> SlotMove:
    """The move of one holder, and of rows in the line, by the slots as they are now."""
    slots = slots_of(store)
    return SlotMove(
        before=slots,
        freed=None if freed is None else freed.id,
        passed=passed,
        dropped=frozenset(slots.waiting.index(row.id) for row in passed),
        at=NOON + SECOND,
        **more,
    )


class KeyedContract(StoreContract):
    """A run that holds a slot of its key, for the parts that need one."""

    @pytest.fixture
    def run(self, store: ActionStore) -> Action:
        """An action claimed at noon with the only slot of its key."""
        return holding(store)


class SlotContract(KeyedContract):
    """*take* and *claim under a concurrency key*."""

    @pytest.fixture
    def keyed_action(self, store: ActionStore) -> Action:
        return keyed(store)

    def test_a_concurrency_key_and_its_limit_are_read_back(self, store: ActionStore) -> None:
        action = keyed(store, limit=LIMIT)
        assert store.get(action.ref) == action
        assert list(store.get_rows([action.ref])) == [action]

    def test_an_unused_key_has_neither_holders_nor_a_line(self, store: ActionStore) -> None:
        keyed(store)
        assert slots_of(store) == KeySlots(ACME, KEY)

    def test_a_row_that_is_not_due_is_not_claimed_with_any_key(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        assert store.claim(keyed_action, terms(NOON - TICK)) is None
        store.cancel(keyed_action, by=CALLER, at=NOON, kept_until=EXPIRY)
        assert store.claim(keyed_action, terms()) is None

    def test_a_take_leaves_the_row_and_stores_its_fence(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        row = replace(keyed_action, fence=7)
        assert take(store, row)
        slots = slots_of(store)
        assert (slots.holders, slots.waiting, slots.taken_at) == ({row.id: 7}, (), NOON)
        assert slots.has_token(row)
        assert store.get(row.ref) == keyed_action

    def test_a_repeated_take_is_the_same_take(self, store: ActionStore, keyed_action: Action) -> None:
        slots = slots_of(store)
        assert take(store, keyed_action, slots)
        assert take(store, keyed_action, slots)
        assert holders(store) == {keyed_action.id}

    def test_fewer_than_the_limit_may_hold_slots_beside_it(self, store: ActionStore) -> None:
        rows = [keyed(store, limit=LIMIT) for _ in range(LIMIT + 1)]
        assert [take(store, row) for row in rows] == [True] * LIMIT + [False]
        assert holders(store) == {row.id for row in rows[:-1]}

    def test_each_take_has_its_own_limit(self, store: ActionStore) -> None:
        holding(store, limit=1)
        assert not take(store, keyed(store, limit=1))
        assert take(store, keyed(store, limit=2))
        assert not take(store, keyed(store, limit=2))

    def test_a_slot_that_was_free_at_the_read_is_not_taken_twice(self, store: ActionStore) -> None:
        for limit in (1, LIMIT):
            one, other = (keyed(store, key=f"till-{limit}", limit=limit) for _ in range(2))
            slots = slots_of(store, f"till-{limit}")
            assert [take(store, row, slots) for row in (one, other)] == [True, False]
            assert take(store, other) is (limit > 1)

    def test_a_holder_gets_no_lower_fence_than_it_has(self, store: ActionStore, keyed_action: Action) -> None:
        take(store, replace(keyed_action, fence=2))
        assert not take(store, keyed_action)
        assert slots_of(store).holders == {keyed_action.id: 2}

    def test_a_holder_gets_its_new_fence_beside_any_others(self, store: ActionStore, run: Action) -> None:
        assert take(store, keyed(store, limit=2))
        assert take(store, run)
        assert slots_of(store).holders[run.id] == run.fence == 1

    def test_a_holder_whose_slot_was_freed_or_taken_again_gets_no_new_fence(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        late = replace(keyed_action, fence=1)
        take(store, keyed_action)
        slots = slots_of(store)
        take(store, replace(keyed_action, fence=2))
        assert not take(store, late, slots)
        store.move_slots(move_of(store, keyed_action))
        assert not take(store, late, slots)
        assert holders(store) == set()

    def test_nobody_takes_a_slot_before_those_that_joined_the_line_meanwhile(
        self, store: ActionStore
    ) -> None:
        holding(store)
        wide, slots = keyed(store, limit=2), slots_of(store)
        waiting(store)
        assert not take(store, wide, slots)
        assert take(store, wide)

    def test_other_keys_and_other_tenants_have_slots_of_their_own(self, store: ActionStore) -> None:
        holding(store)
        others = [keyed(store, key=f"{KEY}0"), keyed(store, tenant_id=GLOBEX)]
        assert all(begin(store, other.ref) for other in others)
        assert holders(store, tenant_id=GLOBEX) == {others[1].id}

    def test_every_valid_key_has_slots(self, store: ActionStore) -> None:
        for key in ("é", "a b", "slots", "ab" * 64):
            assert begin(store, keyed(store, key=key).ref)
            assert len(holders(store, key)) == 1

    @pytest.mark.parametrize("payload_offloaded", [False, True], ids=["payload in the row", "payload apart"])
    def test_a_claim_with_a_slot_begins_a_run_as_a_claim_does(
        self, store: ActionStore, payload_offloaded: bool
    ) -> None:
        action, claim_terms = keyed(store, payload_offloaded=payload_offloaded), terms()
        assert begin(store, action.ref, claim_terms)
        assert store.get(action.ref) == started(action, claim_terms)
        assert holders(store) == {action.id}

    def test_a_claim_repeated_with_its_nonce_is_the_same_claim_with_a_slot(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        claim_terms = terms()
        claimed = Claimed(started(keyed_action, claim_terms))
        assert store.claim(keyed_action, claim_terms) == claimed
        assert store.claim(keyed_action, claim_terms) == claimed
        assert store.get(keyed_action.ref) == claimed.action

    def test_of_two_claims_with_one_slot_the_first_wins(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        take(store, keyed_action)
        won = store.claim(keyed_action, terms())
        assert isinstance(won, Claimed)
        assert not isinstance(store.claim(keyed_action, terms(nonce="another")), Claimed)
        assert store.get(keyed_action.ref) == won.action

    def test_a_row_that_changed_since_it_was_read_is_not_claimed_with_a_slot(
        self, store: ActionStore, keyed_action: Action
    ) -> None:
        store.reschedule(keyed_action, NOON, by=CALLER, at=NOON)
        changed = stored_row(store, keyed_action.ref)
        assert not isinstance(store.claim(keyed_action, terms()), Claimed)
        assert store.get(keyed_action.ref) == changed

    def test_a_row_that_is_gone_is_not_claimed_with_a_slot(self, store: ActionStore) -> None:
        stranger = replace(fresh(store), concurrency=Concurrency(KEY))
        assert not isinstance(store.claim(stranger, terms()), Claimed)
        assert store.get(stranger.ref) is None

    def test_a_dead_run_that_holds_a_slot_is_taken_over_with_it(self, store: ActionStore) -> None:
        dead, claim_terms = holding(store), terms(ORPHANED_AT)
        assert begin(store, dead.ref, claim_terms)
        row = stored_row(store, dead.ref)
        assert row == started(dead, claim_terms)
        assert (row.fence, row.attempt, row.recoveries) == (2, 1, 1)
        assert slots_of(store).holders == {dead.id: 1}

    def test_a_run_that_renewed_its_lease_in_the_last_moment_is_not_taken_over_with_its_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        assert store.renew(run, ORPHANED_AT + LEASE)
        assert not isinstance(store.claim(run, terms(ORPHANED_AT)), Claimed)
        assert stored_row(store, run.ref).fence == 1

    def test_a_request_to_cancel_survives_a_take_over_with_a_slot(
        self, store: ActionStore, run: Action
    ) -> None:
        store.ask_to_cancel(run, by=CALLER, at=NOON + SECOND)
        assert isinstance(store.claim(run, terms(ORPHANED_AT)), Claimed)
        row = stored_row(store, run.ref)
        assert (row.fence, row.cancel_request) == (2, Act(NOON + SECOND, CALLER))

    @pytest.mark.parametrize("status", ENDS)
    def test_a_settle_and_a_commit_leave_the_slot(self, store: ActionStore, status: Status) -> None:
        run, committed = holding(store, limit=2), holding(store, limit=2)
        assert store.settle(run, end(status)) is SettleResult.SETTLED
        assert store.commit(committed, end(Status.EXECUTED), entries=(), number=1) is SettleResult.SETTLED
        assert holders(store) == {run.id, committed.id}

    def test_a_redriven_action_has_its_concurrency_key_still(self, store: ActionStore) -> None:
        run = holding(store, limit=LIMIT)
        store.settle(run, end(Status.FAILED))
        store.redrive(stored_row(store, run.ref), NOON + HOUR, by=CALLER, at=NOON + HOUR)
        row = stored_row(store, run.ref)
        assert (row.slot_key, row.slot_limit) == (KEY, LIMIT)
        assert begin(store, run.ref, terms(NOON + HOUR))

    def test_no_list_shows_the_holder_of_a_slot(self, store: ActionStore, run: Action) -> None:
        assert [row.id for row in store.of_tenant(ACME, limit=10, cursor=None)] == [run.id]


class LineContract(KeyedContract):
    """*wait*, *free* and *pass*: the line of a key, and the moves of its slots."""

    def test_those_that_wait_are_in_the_order_in_which_they_joined(
        self, store: ActionStore, run: Action
    ) -> None:
        rows = waiting(store, 3)
        assert slots_of(store).waiting == tuple(row.id for row in rows)
        assert holders(store) == {run.id}

    def test_nobody_waits_while_a_slot_is_free(self, store: ActionStore) -> None:
        one, slots = keyed(store), slots_of(store)
        assert not store.wait_for_slot(one, slots)
        holding(store)
        assert not store.wait_for_slot(keyed(store, limit=2), slots)
        assert store.wait_for_slot(one, slots)

    def test_a_full_line_has_no_room(self, store: ActionStore) -> None:
        holding(store)
        rows = waiting(store, MOST_WAITING)
        assert not store.wait_for_slot(keyed(store), slots_of(store))
        assert slots_of(store).waiting == tuple(row.id for row in rows)
        assert not slots_of(store).has_room()

    def test_a_freed_slot_may_be_taken(self, store: ActionStore, run: Action) -> None:
        assert store.move_slots(move_of(store, run))
        assert (holders(store), slots_of(store).waiting) == (set(), ())
        assert begin(store, keyed(store).ref)

    def test_a_slot_is_passed_to_the_first_of_the_line_with_its_fence(
        self, store: ActionStore, run: Action
    ) -> None:
        first, second = waiting(store, 2)
        assert store.move_slots(move_of(store, run, replace(first, fence=5)))
        slots = slots_of(store)
        assert (slots.holders, slots.waiting) == ({first.id: 5}, (second.id,))
        assert slots.taken_at == NOON + SECOND

    def test_several_slots_are_passed_at_once_and_others_leave_the_line(self, store: ActionStore) -> None:
        runs = [holding(store, limit=2) for _ in range(2)]
        rows = waiting(store, 4, limit=2)
        assert store.move_slots(move_of(store, runs[0]))
        move = move_of(store, None, rows[1])
        assert store.move_slots(replace(move, dropped=frozenset({0, 1, 3})))
        assert holders(store) == {runs[1].id, rows[1].id}
        assert slots_of(store).waiting == (rows[2].id,)

    def test_a_slot_is_passed_from_no_holder(self, store: ActionStore, run: Action) -> None:
        (first,) = waiting(store)
        assert store.move_slots(move_of(store, run))
        assert store.move_slots(move_of(store, None, first))
        assert slots_of(store).holders == {first.id: 0}

    def test_a_repeated_move_is_the_same_move(self, store: ActionStore, run: Action) -> None:
        (first,) = waiting(store)
        move = move_of(store, run, first)
        assert [store.move_slots(move), store.move_slots(move)] == [True, True]
        assert holders(store) == {first.id}

    def test_a_late_free_frees_no_slot_that_was_taken_again(self, store: ActionStore, run: Action) -> None:
        late = move_of(store, run)
        store.settle(run, end(Status.PENDING))
        row = stored_row(store, run.ref)
        assert begin(store, row.ref, terms(NOON + 2 * HOUR))
        assert not store.move_slots(late)
        assert holders(store) == {run.id}

    def test_a_slot_is_freed_beside_another_that_was_taken_since(self, store: ActionStore) -> None:
        run = holding(store, limit=2)
        move, other = move_of(store, run), holding(store, limit=2)
        assert store.move_slots(move)
        assert holders(store) == {other.id}

    def test_a_slot_is_not_freed_past_an_action_that_has_joined_the_line(
        self, store: ActionStore, run: Action
    ) -> None:
        late = move_of(store, run)
        (first,) = waiting(store)
        assert not store.move_slots(late)
        assert store.move_slots(move_of(store, run, first))

    def test_a_slot_is_passed_on_beside_an_action_that_has_joined_the_line(
        self, store: ActionStore, run: Action
    ) -> None:
        (first,) = waiting(store)
        move = move_of(store, run, first)
        (second,) = waiting(store)
        assert store.move_slots(move)
        assert (holders(store), slots_of(store).waiting) == ({first.id}, (second.id,))

    def test_a_late_pass_changes_nothing(self, store: ActionStore, run: Action) -> None:
        first, second = waiting(store, 2)
        late = move_of(store, run, second)
        assert store.move_slots(move_of(store, run, first))
        before = slots_of(store)
        assert not store.move_slots(late)
        assert slots_of(store) == before

    def test_a_slot_is_not_passed_if_the_holders_have_changed(self, store: ActionStore) -> None:
        run, other = holding(store, limit=LIMIT), keyed(store, limit=LIMIT)
        slots = slots_of(store)
        move = SlotMove(before=slots, passed=(other,), at=NOON)
        assert take(store, keyed(store, limit=LIMIT))
        assert not store.move_slots(move)
        assert run.id in holders(store)
        assert other.id not in holders(store)

    def test_the_tail_of_a_line_is_in_the_order_of_due_times(self, store: ActionStore) -> None:
        rows = [keyed(store) for _ in range(3)]
        places = (2, 0, 1)
        rows = [replace(row, due_at=NOON - place * SECOND) for row, place in zip(rows, places, strict=True)]
        for row in rows:
            store.join_tail(row, NOON)
            store.join_tail(row, NOON + HOUR)
        entries = store.tail(ACME, KEY, limit=9)
        assert [(entry.action_id, entry.joined_at) for entry in entries] == [
            (rows[place].id, NOON) for place in (0, 2, 1)
        ]
        assert store.tail(ACME, KEY, limit=2) == entries[:2]
        assert [store.tail(*other, limit=9) for other in ((ACME, "customer:4"), (GLOBEX, KEY))] == [[], []]

    def test_an_action_that_has_joined_the_tail_again_stays(self, store: ActionStore) -> None:
        one, other = keyed(store), keyed(store)
        store.join_tail(one, NOON)
        store.join_tail(other, NOON)
        late = store.tail(ACME, KEY, limit=9)
        store.leave_tail(ACME, KEY, [entry for entry in late if entry.action_id == one.id])
        store.join_tail(one, NOON + HOUR)
        store.leave_tail(ACME, KEY, late)
        assert [entry.joined_at for entry in store.tail(ACME, KEY, limit=9)] == [NOON + HOUR]

    def test_a_mark_of_the_tail_returns_the_key_as_it_is_then(self, store: ActionStore) -> None:
        holding(store)
        slots = slots_of(store)
        marked = store.mark_tail(ACME, KEY, NOON + HOUR)
        assert marked == replace(slots, has_tail=True) == slots_of(store)
        assert store.mark_tail(ACME, KEY, NOON + HOUR) == marked
        assert store.mark_tail(ACME, "new", NOON).has_tail

    def test_none_joins_the_line_before_its_tail(self, store: ActionStore) -> None:
        holding(store)
        waiting(store)
        slots = store.mark_tail(ACME, KEY, NOON)
        assert not slots.has_room()
        assert not store.wait_for_slot(keyed(store), slots)

    def test_a_slot_is_not_freed_or_taken_past_a_tail_that_has_begun(
        self, store: ActionStore, run: Action
    ) -> None:
        free, taken = move_of(store, run), slots_of(store)
        store.mark_tail(ACME, KEY, NOON)
        assert not store.move_slots(free)
        assert not take(store, keyed(store, limit=2), taken)
        assert store.move_slots(move_of(store, run))
        assert take(store, keyed(store, limit=2))

    def test_a_move_appends_the_first_of_the_tail(self, store: ActionStore, run: Action) -> None:
        first, second = waiting(store, 2)
        others = tuple(keyed(store).id for _ in range(2))
        store.mark_tail(ACME, KEY, NOON)
        move = move_of(store, run, first, appended=others)
        assert [store.move_slots(move), store.move_slots(move)] == [True, True]
        slots = slots_of(store)
        assert ({*slots.holders}, slots.waiting) == ({first.id}, (second.id, *others))
        assert slots.has_tail

    def test_a_move_appends_to_an_empty_line(self, store: ActionStore, run: Action) -> None:
        other = keyed(store)
        store.mark_tail(ACME, KEY, NOON)
        late = move_of(store, run, appended=(other.id,))
        assert store.move_slots(move_of(store, appended=(other.id,)))
        assert slots_of(store).waiting == (other.id,)
        assert not store.move_slots(replace(late, appended=(keyed(store).id,)))

    def test_a_move_that_appends_needs_the_line_as_read(self, store: ActionStore, run: Action) -> None:
        first, second = waiting(store, 2)
        other = keyed(store)
        late = move_of(store, appended=(other.id,))
        assert store.move_slots(move_of(store, run, first))
        assert not store.move_slots(late)
        assert slots_of(store).waiting == (second.id,)

    def test_a_move_ends_a_tail(self, store: ActionStore, run: Action) -> None:
        store.mark_tail(ACME, KEY, NOON)
        end_tail = move_of(store, ends_tail=True)
        assert store.move_slots(end_tail)
        assert not slots_of(store).has_tail
        assert slots_of(store).has_room()
        store.mark_tail(ACME, KEY, NOON)
        assert store.move_slots(move_of(store, run, ends_tail=True))
        assert (slots_of(store).has_tail, holders(store)) == (False, set())

    def test_a_late_end_of_a_tail_frees_no_slot(self, store: ActionStore, run: Action) -> None:
        store.mark_tail(ACME, KEY, NOON)
        late = move_of(store, run, ends_tail=True)
        assert store.move_slots(move_of(store, ends_tail=True))
        assert not store.move_slots(late)
        assert holders(store) == {run.id}

    def test_a_line_that_has_moved_is_not_shortened_as_it_was_read(
        self, store: ActionStore, run: Action
    ) -> None:
        first, second, third = waiting(store, 3)
        late = replace(move_of(store), dropped=frozenset({1}))
        assert store.move_slots(move_of(store, run, first))
        store.move_slots(late)
        assert slots_of(store).waiting == (second.id, third.id)
