"""The due index, which the sweep reads, and lists in the order of due times."""
# ruff: noqa: D102, S101, PLR2004 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from duetime.errors import InvalidCursor
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, Status
from duetime.model.idempotency import KeyTerms
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import DueEntry, DuePage
from duetime_contract.job_specimens import occurrence
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    TICK,
    claim,
    due_entries,
    end,
    fresh,
    pages,
    put,
    scheduled,
    stored_row,
)
from duetime_contract.subject import StoreContract

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
        assert [entry.due_at for entry in self._due(store, after=NOON, until=NOON + MINUTE).entries] == [
            NOON + TICK,
            NOON + MINUTE,
        ]

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
        store.cancel(actions[1], by="ops", at=NOON, kept_until=NOON + HOUR)
        self.let_indexes_follow()
        assert [entry.ref for entry in self._due(store, limit=2, cursor=page.cursor).entries] == [
            actions[2].ref,
            actions[3].ref,
        ]

    def test_a_cursor_goes_on_under_a_later_end_of_the_window(self, store: ActionStore) -> None:
        actions = self._put(store, [NOON + place * SECOND for place in range(4)])
        cursor = self._due(store, until=NOON + 2 * SECOND, limit=2).cursor
        rest = self._due(store, until=NOON + HOUR, limit=5, cursor=cursor)
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
        twin = put(store, replace(theirs, tenant_id=GLOBEX))
        self.let_indexes_follow()
        assert {entry.ref for entry in self._due(store).entries} == {mine.ref, theirs.ref, twin.ref}

    def test_a_shard_shows_its_own_rows_only(self, store: ActionStore) -> None:
        shard, other = store.due_shards[:2]
        actions = [replace(fresh(store), due_shard=name) for name in (shard, other, shard)]
        store.put_many(actions)
        self.let_indexes_follow()
        assert {due_entry.ref for due_entry in due_entries(store, shard)} == {actions[0].ref, actions[2].ref}

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
        actions = [
            replace(fresh(store, due_at=due_time), due_shard=self._shard(store)) for due_time in due_times
        ]
        store.put_many(actions)
        self.let_indexes_follow()
        return actions


class DueOrderContract(StoreContract):
    """`in_due_order`, of a store that is set up with ``due_order``."""

    def test_a_tenants_one_shots_come_soonest_first(self, store: ActionStore) -> None:
        rows = [scheduled(store, due_at=NOON + hours * HOUR) for hours in (3, 0, 2, 1)]
        assert self._listed(store) == [rows[place] for place in (1, 3, 2, 0)]

    def test_those_due_at_one_instant_come_by_id(self, store: ActionStore) -> None:
        rows = [scheduled(store) for _ in range(12)]
        assert self._listed(store) == sorted(rows, key=lambda row: row.id)

    def test_a_range_excludes_its_start_and_includes_its_end(self, store: ActionStore) -> None:
        rows = [scheduled(store, due_at=NOON + ticks * TICK) for ticks in range(4)]
        assert self._listed(store, after=NOON, until=NOON + 2 * TICK) == rows[1:3]
        assert self._listed(store, after=NOON + TICK) == rows[2:]
        assert self._listed(store, until=NOON + TICK) == rows[:2]

    @pytest.mark.parametrize("limit", [1, 2, 7, 24])
    def test_pages_of_the_due_order_lose_and_double_none(self, store: ActionStore, limit: int) -> None:
        rows = [self._in_one_shard(store, NOON + place // 6 * SECOND) for place in range(18)]
        rows += [scheduled(store, due_at=NOON + place * SECOND) for place in range(6)]
        assert self._listed(store, limit=limit) == sorted(rows, key=lambda row: (row.due_at, row.id))

    @pytest.mark.parametrize("status", list(Status))
    def test_the_due_order_shows_the_current_row_in_every_status(
        self, store: ActionStore, status: Status
    ) -> None:
        row = self.bring_to(store, status)
        assert self._listed(store) == [row]

    def test_rows_of_bulks_and_keys_are_in_the_due_order(self, store: ActionStore) -> None:
        rows = [fresh(store, due_at=NOON + hours * HOUR) for hours in range(3)]
        keyed = replace(fresh(store, due_at=NOON + 3 * HOUR), idempotency_key="order-17")
        store.put_many(rows)
        store.put_once(keyed, KeyTerms(now=NOON - HOUR, until=NOON))
        assert self._listed(store) == [*rows, keyed]

    def test_a_reschedule_moves_a_row(self, store: ActionStore) -> None:
        moved, other = scheduled(store), scheduled(store, due_at=NOON + HOUR)
        store.reschedule(moved, NOON + 2 * HOUR, by=CALLER, at=NOON)
        assert [row.ref for row in self._listed(store)] == [other.ref, moved.ref]

    def test_a_retry_and_a_redrive_move_a_row(self, store: ActionStore) -> None:
        row, other = scheduled(store), scheduled(store, due_at=NOON + HOUR)
        store.settle(claim(store, row.ref), end(Status.PENDING))
        assert [row.ref for row in self._listed(store)] == [other.ref, row.ref]
        store.settle(claim(store, row.ref, NOON + 2 * HOUR), end(Status.FAILED, NOON + 2 * HOUR))
        store.redrive(row, NOON + 3 * HOUR, by=CALLER, at=NOON + 2 * HOUR)
        assert self._listed(store, after=NOON + HOUR) == [stored_row(store, row.ref)]

    def test_a_cancelled_row_retains_its_due_time(self, store: ActionStore) -> None:
        row, other = scheduled(store), scheduled(store, due_at=NOON + HOUR)
        store.cancel(row, by=CALLER, at=NOON, kept_until=EXPIRY)
        assert [row.ref for row in self._listed(store)] == [row.ref, other.ref]

    def test_runs_of_jobs_are_not_in_the_due_order(self, store: ActionStore, action: Action) -> None:
        store.put(occurrence(store))
        assert self._listed(store) == [action]

    def test_the_due_order_shows_no_other_tenants_actions(self, store: ActionStore, action: Action) -> None:
        scheduled(store, tenant_id=GLOBEX)
        scheduled(store, tenant_id=TenantId("acme2"))
        assert self._listed(store) == [action]

    def test_a_new_row_between_pages_hides_and_repeats_none(self, store: ActionStore) -> None:
        rows = [scheduled(store, due_at=NOON + place * SECOND) for place in range(9)]
        self.let_indexes_follow()
        first = store.in_due_order(ACME, after=None, until=None, limit=5, cursor=None)
        scheduled(store, due_at=NOON - HOUR)
        self.let_indexes_follow()
        rest = store.in_due_order(ACME, after=None, until=None, limit=5, cursor=first.cursor)
        assert [row.id for row in (*first, *rest)] == [row.id for row in rows]

    def test_a_range_that_ends_before_the_cursor_is_empty(self, store: ActionStore) -> None:
        for place in range(3):
            scheduled(store, due_at=NOON + place * SECOND)
        self.let_indexes_follow()
        cursor = store.in_due_order(ACME, after=None, until=None, limit=2, cursor=None).cursor
        page = store.in_due_order(ACME, after=None, until=NOON, limit=2, cursor=cursor)
        assert (page.actions, page.cursor) == ((), None)

    @pytest.mark.parametrize(
        "made_up",
        [
            "",
            "x",
            "{id}",
            "2030-06-01T12:00:00.000000Z",
            "2030-06-01T12:00:00.000000Z x",
            "2030-06-01T12:00:00.000000Z {id} acme",
            "2030-06-01T12:00:00Z {id}",
            "0001-01-01T00:00:00.000000+14:00 {id}",
            "\ud800",
        ],
    )
    def test_a_forged_cursor_of_the_due_order_is_rejected(
        self, store: ActionStore, made_up: str, action: Action
    ) -> None:
        with pytest.raises(InvalidCursor):
            store.in_due_order(
                ACME, after=None, until=None, limit=5, cursor=made_up.replace("{id}", action.id)
            )

    def _in_one_shard(self, store: ActionStore, due_at: datetime) -> Action:
        action = fresh(store, due_at=due_at)
        return put(store, replace(action, id=ActionId(action.id[:-1] + "7")))

    def _listed(
        self,
        store: ActionStore,
        *,
        after: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> Sequence[Action]:
        self.let_indexes_follow()
        listed = pages(
            lambda cursor: store.in_due_order(ACME, after=after, until=until, limit=limit, cursor=cursor),
            limit,
        )
        return [stored_row(store, row.ref) for row in listed]
