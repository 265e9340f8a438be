"""Rows that are put, alone and in bulk, and payloads stored apart from their rows."""
# ruff: noqa: D102, S101, PLR2004 - a test's name is its sentence

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from duetime.errors import Unsupported
from duetime.ids import new_action_id
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import Applied, Claimed
from duetime.model.new_action import PAYLOAD_LIMIT
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import (
    ACME,
    CALLER,
    GLOBEX,
    HOUR,
    NOON,
    ORPHANED_AT,
    claim,
    due_time_in_index,
    end,
    fresh,
    put,
    stored_row,
    terms,
    unchanged,
)
from duetime_contract.subject import StoreContract

MANY = 60
LATER = NOON + HOUR
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
LARGE = '{"text":"' + "x" * 5_000 + '"}'


class SchedulingContract(StoreContract):
    """*schedule*: `put`, `put_many`, `entries`, and the reads by id."""

    def test_a_put_row_is_read_back(self, store: ActionStore) -> None:
        action = put(store, fresh(store, correlation_id="subscription:42"))
        assert store.get(action.ref) == action

    def test_a_put_row_has_its_payloads_version(self, store: ActionStore) -> None:
        action = put(store, replace(fresh(store), payload_version=3))
        assert stored_row(store, action.ref).payload_version == 3

    def test_a_put_row_stores_text_beyond_ascii(self, store: ActionStore) -> None:
        action = put(store, fresh(store, payload='{"name":"Zoë 🚀"}', correlation_id="commande n° 7"))
        assert store.get(action.ref) == action

    def test_the_row_retains_the_trace_of_its_scheduling(self, store: ActionStore) -> None:
        action = replace(fresh(store), trace=TRACE)
        store.put_many([action])
        assert store.get(action.ref) == action
        assert stored_row(store, action.ref).trace == TRACE
        store.reschedule(action, NOON, by="ops", at=NOON)
        held = claim(store, action.ref)
        store.settle(held, end(Status.FAILED, message="no paper"))
        store.redrive(stored_row(store, action.ref), LATER, by="ops", at=LATER)
        again = claim(store, action.ref, LATER)
        assert (held.trace, again.trace) == (TRACE, TRACE)
        store.settle(again, end(Status.EXECUTED, LATER))
        assert stored_row(store, action.ref).trace == TRACE

    def test_a_put_row_is_in_the_due_index(self, store: ActionStore, action: Action) -> None:
        assert self.due_time(store, action) == NOON

    def test_putting_twice_makes_one_row(self, store: ActionStore, action: Action) -> None:
        store.put(action)
        self.let_indexes_follow()
        assert [row.ref for row in store.of_tenant(ACME, limit=10, cursor=None)] == [action.ref]
        assert due_time_in_index(store, action) == NOON

    def test_putting_again_changes_nothing_in_a_row_that_has_run(
        self, store: ActionStore, action: Action
    ) -> None:
        store.settle(claim(store, action.ref), end(Status.EXECUTED))
        with unchanged(store.get, action.ref):
            store.put(action)

    def test_an_unknown_id_is_not_found(self, store: ActionStore) -> None:
        assert store.get(ActionRef(ACME, new_action_id(NOON))) is None

    def test_the_same_id_under_another_tenant_is_not_found(self, store: ActionStore, action: Action) -> None:
        assert store.get(ActionRef(GLOBEX, action.id)) is None
        assert store.get_rows([ActionRef(GLOBEX, action.id)]) == []

    def test_rows_are_read_by_the_hundred_and_missing_ones_left_out(self, store: ActionStore) -> None:
        actions = [fresh(store) for _ in range(110)]
        store.put_many(actions)
        strangers = [ActionRef(ACME, new_action_id(NOON)) for _ in range(10)]
        found = store.get_rows([*strangers, *(action.ref for action in actions)])
        assert sorted(row.id for row in found) == sorted(action.id for action in actions)

    def test_a_row_requested_twice_is_read_once(self, store: ActionStore, action: Action) -> None:
        assert store.get_rows([action.ref, action.ref]) == [action]

    def test_no_rows_are_read_for_no_references(self, store: ActionStore) -> None:
        assert store.get_rows([]) == []

    def test_many_are_put_with_the_large_payloads_among_them(
        self, store: ActionStore, many: list[Action]
    ) -> None:
        store.put_many(many)
        assert [store.get(action.ref) for action in many] == many

    def test_the_largest_payload_is_put_alone_and_in_bulk(self, store: ActionStore) -> None:
        text = json.dumps("x" * (PAYLOAD_LIMIT - len('""')))
        first, *rest = (fresh(store, payload=text, payload_offloaded=True) for _ in range(3))
        put(store, first)
        store.put_many(rest)
        assert [store.get(action.ref) for action in (first, *rest)] == [first, *rest]

    def test_putting_none_changes_nothing(self, store: ActionStore) -> None:
        store.put_many([])
        assert len(store.of_tenant(ACME, limit=10, cursor=None)) == 0

    def test_many_put_again_add_none(self, store: ActionStore, many: list[Action]) -> None:
        store.put_many(many)
        store.put_many(many)
        assert len(store.of_tenant(ACME, limit=2 * MANY, cursor=None)) == MANY

    def test_many_put_again_are_not_written_over_rows_claimed_meanwhile(
        self, store: ActionStore, many: list[Action]
    ) -> None:
        store.put_many(many)
        claimed = {place: claim(store, many[place].ref) for place in (0, 1, 30, 59)}
        store.put_many(many)
        assert {place: store.get(many[place].ref) for place in claimed} == claimed

    def test_many_put_again_after_only_some_were_put_are_all_there(
        self, store: ActionStore, many: list[Action]
    ) -> None:
        store.put_many(many[:40])
        store.put_many(many)
        assert len(store.get_rows([action.ref for action in many])) == MANY

    def test_two_tenants_rows_of_one_id_are_put_apart(self, store: ActionStore) -> None:
        action = fresh(store)
        twin = replace(action, tenant_id=GLOBEX)
        store.put_many([fresh(store), action, twin])
        assert (store.get(action.ref), store.get(twin.ref)) == (action, twin)

    def test_entries_for_a_callers_transaction_write_nothing_by_themselves(self, store: ActionStore) -> None:
        action = fresh(store)
        try:
            entries = store.entries(action)
        except Unsupported:
            entries = [{}]
        assert entries
        assert store.get(action.ref) is None

    @pytest.fixture
    def many(self, store: ActionStore) -> list[Action]:
        return [
            fresh(store, payload=LARGE if place % 10 == 0 else "{}", payload_offloaded=place % 10 == 0)
            for place in range(MANY)
        ]


class PayloadContract(StoreContract):
    """What the port says of a payload set apart."""

    @pytest.fixture
    def large(self, store: ActionStore) -> Action:
        return self._large(store)

    def test_a_row_is_read_with_its_payload_set_apart(self, store: ActionStore) -> None:
        assert stored_row(store, self._large(store).ref).payload == LARGE

    def test_a_claim_brings_the_payload_set_apart(self, store: ActionStore) -> None:
        assert claim(store, self._large(store).ref).payload == LARGE

    def test_a_repeated_claim_brings_it_too(self, store: ActionStore) -> None:
        claim_terms, action = terms(), self._large(store)
        assert store.claim(action, claim_terms) == store.claim(action, claim_terms)

    def test_a_take_over_brings_it_too(self, store: ActionStore, large: Action) -> None:
        claim(store, large.ref)
        taken = store.claim(stored_row(store, large.ref), terms(ORPHANED_AT))
        assert isinstance(taken, Claimed)
        assert taken.action.payload == LARGE

    def test_rows_read_together_come_without_it(self, store: ActionStore, large: Action) -> None:
        assert store.get_rows([large.ref]) == [large.without_payload()]

    def test_lists_show_no_payload_at_all(self, store: ActionStore) -> None:
        large = self._large(store, correlation_id="subscription:42")
        small = put(store, fresh(store, correlation_id="subscription:42", created_at=NOON))
        self.let_indexes_follow()
        shown = [large.without_payload(), small.without_payload()]
        assert [*store.by_correlation(ACME, "subscription:42", limit=10, cursor=None)] == shown
        assert [*store.of_tenant(ACME, limit=10, cursor=None)] == shown[::-1]

    def test_it_lasts_through_a_retry(self, store: ActionStore, large: Action) -> None:
        store.settle(claim(store, large.ref), end(Status.PENDING))
        assert claim(store, large.ref, NOON + 2 * HOUR).payload == LARGE

    def test_it_lasts_through_a_reschedule(self, store: ActionStore, large: Action) -> None:
        assert isinstance(store.reschedule(large, NOON + HOUR, by=CALLER, at=NOON), Applied)
        assert claim(store, large.ref, NOON + HOUR).payload == LARGE

    def test_it_lasts_through_a_redrive(self, store: ActionStore, large: Action) -> None:
        store.settle(claim(store, large.ref), end(Status.FAILED))
        failed = stored_row(store, large.ref)
        assert isinstance(store.redrive(failed, NOON + HOUR, by=CALLER, at=NOON + HOUR), Applied)
        assert claim(store, large.ref, NOON + HOUR).payload == LARGE

    def test_another_tenants_payload_of_the_same_id_is_another(
        self, store: ActionStore, large: Action
    ) -> None:
        store.put(replace(large, tenant_id=GLOBEX, payload=LARGE + " "))
        assert stored_row(store, large.ref).payload == LARGE

    def test_removing_the_payload_of_a_missing_row_changes_nothing(self, store: ActionStore) -> None:
        store.remove_payload(ActionRef(ACME, new_action_id(NOON)))

    def test_removing_one_payload_leaves_the_others(self, store: ActionStore, large: Action) -> None:
        store.remove_payload(ActionRef(ACME, new_action_id(NOON)))
        assert stored_row(store, large.ref).payload == LARGE

    def _large(self, store: ActionStore, correlation_id: str | None = None) -> Action:
        return put(store, fresh(store, payload=LARGE, payload_offloaded=True, correlation_id=correlation_id))
