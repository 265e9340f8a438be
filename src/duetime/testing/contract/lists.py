"""Lists of a tenant's actions: complete, in order, page by page, of this tenant only."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from duetime.model.action import Action, Status
from duetime.ports.actions import ActionStore, Page
from duetime.testing.contract.specimens import (
    ACME,
    GLOBEX,
    HOUR,
    MOST_PAGES,
    NOON,
    SECOND,
    claim,
    end,
    fresh,
    scheduled,
    stored_row,
)
from duetime.testing.contract.subject import StoreContract

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

    def test_what_is_scheduled_while_one_pages_moves_no_page(self, store: ActionStore) -> None:
        actions = self._spread(store, 9)
        first = store.of_tenant(ACME, limit=5, cursor=None)
        store.put(fresh(store, created_at=NOON + HOUR))
        rest = store.of_tenant(ACME, limit=5, cursor=first.cursor)
        assert [row.id for row in (*first, *rest)] == [action.id for action in reversed(actions)]

    def test_a_tenant_without_actions_has_an_empty_list(self, store: ActionStore) -> None:
        scheduled(store, tenant_id=GLOBEX)
        listed = store.of_tenant(ACME, limit=10, cursor=None)
        assert (listed.actions, listed.cursor) == ((), None)

    def test_a_tenants_list_shows_its_own_actions_only(self, store: ActionStore) -> None:
        mine = scheduled(store)
        scheduled(store, tenant_id=GLOBEX)
        assert [row.ref for row in store.of_tenant(ACME, limit=10, cursor=None)] == [mine.ref]

    @pytest.mark.parametrize("status", list(Status))
    def test_lists_show_a_row_as_it_stands_in_every_status(self, store: ActionStore, status: Status) -> None:
        row = self.bring_to(store, status).without_payload()
        assert [*store.of_tenant(ACME, limit=10, cursor=None)] == [row]

    def test_actions_of_a_correlation_id_come_oldest_first(self, store: ActionStore) -> None:
        actions = self._spread(store, 12, correlation_id=SUBSCRIPTION)
        self.let_indexes_follow()
        listed = store.by_correlation(ACME, SUBSCRIPTION, limit=100, cursor=None)
        assert [*listed] == [action.without_payload() for action in actions]

    @pytest.mark.parametrize("limit", [1, 5, 12])
    def test_pages_of_a_correlation_id_lose_and_double_none(self, store: ActionStore, limit: int) -> None:
        actions = self._spread(store, 12, correlation_id=SUBSCRIPTION)
        self.let_indexes_follow()
        listed = pages(
            lambda cursor: store.by_correlation(ACME, SUBSCRIPTION, limit=limit, cursor=cursor), limit
        )
        assert [row.id for row in listed] == [action.id for action in actions]

    def test_settled_actions_stay_in_their_correlations_list(self, store: ActionStore) -> None:
        action = scheduled(store, correlation_id=SUBSCRIPTION)
        store.settle(claim(store, action.ref), end(Status.EXECUTED))
        self.let_indexes_follow()
        listed = store.by_correlation(ACME, SUBSCRIPTION, limit=10, cursor=None)
        assert [*listed] == [stored_row(store, action.ref).without_payload()]

    def test_another_tenants_same_correlation_id_is_unseen(self, store: ActionStore) -> None:
        mine = scheduled(store, correlation_id=SUBSCRIPTION)
        scheduled(store, correlation_id=SUBSCRIPTION, tenant_id=GLOBEX)
        self.let_indexes_follow()
        listed = store.by_correlation(ACME, SUBSCRIPTION, limit=10, cursor=None)
        assert [row.ref for row in listed] == [mine.ref]

    def test_a_longer_correlation_id_is_another(self, store: ActionStore) -> None:
        scheduled(store, correlation_id=SUBSCRIPTION + "0")
        scheduled(store)
        self.let_indexes_follow()
        listed = store.by_correlation(ACME, SUBSCRIPTION, limit=10, cursor=None)
        assert (listed.actions, listed.cursor) == ((), None)

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


def pages(page_after: Callable[[str | None], Page], limit: int) -> list[Action]:
    """All rows of a list, page by page."""
    listed: list[Action] = []
    cursor = None
    for _ in range(MOST_PAGES):
        page = page_after(cursor)
        assert len(page) <= limit
        listed += page
        cursor = page.cursor
        if cursor is None:
            return listed
    raise AssertionError("the list's pages never end")
