"""The due order of a tenant: its one-shots by due time, complete, page by page, and of no other tenant."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from duetime.errors import InvalidCursor
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, Status
from duetime.model.idempotency import KeyTerms
from duetime.ports.actions import ActionStore
from duetime.testing.contract.job_specimens import occurrence
from duetime.testing.contract.lists import pages
from duetime.testing.contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    NOON,
    SECOND,
    TICK,
    claim,
    end,
    fresh,
    scheduled,
    stored_row,
)
from duetime.testing.contract.subject import StoreContract


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
        expected = sorted(rows, key=lambda row: (row.due_at, row.id))
        assert self._listed(store, limit=limit) == expected

    @pytest.mark.parametrize("status", list(Status))
    def test_the_due_order_shows_a_row_as_it_stands_in_every_status(
        self, store: ActionStore, status: Status
    ) -> None:
        row = self.bring_to(store, status)
        assert self._listed(store) == [row]

    def test_what_is_scheduled_in_bulk_or_under_a_key_is_in_the_due_order(self, store: ActionStore) -> None:
        rows = [fresh(store, due_at=NOON + hours * HOUR) for hours in range(3)]
        keyed = replace(fresh(store, due_at=NOON + 3 * HOUR), idempotency_key="order-17")
        store.put_many(rows)
        store.put_once(keyed, KeyTerms(now=NOON - HOUR, until=NOON))
        assert self._listed(store) == [*rows, keyed]

    def test_a_reschedule_moves_a_row(self, store: ActionStore) -> None:
        moved, other = scheduled(store), scheduled(store, due_at=NOON + HOUR)
        store.reschedule(moved.ref, NOON + 2 * HOUR, by=CALLER, at=NOON)
        assert [row.ref for row in self._listed(store)] == [other.ref, moved.ref]

    def test_a_retry_and_a_redrive_move_a_row(self, store: ActionStore) -> None:
        row, other = scheduled(store), scheduled(store, due_at=NOON + HOUR)
        store.settle(claim(store, row.ref), end(Status.PENDING))
        assert [row.ref for row in self._listed(store)] == [other.ref, row.ref]
        store.settle(claim(store, row.ref, NOON + 2 * HOUR), end(Status.FAILED, NOON + 2 * HOUR))
        store.redrive(row.ref, NOON + 3 * HOUR, by=CALLER, at=NOON + 2 * HOUR)
        assert self._listed(store, after=NOON + HOUR) == [stored_row(store, row.ref)]

    def test_a_cancelled_row_stays_where_it_was_due(self, store: ActionStore) -> None:
        row, other = scheduled(store), scheduled(store, due_at=NOON + HOUR)
        store.cancel(row.ref, by=CALLER, at=NOON, expires_at=EXPIRY)
        assert [row.ref for row in self._listed(store)] == [row.ref, other.ref]

    def test_runs_of_jobs_are_not_in_the_due_order(self, store: ActionStore) -> None:
        store.put(occurrence(store))
        mine = scheduled(store)
        assert self._listed(store) == [mine]

    def test_the_due_order_shows_no_other_tenants_actions(self, store: ActionStore) -> None:
        mine = scheduled(store)
        scheduled(store, tenant_id=GLOBEX)
        scheduled(store, tenant_id=TenantId("acme2"))
        assert self._listed(store) == [mine]

    def test_what_is_scheduled_while_one_pages_hides_and_doubles_none(self, store: ActionStore) -> None:
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
    def test_a_cursor_that_no_due_order_gave_out_is_refused(self, store: ActionStore, made_up: str) -> None:
        row = scheduled(store)
        with pytest.raises(InvalidCursor):
            store.in_due_order(ACME, after=None, until=None, limit=5, cursor=made_up.replace("{id}", row.id))

    def _in_one_shard(self, store: ActionStore, due_at: datetime) -> Action:
        action = fresh(store, due_at=due_at)
        action = replace(action, id=ActionId(action.id[:-1] + "7"))
        store.put(action)
        return action

    def _listed(
        self,
        store: ActionStore,
        *,
        after: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> Sequence[Action]:
        """All of the range, page by page, with their payloads."""
        self.let_indexes_follow()
        listed = pages(
            lambda cursor: store.in_due_order(ACME, after=after, until=until, limit=limit, cursor=cursor),
            limit,
        )
        return [stored_row(store, row.ref) for row in listed]
