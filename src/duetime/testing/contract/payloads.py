"""A payload set apart: where it is shown, and where it is not paid for."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace

from duetime.ids import new_action_id
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import Applied, Claimed
from duetime.ports.actions import ActionStore
from duetime.testing.contract.specimens import (
    ACME,
    CALLER,
    GLOBEX,
    HOUR,
    NOON,
    ORPHANED_AT,
    claim,
    end,
    fresh,
    stored_row,
    terms,
)
from duetime.testing.contract.subject import StoreContract

LARGE = '{"text":"' + "x" * 5_000 + '"}'


class PayloadContract(StoreContract):
    """What the port says of a payload set apart."""

    def test_a_row_is_read_with_its_payload_set_apart(self, store: ActionStore) -> None:
        assert stored_row(store, self._large(store).ref).payload == LARGE

    def test_a_claim_brings_the_payload_set_apart(self, store: ActionStore) -> None:
        assert claim(store, self._large(store).ref).payload == LARGE

    def test_a_repeated_claim_brings_it_too(self, store: ActionStore) -> None:
        claim_terms, action = terms(), self._large(store)
        assert store.claim(action.ref, claim_terms) == store.claim(action.ref, claim_terms)

    def test_a_take_over_brings_it_too(self, store: ActionStore) -> None:
        action = self._large(store)
        claim(store, action.ref)
        taken = store.claim(action.ref, terms(ORPHANED_AT))
        assert isinstance(taken, Claimed)
        assert taken.action.payload == LARGE

    def test_rows_read_together_come_without_it(self, store: ActionStore) -> None:
        action = self._large(store)
        assert store.get_rows([action.ref]) == [action.without_payload()]

    def test_lists_show_no_payload_at_all(self, store: ActionStore) -> None:
        large = self._large(store, correlation_id="subscription:42")
        small = fresh(store, correlation_id="subscription:42", created_at=NOON)
        store.put(small)
        self.let_indexes_follow()
        shown = [large.without_payload(), small.without_payload()]
        assert [*store.by_correlation(ACME, "subscription:42", limit=10, cursor=None)] == shown
        assert [*store.of_tenant(ACME, limit=10, cursor=None)] == shown[::-1]

    def test_it_lasts_through_a_retry(self, store: ActionStore) -> None:
        action = self._large(store)
        store.settle(claim(store, action.ref), end(Status.PENDING))
        assert claim(store, action.ref, NOON + 2 * HOUR).payload == LARGE

    def test_it_lasts_through_a_reschedule(self, store: ActionStore) -> None:
        action = self._large(store)
        assert isinstance(store.reschedule(action.ref, NOON + HOUR, by=CALLER, at=NOON), Applied)
        assert claim(store, action.ref, NOON + HOUR).payload == LARGE

    def test_it_lasts_through_a_redrive(self, store: ActionStore) -> None:
        action = self._large(store)
        store.settle(claim(store, action.ref), end(Status.FAILED))
        assert isinstance(store.redrive(action.ref, NOON + HOUR, by=CALLER, at=NOON + HOUR), Applied)
        assert claim(store, action.ref, NOON + HOUR).payload == LARGE

    def test_another_tenants_payload_of_the_same_id_is_another(self, store: ActionStore) -> None:
        action = self._large(store)
        twin = replace(action, tenant_id=GLOBEX, payload=LARGE + " ")
        store.put(twin)
        assert stored_row(store, action.ref).payload == LARGE

    def test_removing_the_payload_of_no_row_is_nothing(self, store: ActionStore) -> None:
        store.remove_payload(ActionRef(ACME, new_action_id(NOON)))

    def test_removing_one_payload_leaves_the_others(self, store: ActionStore) -> None:
        action = self._large(store)
        store.remove_payload(ActionRef(ACME, new_action_id(NOON)))
        assert stored_row(store, action.ref).payload == LARGE

    def _large(self, store: ActionStore, correlation_id: str | None = None) -> Action:
        action = fresh(store, payload=LARGE, payload_offloaded=True, correlation_id=correlation_id)
        store.put(action)
        return action
