"""The worked example of stale records.

Removed ninety days after the last touch, and never under somebody's hands.
"""

from datetime import UTC, datetime, timedelta

import pytest

from duetime.testing import Faults
from examples.stale_records import (
    STALE_AFTER,
    Record,
    Records,
    RecordScheduler,
    RecordsInMemory,
    app,
    touched,
)
from tests.journeys.later import cloud_of

START = datetime(2026, 1, 1, tzinfo=UTC)


class Meeting(RecordsInMemory):
    """Records, with somebody who may come just before or after a removal's write."""

    def __init__(self):
        super().__init__()
        self.all["r-1"] = Record(START)
        self.before = self.after = lambda: None

    def remove_untouched(self, record, since):
        self.before()
        left = super().remove_untouched(record, since)
        self.after()
        return left


class Office:
    def __init__(self, faults=None):
        self.records = Meeting()
        self.cloud = cloud_of(app, RecordScheduler, {Records: self.records}, start=START, faults=faults)

    def touch(self):
        return touched("r-1", self.cloud.now, self.records, self.cloud.scheduler)


@pytest.fixture
def office():
    office = Office()
    assert office.touch()
    return office


def test_an_untouched_record_is_removed_when_it_is_stale(office):
    office.cloud.advance(STALE_AFTER - timedelta(seconds=1))
    assert "r-1" in office.records.all
    office.cloud.advance(seconds=2)
    assert office.records.all == {}
    assert not office.touch()


def test_each_touch_moves_the_one_removal_that_there_is(office):
    for _ in range(10):
        office.cloud.advance(days=60)
        assert office.touch()
    (removal,) = office.cloud.actions()
    assert removal.due_at == office.cloud.now + STALE_AFTER
    office.cloud.advance(STALE_AFTER + timedelta(seconds=1))
    assert [action.status for action in office.cloud.actions()] == ["executed"]
    assert office.records.all == {}


def test_a_touch_just_before_the_removal_keeps_the_record_for_ninety_days_more(office):
    office.records.before = office.touch
    office.cloud.advance(STALE_AFTER + timedelta(seconds=1))
    office.records.before = lambda: None
    assert "r-1" in office.records.all
    assert [action.status for action in office.cloud.actions()] == ["executed", "pending"]
    office.cloud.advance(STALE_AFTER)
    assert office.records.all == {}


def test_a_touch_just_after_the_removal_raises_that_the_record_is_gone(office):
    shown = []
    office.records.after = lambda: shown.append(office.touch())
    office.cloud.advance(STALE_AFTER + timedelta(seconds=1))
    assert shown == [False]
    assert [action.status for action in office.cloud.actions()] == ["executed"]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_fails_a_record_in_use_stays_and_one_that_is_not_goes(seed):
    office = Office(Faults.only(seed, crash=0.2, drop=0.2, double=0.2))
    assert office.touch()
    for _ in range(6):
        office.cloud.advance(days=89, hours=23, minutes=59)
        assert office.touch()
    office.cloud.advance(STALE_AFTER)
    office.cloud.end_faults()
    office.cloud.advance(days=1)
    assert office.records.all == {}
    office.cloud.check()
    office.cloud.close()
