"""Which changes of a row are an ended run, and whose lateness counts."""

from dataclasses import replace

import pytest

from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.change import Change
from duetime.model.row_parts import Act, Concurrency
from duetime.model.run_counts import LATENESS_BOUNDS, CountedEnding, count_of
from duetime_contract.specimens import MINUTE, NOON, SECOND, claim, end, scheduled, stored_row


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def claimed(store):
    return claim(store, scheduled(store).ref)


def settled(store, claimed, status):
    store.settle(claimed, end(status))
    return count_of(Change(claimed, stored_row(store, claimed.ref)), NOON)


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        (Status.EXECUTED, CountedEnding.EXECUTED),
        (Status.FAILED, CountedEnding.FAILED),
        (Status.CANCELLED, CountedEnding.CANCELLED),
        (Status.PENDING, CountedEnding.RETRIED),
    ],
)
def test_each_end_of_a_run_is_counted_once(store, claimed, status, ending):
    assert settled(store, claimed, status).ending is ending
    after = stored_row(store, claimed.ref)
    assert count_of(Change(after, replace(after, changed=Act(NOON, "ops"))), NOON) is None


def test_a_claim_and_a_removal_are_no_end(claimed):
    assert count_of(Change(None, claimed), NOON) is None
    assert count_of(Change(claimed, None), NOON) is None


@pytest.mark.parametrize(
    ("late", "bucket"),
    [(0 * SECOND, 0), (SECOND, 1), (SECOND * 1.5, 2), (MINUTE, 3), (60 * MINUTE, len(LATENESS_BOUNDS))],
)
def test_the_lateness_of_the_first_attempt_is_in_its_bucket(store, claimed, late, bucket):
    store.settle(claimed, end(Status.EXECUTED))
    row = stored_row(store, claimed.ref)
    began = replace(row.attempts[0], started_at=row.nominal_at + late)
    assert count_of(Change(claimed, replace(row, attempts=(began,))), NOON).lateness == bucket


@pytest.mark.parametrize(
    "facts", [{"redriven_after": 1}, {"concurrency": Concurrency("k")}, {"attempts": ()}]
)
def test_the_lateness_of_a_redriven_or_waiting_run_is_not_counted(store, claimed, facts):
    store.settle(claimed, end(Status.EXECUTED))
    row = replace(stored_row(store, claimed.ref), **facts)
    assert count_of(Change(claimed, row), NOON).lateness is None
