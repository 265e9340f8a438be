"""Lists of a tenant's actions, failed ones too: complete, in order, page by page, of this tenant only."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from duetime.errors import InvalidCursor
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, Status
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import Page
from duetime_contract.job_specimens import occurrence, recorded
from duetime_contract.specimens import (
    ACME,
    GLOBEX,
    HOUR,
    NOON,
    SECOND,
    claim,
    end,
    fresh,
    pages,
    running,
    scheduled,
    stored_row,
)
from duetime_contract.subject import StoreContract

SUBSCRIPTION = "subscription:42"


class ListContract(StoreContract):
    """`of_tenant` and `by_correlation`."""

    def test_a_tenants_actions_come_newest_first(self, store: ActionStore) -> None:
        actions = self._spread(store, 40)
        listed = store.of_tenant(ACME, limit=100, cursor=None)
        assert [row.id for row in listed] == [action.id for action in reversed(actions)]
        assert listed.cursor is None

    @pytest.mark.parametrize("limit", [1, 7, 20])
    def test_pages_of_a_tenants_list_lose_and_double_none(self, store: ActionStore, limit: int) -> None:
        actions = self._spread(store, 20)
        listed = pages(lambda cursor: store.of_tenant(ACME, limit=limit, cursor=cursor), limit)
        assert [row.id for row in listed] == [action.id for action in reversed(actions)]

    def test_a_new_row_moves_no_page(self, store: ActionStore) -> None:
        actions = self._spread(store, 9)
        first = store.of_tenant(ACME, limit=5, cursor=None)
        store.put(fresh(store, created_at=NOON + HOUR))
        rest = store.of_tenant(ACME, limit=5, cursor=first.cursor)
        assert [row.id for row in (*first, *rest)] == [action.id for action in reversed(actions)]

    def test_a_tenant_without_actions_has_an_empty_list(self, store: ActionStore) -> None:
        scheduled(store, tenant_id=GLOBEX)
        listed = store.of_tenant(ACME, limit=10, cursor=None)
        assert (listed.actions, listed.cursor) == ((), None)

    def test_a_tenants_list_shows_its_own_actions_only(self, store: ActionStore, action: Action) -> None:
        scheduled(store, tenant_id=GLOBEX)
        assert [row.ref for row in store.of_tenant(ACME, limit=10, cursor=None)] == [action.ref]

    @pytest.mark.parametrize("status", list(Status))
    def test_lists_show_the_current_row_in_every_status(self, store: ActionStore, status: Status) -> None:
        row = self.bring_to(store, status).without_payload()
        assert [*store.of_tenant(ACME, limit=10, cursor=None)] == [row]

    def test_actions_of_a_correlation_id_come_oldest_first(self, store: ActionStore) -> None:
        actions = self._spread(store, 12, correlation_id=SUBSCRIPTION)
        assert self._correlated(store) == [action.without_payload() for action in actions]

    @pytest.mark.parametrize("limit", [1, 5, 12])
    def test_pages_of_a_correlation_id_lose_and_double_none(self, store: ActionStore, limit: int) -> None:
        actions = self._spread(store, 12, correlation_id=SUBSCRIPTION)
        assert [row.id for row in self._correlated(store, limit)] == [action.id for action in actions]

    def test_settled_actions_stay_in_their_correlations_list(self, store: ActionStore) -> None:
        action = scheduled(store, correlation_id=SUBSCRIPTION)
        store.settle(claim(store, action.ref), end(Status.EXECUTED))
        assert self._correlated(store) == [stored_row(store, action.ref).without_payload()]

    def test_another_tenants_same_correlation_id_is_unseen(self, store: ActionStore) -> None:
        mine = scheduled(store, correlation_id=SUBSCRIPTION)
        scheduled(store, correlation_id=SUBSCRIPTION, tenant_id=GLOBEX)
        assert [row.ref for row in self._correlated(store)] == [mine.ref]

    def test_a_longer_correlation_id_is_another(self, store: ActionStore) -> None:
        scheduled(store, correlation_id=SUBSCRIPTION + "0")
        scheduled(store)
        assert self._correlated(store) == []

    def _correlated(self, store: ActionStore, limit: int = 100) -> Sequence[Action]:
        self.let_indexes_follow()
        return pages(
            lambda cursor: store.by_correlation(ACME, SUBSCRIPTION, limit=limit, cursor=cursor), limit
        )

    def _spread(self, store: ActionStore, many: int, correlation_id: str | None = None) -> Sequence[Action]:
        """Rows made a second apart, oldest first; their ids' last digits go through all shards."""
        actions = [
            _in_shard(fresh(store, created_at=NOON + place * SECOND, correlation_id=correlation_id), place)
            for place in range(many)
        ]
        store.put_many(actions[::2] + actions[1::2])
        return actions


def _in_shard(action: Action, place: int) -> Action:
    return replace(action, id=type(action.id)(f"{action.id[:-1]}{place % 16:x}"))


class FailedContract(StoreContract):
    """`failed`."""

    @pytest.mark.parametrize("status", list(Status))
    def test_the_failed_list_shows_failed_rows_and_no_others(
        self, store: ActionStore, status: Status
    ) -> None:
        row = self.bring_to(store, status).without_payload()
        assert self._failed(store) == ([row] if status is Status.FAILED else [])

    def test_a_row_that_is_to_be_tried_again_has_not_failed(self, store: ActionStore) -> None:
        store.settle(running(store), end(Status.PENDING))
        assert self._failed(store) == []

    def test_the_latest_failure_comes_first_whenever_it_was_scheduled(self, store: ActionStore) -> None:
        rows = [self._fail(store, NOON + place % 5 * SECOND + place * HOUR) for place in (3, 0, 4, 1, 2)]
        assert self._failed(store) == [rows[place].without_payload() for place in (2, 0, 4, 3, 1)]

    def test_those_that_failed_at_one_instant_come_by_id_the_highest_first(self, store: ActionStore) -> None:
        rows = [self._fail(store) for _ in range(12)]
        assert [row.id for row in self._failed(store)] == sorted((row.id for row in rows), reverse=True)

    @pytest.mark.parametrize("limit", [1, 2, 7, 24])
    def test_pages_of_the_failed_list_lose_and_double_none(self, store: ActionStore, limit: int) -> None:
        rows = [self._fail(store, NOON + place // 6 * SECOND, shard="7") for place in range(18)]
        rows += [self._fail(store, NOON + place * SECOND) for place in range(6)]
        expected = sorted(rows, key=lambda row: (row.failed_at, row.id), reverse=True)
        assert [row.id for row in self._failed(store, limit=limit)] == [row.id for row in expected]

    def test_a_new_failure_moves_no_page(self, store: ActionStore) -> None:
        rows = [self._fail(store, NOON + place * SECOND) for place in range(9)]
        first = self._failed_page(store)
        self._fail(store, NOON + HOUR)
        assert [row.id for row in (*first, *self._failed_page(store, first.cursor))] == [
            row.id for row in reversed(rows)
        ]

    def test_a_redriven_row_leaves_the_failed_list(self, store: ActionStore) -> None:
        redriven, other = self._fail(store), self._fail(store)
        store.redrive(redriven, NOON + HOUR, by="ops", at=NOON + HOUR)
        assert [row.ref for row in self._failed(store)] == [other.ref]

    def test_a_redrive_between_pages_hides_no_other_row(self, store: ActionStore) -> None:
        rows = [self._fail(store, NOON + place * SECOND) for place in range(8)]
        first = self._failed_page(store)
        for row in first:
            store.redrive(row, NOON + HOUR, by="ops", at=NOON + HOUR)
        assert [row.ref for row in self._failed_page(store, first.cursor)] == [row.ref for row in rows[2::-1]]

    def test_a_row_that_failed_again_is_listed_by_its_latest_failure(self, store: ActionStore) -> None:
        again, once = self._fail(store), self._fail(store, NOON + SECOND)
        store.redrive(again, NOON + HOUR, by="ops", at=NOON + HOUR)
        store.settle(claim(store, again.ref, NOON + HOUR), end(Status.FAILED, NOON + HOUR + SECOND))
        assert [row.ref for row in self._failed(store)] == [again.ref, once.ref]

    def test_runs_of_jobs_and_recorded_ones_are_in_the_failed_list(self, store: ActionStore) -> None:
        run, row = occurrence(store), recorded(store, NOON + HOUR, status=Status.FAILED)
        store.put(run)
        store.settle(claim(store, run.ref), end(Status.FAILED))
        store.record(row)
        store.record(recorded(store, NOON + 2 * HOUR))
        assert {row.ref for row in self._failed(store)} == {run.ref, row.ref}

    @pytest.mark.parametrize("limit", [1, 3, 50])
    def test_the_failed_lists_of_several_tenants_are_one(self, store: ActionStore, limit: int) -> None:
        rows = [
            self._fail(store, NOON + place * SECOND, tenant_id=(ACME, GLOBEX)[place % 2])
            for place in range(8)
        ]
        assert [row.ref for row in self._failed(store, ACME, GLOBEX, limit=limit)] == [
            row.ref for row in reversed(rows)
        ]

    @pytest.mark.parametrize("limit", [1, 5])
    def test_two_tenants_runs_of_one_name_that_fail_at_one_instant_are_both_shown(
        self, store: ActionStore, limit: int
    ) -> None:
        run = recorded(store, status=Status.FAILED)
        theirs = replace(run, tenant_id=GLOBEX)
        store.record(run)
        store.record(theirs)
        assert [row.ref for row in self._failed(store, ACME, GLOBEX, limit=limit)] == [theirs.ref, run.ref]

    def test_the_failed_list_shows_no_other_tenants_actions(self, store: ActionStore) -> None:
        mine = self._fail(store)
        self._fail(store, tenant_id=GLOBEX)
        self._fail(store, tenant_id=TenantId("acme2"))
        assert [row.ref for row in self._failed(store)] == [mine.ref]

    @pytest.mark.parametrize(
        "made_up",
        [
            "",
            "x",
            "2030-06-01T12:00:00.000000Z",
            "2030-06-01T12:00:00.000000Z x acme",
            "2030-06-01T12:00:00Z {id} acme",
            "0001-01-01T00:00:00.000000+14:00 {id} acme",
            "2030-06-01T12:00:00.000000Z {id} globex",
            "{id}",
            "\ud800",
        ],
    )
    def test_a_forged_cursor_of_the_failed_list_is_rejected(self, store: ActionStore, made_up: str) -> None:
        row = self._fail(store)
        with pytest.raises(InvalidCursor):
            store.failed([ACME], limit=5, cursor=made_up.replace("{id}", row.id))

    def test_another_tenants_cursor_is_rejected(self, store: ActionStore) -> None:
        for _ in range(3):
            self._fail(store, tenant_id=GLOBEX)
        theirs = self._failed_page(store, tenant_id=GLOBEX, limit=1).cursor
        assert theirs is not None
        with pytest.raises(InvalidCursor):
            store.failed([ACME], limit=1, cursor=theirs)

    def _fail(
        self,
        store: ActionStore,
        at: datetime = NOON,
        *,
        tenant_id: TenantId = ACME,
        shard: str | None = None,
    ) -> Action:
        action = fresh(store, tenant_id=tenant_id)
        if shard is not None:
            action = replace(action, id=ActionId(action.id[:-1] + shard))
        store.put(action)
        store.settle(claim(store, action.ref, NOON), end(Status.FAILED, at))
        return stored_row(store, action.ref)

    def _failed_page(
        self, store: ActionStore, cursor: str | None = None, *, tenant_id: TenantId = ACME, limit: int = 5
    ) -> Page:
        self.let_indexes_follow()
        return store.failed([tenant_id], limit=limit, cursor=cursor)

    def _failed(self, store: ActionStore, *tenants: TenantId, limit: int = 50) -> Sequence[Action]:
        self.let_indexes_follow()
        return pages(lambda cursor: store.failed(tenants or (ACME,), limit=limit, cursor=cursor), limit)
