"""The history of a job: its runs newest first, and its occurrences by their nominal time."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from duetime.ids import SYSTEM_TENANT, JobName
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import Page
from duetime_contract.job_specimens import (
    DAY,
    NIGHTLY,
    REINDEX,
    event_run,
    manual_run,
    occurrence,
    planned,
)
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    claim,
    end,
    pages,
    put,
    scheduled,
    stored_row,
)
from duetime_contract.subject import StoreContract


class JobHistoryContract(StoreContract):
    """`of_job` and `occurrences`."""

    def test_a_jobs_runs_come_newest_first_by_version_and_nominal_time(self, store: ActionStore) -> None:
        first = [planned(store, NOON + place * HOUR) for place in range(12)]
        second = [planned(store, NOON + place * HOUR, version=2) for place in range(3)]
        listed = store.of_job(ACME, NIGHTLY, limit=50, cursor=None)
        assert [row.ref for row in listed] == [row.ref for row in (*second[::-1], *first[::-1])]
        assert listed.cursor is None

    def test_of_a_jobs_runs_triggered_ones_have_their_payloads(self, store: ActionStore) -> None:
        planned(store, NOON, payload='{"of":"all"}')
        put(store, replace(manual_run(store, NOON + HOUR), payload='{"of":"one"}'))
        large = '{"of":"' + 3_000 * "x" + '"}'
        put(store, replace(manual_run(store, NOON + 2 * HOUR), payload=large, payload_size=len(large)))
        listed = store.of_job(ACME, NIGHTLY, limit=50, cursor=None)
        assert [row.payload for row in listed] == [None, '{"of":"one"}', None]

    @pytest.mark.parametrize("limit", [1, 7, 12])
    def test_pages_of_a_jobs_runs_lose_and_double_none(self, store: ActionStore, limit: int) -> None:
        rows = [planned(store, NOON + place * HOUR) for place in range(12)]
        listed = pages(lambda cursor: store.of_job(ACME, NIGHTLY, limit=limit, cursor=cursor), limit)
        assert [row.ref for row in listed] == [row.ref for row in reversed(rows)]

    def test_a_new_plan_moves_no_page(self, store: ActionStore) -> None:
        rows = [planned(store, NOON + place * HOUR) for place in range(9)]
        first = store.of_job(ACME, NIGHTLY, limit=5, cursor=None)
        planned(store, NOON + 9 * HOUR)
        rest = store.of_job(ACME, NIGHTLY, limit=5, cursor=first.cursor)
        assert [row.ref for row in (*first, *rest)] == [row.ref for row in reversed(rows)]

    def test_a_jobs_list_shows_the_current_row(self, store: ActionStore) -> None:
        row = planned(store, catches_up=True, first_due_at=NOON, due_at=NOON + HOUR)
        store.skip(row, SkipReason.PAUSED, note="until spring", by=CALLER, at=NOON, kept_until=EXPIRY)
        assert [*store.of_job(ACME, NIGHTLY, limit=5, cursor=None)] == [
            stored_row(store, row.ref).without_payload()
        ]

    def test_other_tenants_and_other_jobs_runs_are_not_in_a_jobs_list(self, store: ActionStore) -> None:
        mine = planned(store)
        planned(store, tenant_id=GLOBEX)
        for other in (REINDEX, JobName("billing-nightly-report"), JobName("billing-night")):
            planned(store, job=other)
            store.put(event_run(store, "event-1", job=other))
        scheduled(store)
        listed = store.of_job(ACME, NIGHTLY, limit=9, cursor=None, has_events=True)
        assert [row.ref for row in listed] == [mine.ref]
        assert listed.cursor is None

    def test_a_job_that_never_ran_has_an_empty_list(self, store: ActionStore) -> None:
        for has_events in (False, True):
            listed = store.of_job(ACME, NIGHTLY, limit=5, cursor=None, has_events=has_events)
            assert (listed.actions, listed.cursor) == ((), None)

    def test_event_runs_are_listed_only_on_request(self, store: ActionStore) -> None:
        row, started = planned(store, NOON), event_run(store, "event-1", NOON + HOUR)
        store.put(started)
        without = store.of_job(ACME, NIGHTLY, limit=5, cursor=None)
        with_events = store.of_job(ACME, NIGHTLY, limit=5, cursor=None, has_events=True)
        assert [row.ref for row in without] == [row.ref]
        assert [with_event.ref for with_event in with_events] == [started.ref, row.ref]

    @pytest.mark.parametrize("limit", [1, 7, 40])
    def test_event_runs_are_among_the_others_by_their_time_and_no_page_loses_or_doubles_one(
        self, store: ActionStore, limit: int
    ) -> None:
        rows = [
            event_run(store, f"event-{place}", NOON + place * MINUTE)
            if place % 3
            else occurrence(store, NOON + place * MINUTE)
            for place in range(40)
        ]
        store.put_many(rows)
        listed = pages(
            lambda cursor: store.of_job(ACME, NIGHTLY, limit=limit, cursor=cursor, has_events=True), limit
        )
        assert [row.ref for row in listed] == [row.ref for row in reversed(rows)]

    def test_event_runs_of_one_second_are_all_listed(self, store: ActionStore) -> None:
        rows = [event_run(store, f"event-{place}") for place in range(25)]
        store.put_many(rows)
        listed = pages(lambda cursor: store.of_job(ACME, NIGHTLY, limit=4, cursor=cursor, has_events=True), 4)
        assert sorted(row.id for row in listed) == sorted(row.id for row in rows)

    def test_a_tenants_runs_of_anothers_job_are_in_its_own_list(self, store: ActionStore) -> None:
        row = put(store, event_run(store, "event-1", job_tenant=SYSTEM_TENANT))
        assert [row.ref for row in store.of_job(ACME, NIGHTLY, limit=5, cursor=None, has_events=True)] == [
            row.ref
        ]

    def test_occurrences_come_oldest_first(self, store: ActionStore) -> None:
        rows = [planned(store, NOON + place * HOUR) for place in (2, 0, 1)]
        assert self._refs(store) == [rows[1].ref, rows[2].ref, rows[0].ref]

    def test_of_occurrences_the_first_bound_is_excluded_and_the_last_included(
        self, store: ActionStore
    ) -> None:
        rows = [planned(store, NOON + place * SECOND) for place in range(4)]
        assert self._refs(store, after=NOON, until=NOON + 2 * SECOND) == [rows[1].ref, rows[2].ref]

    def test_bounds_between_two_seconds_select_the_times_between_them(self, store: ActionStore) -> None:
        rows = [planned(store, NOON + place * SECOND) for place in range(4)]
        half = timedelta(milliseconds=500)
        assert self._refs(store, after=NOON + half, until=NOON + 2 * SECOND + half) == [
            rows[1].ref,
            rows[2].ref,
        ]

    def test_manual_runs_are_among_the_occurrences_within_the_same_bounds(self, store: ActionStore) -> None:
        before, inside, last, beyond = (manual_run(store, NOON + place * SECOND) for place in (0, 1, 2, 3))
        store.put_many([before, inside, last, beyond])
        row = planned(store, NOON + 2 * SECOND)
        assert self._refs(store, after=NOON, until=NOON + 2 * SECOND) == [inside.ref, row.ref, last.ref]

    @pytest.mark.parametrize("span", [timedelta(0), -SECOND, -DAY])
    def test_a_window_that_is_empty_or_turned_round_has_no_occurrences(
        self, store: ActionStore, span: timedelta
    ) -> None:
        for place in (-1, 0, 1):
            planned(store, NOON + place * SECOND)
        page = store.occurrences(ACME, NIGHTLY, 1, after=NOON, until=NOON + span, limit=5, cursor=None)
        assert (page.actions, page.cursor) == ((), None)

    def test_occurrences_are_those_of_one_version_job_and_tenant(self, store: ActionStore) -> None:
        planned(store)
        mine = planned(store, version=2)
        planned(store, version=3)
        planned(store, version=2, tenant_id=GLOBEX)
        planned(store, version=2, job=REINDEX)
        store.put(event_run(store, "event-1"))
        assert self._refs(store, version=2) == [mine.ref]

    def test_occurrences_are_found_by_nominal_time_whatever_became_of_them(
        self, store: ActionStore, row: Action
    ) -> None:
        store.settle(claim(store, row.ref), end(Status.PENDING))
        page = store.occurrences(ACME, NIGHTLY, 1, after=NOON - SECOND, until=NOON, limit=5, cursor=None)
        assert [*page] == [stored_row(store, row.ref).without_payload()]

    @pytest.mark.parametrize("limit", [1, 5, 12])
    def test_pages_of_occurrences_lose_and_double_none(self, store: ActionStore, limit: int) -> None:
        rows = [planned(store, NOON + place * HOUR) for place in range(12)]

        def page_after(cursor: str | None) -> Page:
            return store.occurrences(
                ACME, NIGHTLY, 1, after=NOON - DAY, until=NOON + DAY, limit=limit, cursor=cursor
            )

        assert [row.ref for row in pages(page_after, limit)] == [row.ref for row in rows]

    def _refs(
        self,
        store: ActionStore,
        *,
        version: int = 1,
        after: datetime = NOON - DAY,
        until: datetime = NOON + DAY,
    ) -> Sequence[ActionRef]:
        page = store.occurrences(ACME, NIGHTLY, version, after=after, until=until, limit=100, cursor=None)
        assert page.cursor is None
        return [row.ref for row in page]
