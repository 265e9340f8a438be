"""Idempotency keys: one action for each, until its time has passed and the action is final."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest

from duetime.errors import KeyConflict
from duetime.ids import TenantId
from duetime.model.action import Action, Status
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import Applied, Rejected
from duetime.ports.action_store import ActionStore
from duetime_contract.races import CROWD, ROUNDS, together
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    applied,
    claim,
    end,
    fresh,
    stored_row,
)
from duetime_contract.subject import StoreContract

KEY = "order-17"
TTL = HOUR
LATER = NOON + TTL
"""When the time of a key has passed that was taken at noon."""

OTHER = '{"subscription_id":43}'


def under_key(
    store: ActionStore,
    *,
    key: str = KEY,
    tenant_id: TenantId = ACME,
    due_at: datetime = NOON,
    payload: str = '{"subscription_id":42}',
) -> Action:
    """Return an unwritten action with a key."""
    action = fresh(store, tenant_id=tenant_id, due_at=due_at, payload=payload)
    return replace(action, idempotency_key=key, payload_size=len(LARGE) if payload == LARGE else 0)


def key_from(at: datetime, ttl: timedelta = TTL) -> KeyTerms:
    """Return the terms of a key at an instant."""
    return KeyTerms(at, at + ttl)


def placed(store: ActionStore, at: datetime = NOON, payload: str = '{"subscription_id":42}') -> Action:
    """Schedule another action under the key at an instant; return the result."""
    return store.put_once(under_key(store, payload=payload), key_from(at))


def finished(store: ActionStore, action: Action, status: Status = Status.EXECUTED) -> Action:
    """The action, run to its end at noon."""
    store.settle(claim(store, action.ref), end(status))
    return stored_row(store, action.ref)


class IdempotencyContract(StoreContract):
    """*schedule, under a key*."""

    @pytest.fixture
    def first(self, store: ActionStore) -> Action:
        return placed(store)

    @pytest.fixture
    def previous(self, store: ActionStore) -> Action:
        return finished(store, placed(store))

    def test_a_row_that_was_put_with_a_key_is_read_back(self, store: ActionStore) -> None:
        action = replace(under_key(store), correlation_id="subscription:42")
        assert store.put_once(action, key_from(NOON)) == action
        assert store.get(action.ref) == action

    def test_the_same_key_again_gets_the_first_action_and_adds_none(
        self, store: ActionStore, first: Action
    ) -> None:
        assert placed(store, NOON + MINUTE) == first
        assert self._rows(store) == [first.ref]

    def test_the_due_time_is_not_compared(self, store: ActionStore, first: Action) -> None:
        assert store.put_once(under_key(store, due_at=NOON + HOUR), key_from(NOON)) == first

    def test_a_repeat_gets_the_action_as_it_is_by_then(self, store: ActionStore, first: Action) -> None:
        running = claim(store, first.ref)
        assert placed(store) == running
        store.settle(running, end(Status.EXECUTED))
        assert placed(store, NOON + MINUTE) == stored_row(store, first.ref)

    def test_the_same_call_again_changes_nothing_in_a_row_that_has_run(self, store: ActionStore) -> None:
        action = under_key(store)
        store.put_once(action, key_from(NOON))
        row = finished(store, action)
        assert store.put_once(action, key_from(NOON)).id == action.id
        assert self._rows(store) == [action.ref]
        assert store.get(action.ref) == row

    def test_the_same_call_again_changes_nothing_if_its_key_is_gone(self, store: ActionStore) -> None:
        action = under_key(store)
        store.put_once(action, key_from(NOON))
        row = finished(store, action)
        store.remove_key(action.ref, KEY)
        store.put_once(action, key_from(NOON))
        assert store.get(action.ref) == row

    @pytest.mark.parametrize("changed", [{"payload": OTHER}, {"type": "send-receipt"}], ids=str)
    def test_the_same_key_for_something_else_is_a_conflict_that_names_the_first_action(
        self, store: ActionStore, changed: dict[str, str], first: Action
    ) -> None:
        with pytest.raises(KeyConflict) as conflict:
            store.put_once(replace(under_key(store), **changed), key_from(NOON))  # type: ignore[arg-type]
        assert (conflict.value.key, conflict.value.action_id) == (KEY, first.id)
        assert self._rows(store) == [first.ref]

    def test_the_first_action_of_a_key_is_read_without_a_write(
        self, store: ActionStore, first: Action
    ) -> None:
        repeat = under_key(store)
        assert store.first_of_key(repeat, key_from(NOON)) == first
        assert store.first_of_key(under_key(store, key=f"{KEY}0"), key_from(NOON)) is None
        with pytest.raises(KeyConflict, match="idempotency key"):
            store.first_of_key(replace(repeat, payload=OTHER), key_from(NOON))
        ended = finished(store, first)
        assert store.first_of_key(repeat, key_from(NOON)) == ended
        assert store.first_of_key(repeat, key_from(NOON + TTL)) is None
        assert self._rows(store) == [first.ref]

    def test_another_key_is_another_action(self, store: ActionStore, first: Action) -> None:
        assert store.put_once(under_key(store, key=f"{KEY}0"), key_from(NOON)).id != first.id

    def test_another_tenants_same_key_is_another(self, store: ActionStore, first: Action) -> None:
        theirs = under_key(store, tenant_id=GLOBEX, payload=OTHER)
        assert store.put_once(theirs, key_from(NOON)) == theirs
        assert placed(store) == first

    def test_a_repeat_gets_a_large_payload_too(self, store: ActionStore) -> None:
        first = placed(store, payload=LARGE)
        assert placed(store, payload=LARGE) == first
        assert first.payload == LARGE
        with pytest.raises(KeyConflict, match="idempotency key"):
            placed(store, payload=f"[{LARGE}]")

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED])
    def test_a_key_holds_for_its_time_though_its_action_is_final(
        self, store: ActionStore, status: Status
    ) -> None:
        row = finished(store, placed(store), status)
        assert placed(store, LATER - SECOND) == row
        with pytest.raises(KeyConflict, match="idempotency key"):
            placed(store, LATER - SECOND, OTHER)

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED])
    def test_a_key_is_free_once_its_time_has_passed_and_its_action_is_final(
        self, store: ActionStore, status: Status
    ) -> None:
        previous = finished(store, placed(store), status)
        second = placed(store, LATER, OTHER)
        assert second.id != previous.id
        assert stored_row(store, second.ref) == second
        assert stored_row(store, previous.ref) == previous
        assert placed(store, LATER, OTHER) == second

    def test_the_key_of_an_action_that_was_cancelled_before_it_ran_is_free_after_its_time(
        self, store: ActionStore, first: Action
    ) -> None:
        store.cancel(first, by=CALLER, at=NOON, kept_until=EXPIRY)
        assert placed(store, LATER - SECOND).status is Status.CANCELLED
        assert placed(store, LATER).id != first.id

    def test_a_large_payload_takes_a_key_over(self, store: ActionStore, previous: Action) -> None:
        second = placed(store, LATER, LARGE)
        assert second.id != previous.id
        assert stored_row(store, second.ref).payload == LARGE

    def test_an_expired_key_applies_until_its_action_is_final(
        self, store: ActionStore, first: Action
    ) -> None:
        assert placed(store, LATER + HOUR) == first
        running = claim(store, first.ref)
        assert placed(store, LATER + HOUR) == running
        store.settle(running, end(Status.PENDING))
        assert placed(store, LATER + HOUR) == stored_row(store, first.ref)
        with pytest.raises(KeyConflict, match="idempotency key"):
            placed(store, LATER + HOUR, OTHER)

    def test_a_removed_key_is_free(self, store: ActionStore, previous: Action) -> None:
        store.remove_key(previous.ref, KEY)
        assert placed(store, NOON, OTHER).id != previous.id

    def test_a_key_that_another_action_has_taken_over_is_not_removed_with_the_former_row(
        self, store: ActionStore, previous: Action
    ) -> None:
        second = placed(store, LATER)
        store.remove_key(previous.ref, KEY)
        assert placed(store, LATER) == second

    def test_removing_an_unused_key_changes_nothing(self, store: ActionStore) -> None:
        store.remove_key(under_key(store).ref, KEY)

    def _rows(self, store: ActionStore) -> Sequence[object]:
        return [row.ref for row in store.of_tenant(ACME, limit=50, cursor=None)]


class KeyRedriveContract(StoreContract):
    """*redrive* of an action that was scheduled under a key."""

    @pytest.fixture
    def failed_keyed(self, store: ActionStore) -> Action:
        return finished(store, placed(store), Status.FAILED)

    def test_a_redriven_action_has_its_key_again(self, store: ActionStore, failed_keyed: Action) -> None:
        row = applied(store, failed_keyed.ref, store.redrive(failed_keyed, LATER, by="ops", at=LATER))
        assert (row.status, row.due_at, row.generation, row.kept_until) == (Status.PENDING, LATER, 2, None)
        assert placed(store, LATER + HOUR) == row

    def test_it_takes_a_key_again_that_was_removed_meanwhile(
        self, store: ActionStore, failed_keyed: Action
    ) -> None:
        store.remove_key(failed_keyed.ref, KEY)
        assert isinstance(store.redrive(failed_keyed, LATER, by="ops", at=LATER), Applied)
        assert placed(store, LATER) == stored_row(store, failed_keyed.ref)
        with pytest.raises(KeyConflict, match="idempotency key"):
            placed(store, LATER, OTHER)

    def test_it_retains_its_large_payload_and_its_key(self, store: ActionStore) -> None:
        failed = finished(store, placed(store, payload=LARGE), Status.FAILED)
        store.remove_key(failed.ref, KEY)
        store.redrive(failed, LATER, by="ops", at=LATER)
        assert placed(store, LATER, LARGE) == stored_row(store, failed.ref)

    def test_a_redrive_retains_the_time_of_a_key(self, store: ActionStore, failed_keyed: Action) -> None:
        store.redrive(failed_keyed, NOON, by="ops", at=NOON + MINUTE)
        row = finished(store, failed_keyed)
        assert placed(store, LATER - SECOND) == row
        assert placed(store, LATER).id != row.id

    def test_a_redrive_is_rejected_while_another_action_has_the_key(
        self, store: ActionStore, failed_keyed: Action
    ) -> None:
        second = placed(store, LATER)
        assert store.redrive(failed_keyed, LATER, by="ops", at=LATER) == Rejected(failed_keyed, second.id)
        assert store.get(failed_keyed.ref) == failed_keyed
        assert placed(store, LATER) == second

    def test_a_repeated_redrive_with_a_key_returns_the_first_result(
        self, store: ActionStore, failed_keyed: Action
    ) -> None:
        redrive = partial(store.redrive, failed_keyed, LATER, at=LATER)
        assert redrive(by="ops") == redrive(by="ops")
        assert redrive(by="another caller") == Rejected(stored_row(store, failed_keyed.ref))


class KeyRaceContract(StoreContract):
    """What holds when several schedule under one key at the same moment."""

    def test_of_many_that_schedule_under_one_key_at_once_one_makes_the_action_and_all_get_it(
        self, store: ActionStore
    ) -> None:
        answers = together([partial(placed, store) for _ in range(CROWD)])
        [row] = store.of_tenant(ACME, limit=50, cursor=None)
        assert answers == [stored_row(store, row.ref)] * CROWD

    def test_of_many_that_take_a_key_over_at_once_one_makes_the_action_and_all_get_it(
        self, store: ActionStore
    ) -> None:
        previous = finished(store, placed(store))
        answers = together([partial(placed, store, LATER) for _ in range(CROWD)])
        [row] = [found for found in store.of_tenant(ACME, limit=50, cursor=None) if found.ref != previous.ref]
        assert answers == [stored_row(store, row.ref)] * CROWD

    def test_of_two_payloads_under_one_key_at_once_exactly_one_wins(self, store: ActionStore) -> None:
        def ask(payload: str) -> Action | None:
            with suppress(KeyConflict):
                return placed(store, payload=payload)
            return None

        payloads = ['{"n":1}', '{"n":2}'] * (CROWD // 2)
        answers = together([partial(ask, payload) for payload in payloads])
        [row] = store.of_tenant(ACME, limit=50, cursor=None)
        winner = stored_row(store, row.ref)
        assert answers == [winner if payload == winner.payload else None for payload in payloads]

    def test_of_a_redrive_and_a_take_over_of_the_key_exactly_one_wins(self, store: ActionStore) -> None:
        for number in range(ROUNDS):
            key = f"{KEY}-{number}"
            failed = finished(store, store.put_once(under_key(store, key=key), key_from(NOON)), Status.FAILED)
            rival = under_key(store, key=key)
            redriven, got = together(
                [
                    partial(store.redrive, failed, LATER, by="ops", at=LATER),
                    partial(store.put_once, rival, key_from(LATER)),
                ]
            )
            row = stored_row(store, failed.ref)
            if isinstance(redriven, Applied):
                assert (row.status, got) == (Status.PENDING, row)
                assert store.get(rival.ref) is None
            else:
                assert redriven == Rejected(row, rival.id)
                assert (row.status, got) == (Status.FAILED, rival)
                assert store.get(rival.ref) == rival
