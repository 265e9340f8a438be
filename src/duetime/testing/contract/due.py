"""The due index: what the sweep and the catch-up read to find whatever a wake has missed."""
# ruff: noqa: D102, S101, PLR2004 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from duetime.model.action import Action, Status
from duetime.ports.actions import ActionStore, DueEntry, DuePage
from duetime.testing.contract.specimens import (
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    TICK,
    claim,
    due_entries,
    fresh,
)
from duetime.testing.contract.subject import StoreContract

CROWD = 150


class DueContract(StoreContract):
    """`due`."""

    def test_there_are_due_shards_and_none_twice(self, store: ActionStore) -> None:
        assert len(set(store.due_shards)) == len(store.due_shards) > 0

    def test_an_empty_shard_has_one_empty_page(self, store: ActionStore) -> None:
        assert self._due(store) == DuePage((), None)

    def test_entries_come_soonest_first(self, store: ActionStore) -> None:
        actions = self._put(store, [NOON + place * SECOND for place in (3, 1, 2, 0)])
        assert self._due(store).entries == tuple(
            DueEntry(row.ref, row.due_at) for row in sorted(actions, key=lambda action: action.due_at)
        )

    def test_the_first_bound_is_excluded_and_the_last_included(self, store: ActionStore) -> None:
        self._put(store, [NOON, NOON + TICK, NOON + MINUTE, NOON + MINUTE + TICK])
        page = self._due(store, after=NOON, until=NOON + MINUTE)
        assert [entry.due_at for entry in page.entries] == [NOON + TICK, NOON + MINUTE]

    @pytest.mark.parametrize("span", [timedelta(0), -TICK, -HOUR])
    def test_a_window_that_is_empty_or_turned_round_has_no_entries(
        self, store: ActionStore, span: timedelta
    ) -> None:
        self._put(store, [NOON - TICK, NOON, NOON + TICK])
        assert self._due(store, after=NOON, until=NOON + span) == DuePage((), None)

    @pytest.mark.parametrize("limit", [1, 40, CROWD])
    def test_pages_lose_and_double_none_when_many_share_one_due_time(
        self, store: ActionStore, limit: int
    ) -> None:
        many = 10 if limit == 1 else CROWD
        actions = self._put(store, [NOON] * many)
        listed = [due_entry.ref for due_entry in due_entries(store, self._shard(store), limit=limit)]
        assert sorted(ref.id for ref in listed) == sorted(action.id for action in actions)

    def test_no_page_is_longer_than_its_limit(self, store: ActionStore) -> None:
        self._put(store, [NOON] * 5)
        page = self._due(store, limit=3)
        assert len(page.entries) == 3
        assert page.cursor is not None

    def test_a_cursor_goes_on_even_when_its_row_has_been_settled(self, store: ActionStore) -> None:
        actions = self._put(store, [NOON + place * SECOND for place in range(4)])
        page = self._due(store, limit=2)
        store.cancel(actions[1].ref, by="ops", at=NOON, expires_at=NOON + HOUR)
        self.let_indexes_follow()
        rest = self._due(store, limit=2, cursor=page.cursor)
        assert [entry.ref for entry in rest.entries] == [actions[2].ref, actions[3].ref]

    def test_a_cursor_goes_on_under_a_later_end_of_the_window(self, store: ActionStore) -> None:
        actions = self._put(store, [NOON + place * SECOND for place in range(4)])
        page = self._due(store, until=NOON + 2 * SECOND, limit=2)
        rest = self._due(store, until=NOON + HOUR, limit=5, cursor=page.cursor)
        assert [entry.ref for entry in rest.entries] == [actions[2].ref, actions[3].ref]

    @pytest.mark.parametrize("status", [Status.PENDING, Status.PROCESSING])
    def test_unsettled_rows_are_present(self, store: ActionStore, status: Status) -> None:
        row = self.bring_to(store, status)
        self.let_indexes_follow()
        assert [*due_entries(store, row.due_shard)] == [DueEntry(row.ref, NOON)]

    @pytest.mark.parametrize("status", [status for status in Status if status.is_final])
    def test_settled_rows_are_absent(self, store: ActionStore, status: Status) -> None:
        self.bring_to(store, status)
        self.let_indexes_follow()
        assert [due_entry for shard in store.due_shards for due_entry in due_entries(store, shard)] == []

    def test_rows_of_all_tenants_are_found(self, store: ActionStore) -> None:
        mine, theirs = self._put(store, [NOON, NOON + SECOND])
        twin = replace(theirs, tenant_id=GLOBEX)
        store.put(twin)
        self.let_indexes_follow()
        assert {entry.ref for entry in self._due(store).entries} == {mine.ref, theirs.ref, twin.ref}

    def test_a_shard_shows_its_own_rows_only(self, store: ActionStore) -> None:
        shard, other = store.due_shards[:2]
        actions = [replace(fresh(store), due_shard=name) for name in (shard, other, shard)]
        store.put_many(actions)
        self.let_indexes_follow()
        found = {due_entry.ref for due_entry in due_entries(store, shard)}
        assert found == {actions[0].ref, actions[2].ref}

    def test_a_run_that_outlives_its_lease_is_found_at_its_due_time(self, store: ActionStore) -> None:
        (action,) = self._put(store, [NOON])
        claim(store, action.ref)
        self.let_indexes_follow()
        assert self._due(store, until=NOON).entries == (DueEntry(action.ref, NOON),)

    def _shard(self, store: ActionStore) -> str:
        return store.due_shards[0]

    def _due(
        self,
        store: ActionStore,
        *,
        after: datetime | None = None,
        until: datetime = NOON + HOUR,
        limit: int = 50,
        cursor: str | None = None,
    ) -> DuePage:
        return store.due(self._shard(store), after=after, until=until, limit=limit, cursor=cursor)

    def _put(self, store: ActionStore, due_times: Sequence[datetime]) -> Sequence[Action]:
        """Rows of one due shard."""
        actions = [
            replace(fresh(store, due_at=due_time), due_shard=self._shard(store)) for due_time in due_times
        ]
        store.put_many(actions)
        self.let_indexes_follow()
        return actions
