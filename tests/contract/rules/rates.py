"""Rate limits: starts are counted in any order, instants are given away once, and a row waits for its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from threading import Barrier, Thread

import pytest

from duetime.ids import SYSTEM_TENANT
from duetime.model.action import Action
from duetime.model.lease import Applied, Rejected
from duetime.model.rate_limit import Pace, RateBucket, RateLimit
from duetime.ports.action_store import ActionStore
from duetime.testing.invariants import first_excess
from duetime_contract.specimens import ACME, CALLER, GLOBEX, HOUR, NOON, SECOND, TICK, stored_row
from duetime_contract.subject import StoreContract

BUCKET = RateBucket(ACME, "send-mail", "customer:42", 0)
STRICT = RateLimit.parse(1, "second", 1).pace
HALF = 0.5
THREE = RateLimit.parse(1, "second", 3).pace


def started(
    store: ActionStore,
    at: datetime,
    pace: Pace = STRICT,
    bucket: RateBucket = BUCKET,
    *,
    is_reserved: bool = False,
) -> bool:
    """Whether a start at an instant is allowed; if not, the instant of the next one is later."""
    free_at = store.start_within_rate(bucket, pace, at, is_reserved=is_reserved)
    assert free_at is None or free_at > at
    return free_at is None


class RateContract(StoreContract):
    """*start_within_rate*, *reserve_start*, *next_start* and *defer*."""

    def test_a_burst_starts_at_once_and_the_next_an_interval_later(self, store: ActionStore) -> None:
        assert [started(store, NOON, THREE) for _ in range(4)] == [True, True, True, False]
        assert store.start_within_rate(BUCKET, THREE, NOON, is_reserved=False) == NOON + SECOND
        assert not started(store, NOON + SECOND - TICK, THREE)
        assert started(store, NOON + SECOND, THREE)

    def test_a_rest_gives_back_no_more_than_the_burst(self, store: ActionStore) -> None:
        assert started(store, NOON, THREE)
        assert [started(store, NOON + HOUR, THREE) for _ in range(4)] == [True, True, True, False]

    def test_a_refused_start_counts_for_nothing(self, store: ActionStore) -> None:
        started(store, NOON)
        assert not any(started(store, NOON + SECOND - TICK) for _ in range(3))
        assert started(store, NOON + SECOND)

    @pytest.mark.parametrize(
        "other",
        [
            replace(BUCKET, tenant_id=GLOBEX),
            replace(BUCKET, tenant_id=SYSTEM_TENANT),
            replace(BUCKET, limit="send-text"),
            replace(BUCKET, key="customer:43"),
            replace(BUCKET, shard=1),
        ],
    )
    def test_each_bucket_has_counters_of_its_own(self, store: ActionStore, other: RateBucket) -> None:
        assert started(store, NOON)
        assert started(store, NOON, bucket=other)

    @pytest.mark.parametrize("seed", range(3))
    def test_no_window_has_too_many_starts_whatever_the_order_of_the_calls(
        self, store: ActionStore, seed: int
    ) -> None:
        draw, pace = Random(seed), THREE  # noqa: S311 - repeats by its seed
        instants = [NOON + timedelta(milliseconds=130 * n + draw.randrange(2_000)) for n in range(60)]
        granted = [at for at in instants if started(store, at, pace, is_reserved=draw.random() < HALF)]
        assert len(granted) > len(instants) // 10
        assert first_excess(granted, pace) is None

    def test_a_reservation_is_an_interval_after_the_one_before(self, store: ActionStore) -> None:
        started(store, NOON)
        taken = [store.reserve_start(BUCKET, STRICT, NOON) for _ in range(3)]
        assert taken == [NOON + SECOND, NOON + 2 * SECOND, NOON + 3 * SECOND]

    def test_the_next_start_is_the_one_that_a_reservation_takes(self, store: ActionStore) -> None:
        assert store.next_start(BUCKET, THREE, NOON) == NOON
        for _ in range(5):
            expected = store.next_start(BUCKET, THREE, NOON)
            assert store.reserve_start(BUCKET, THREE, NOON) == expected

    def test_a_start_waits_for_those_that_have_reserved_and_theirs_does_not(self, store: ActionStore) -> None:
        started(store, NOON)
        slot = store.reserve_start(BUCKET, STRICT, NOON)
        assert store.start_within_rate(BUCKET, STRICT, slot, is_reserved=False) == slot + SECOND
        assert started(store, slot, is_reserved=True)

    def test_late_starts_that_bunch_stay_within_the_limit(self, store: ActionStore) -> None:
        started(store, NOON)
        for _ in range(3):
            store.reserve_start(BUCKET, STRICT, NOON)
        late = NOON + 60 * SECOND
        assert [started(store, late, is_reserved=True) for _ in range(3)] == [True, False, False]
        assert store.reserve_start(BUCKET, STRICT, late) == late + SECOND

    def test_a_changed_limit_begins_a_line_of_its_own_and_counts_what_has_started(
        self, store: ActionStore
    ) -> None:
        started(store, NOON)
        for _ in range(100):
            store.reserve_start(BUCKET, STRICT, NOON)
        raised = RateLimit.parse(10, "second", 1).pace
        assert store.start_within_rate(BUCKET, raised, NOON, is_reserved=False) == NOON + 0.1 * SECOND
        later = NOON + 0.1 * SECOND
        assert started(store, later, raised)
        assert store.reserve_start(BUCKET, raised, later) == later + 0.1 * SECOND

    def test_a_lowered_limit_counts_each_former_start_with_its_own_interval(self, store: ActionStore) -> None:
        assert [started(store, NOON, THREE) for _ in range(3)] == [True, True, True]
        lowered = RateLimit.parse(6, "minute", 1).pace
        assert store.start_within_rate(BUCKET, lowered, NOON, is_reserved=False) == NOON + 30 * SECOND

    def test_of_many_that_start_at_once_a_burst_does(self, store: ActionStore) -> None:
        results: list[bool] = []
        barrier = Barrier(8)

        def start() -> None:
            barrier.wait()
            results.append(started(store, NOON, THREE))

        threads = [Thread(target=start) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == [False] * 5 + [True] * 3

    def test_a_deferred_row_waits_for_its_instant(self, store: ActionStore, action: Action) -> None:
        outcome = store.defer(action, NOON + HOUR)
        row = stored_row(store, action.ref)
        assert outcome == Applied(row)
        expected = replace(action, due_at=NOON + HOUR, first_due_at=NOON, rate_slot=NOON + HOUR, generation=2)
        assert (row, row.has_rate_slot) == (expected, True)
        assert self.due_time(store, action) == NOON + HOUR

    def test_a_deferral_writes_the_pause_that_held_the_row_and_a_later_one_keeps_it(
        self, store: ActionStore, action: Action
    ) -> None:
        store.defer(action, NOON + HOUR, held_by="a pause")
        row = stored_row(store, action.ref)
        store.defer(row, NOON + 2 * HOUR)
        assert (row.held_by, stored_row(store, action.ref).held_by) == ("a pause", "a pause")

    def test_a_second_deferral_keeps_the_first_due_time(self, store: ActionStore, action: Action) -> None:
        store.defer(action, NOON + HOUR)
        store.defer(stored_row(store, action.ref), NOON + 2 * HOUR)
        row = stored_row(store, action.ref)
        assert (row.nominal_at, row.due_at, row.rate_slot) == (NOON, NOON + 2 * HOUR, NOON + 2 * HOUR)

    def test_a_deferral_is_rejected_after_another_change(self, store: ActionStore, action: Action) -> None:
        store.reschedule(action, NOON + HOUR, by=CALLER, at=NOON)
        moved = stored_row(store, action.ref)
        assert store.defer(action, NOON + 2 * HOUR) == Rejected(moved)
        assert stored_row(store, action.ref) == moved

    def test_a_repeated_deferral_is_the_same(self, store: ActionStore, action: Action) -> None:
        first = store.defer(action, NOON + HOUR)
        assert store.defer(action, NOON + HOUR) == first

    def test_a_deferral_that_waits_for_a_run_is_no_instant_of_a_limit(
        self, store: ActionStore, action: Action
    ) -> None:
        other = "books-import.000001.20270301T020000Z"
        outcome = store.defer(action, NOON + HOUR, waits_for=other)
        row = stored_row(store, action.ref)
        expected = replace(action, due_at=NOON + HOUR, first_due_at=NOON, waits_for=other, generation=2)
        assert (outcome, row, row.has_rate_slot) == (Applied(expected), expected, False)
        store.defer(row, NOON + 2 * HOUR)
        assert stored_row(store, action.ref).waits_for == other

    def test_a_running_action_is_not_deferred(self, store: ActionStore, claimed: Action) -> None:
        assert isinstance(store.defer(claimed, NOON + HOUR), Rejected)

    def test_a_rescheduled_action_has_no_reserved_instant(self, store: ActionStore, action: Action) -> None:
        store.defer(action, NOON + HOUR)
        store.reschedule(stored_row(store, action.ref), NOON + 2 * HOUR, by=CALLER, at=NOON)
        assert not stored_row(store, action.ref).has_rate_slot
