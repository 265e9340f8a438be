"""The worked example of stale records.

Records are removed ninety days after the last touch, and never while in use.
"""

from datetime import UTC, datetime, timedelta

import pytest

from duetime.testing import Faults
from examples import stale_records
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
SOON_STALE = STALE_AFTER / 10
"""For many touches: ninety days between them would be mostly days in which nothing happens."""


class Meeting(RecordsInMemory):
    """Records with callbacks just before and after a removal's write."""

    def __init__(self):
        super().__init__()
        self.all["r-1"] = Record(START)
        self.before = self.after = lambda: None

    def remove_untouched(self, record, since):
        self.before()
        left = super().remove_untouched(record, since)
        self.after()
        return left


class RecordsCloud:
    def __init__(self, faults=None):
        self.records = Meeting()
        self.cloud = cloud_of(app, RecordScheduler, {Records: self.records}, start=START, faults=faults)

    def touch(self):
        return touched("r-1", self.cloud.now, self.records, self.cloud.scheduler)


@pytest.fixture
def _soon_stale(monkeypatch):
    monkeypatch.setattr(stale_records, "STALE_AFTER", SOON_STALE)


@pytest.fixture
def records_cloud():
    records_cloud = RecordsCloud()
    assert records_cloud.touch()
    return records_cloud


def test_an_untouched_record_is_removed_when_it_is_stale(records_cloud):
    records_cloud.cloud.advance(STALE_AFTER - timedelta(seconds=1))
    assert "r-1" in records_cloud.records.all
    records_cloud.cloud.advance(seconds=2)
    assert records_cloud.records.all == {}
    assert not records_cloud.touch()


@pytest.mark.usefixtures("_soon_stale")
def test_each_touch_moves_the_one_removal_that_there_is(records_cloud):
    for _ in range(10):
        records_cloud.cloud.advance(days=6)
        assert records_cloud.touch()
    (removal,) = records_cloud.cloud.actions()
    assert removal.due_at == records_cloud.cloud.now + SOON_STALE
    records_cloud.cloud.advance(SOON_STALE + timedelta(seconds=1))
    assert [action.status for action in records_cloud.cloud.actions()] == ["executed"]
    assert records_cloud.records.all == {}


def test_a_touch_just_before_the_removal_keeps_the_record_for_ninety_days_more(records_cloud):
    records_cloud.records.before = records_cloud.touch
    records_cloud.cloud.advance(STALE_AFTER + timedelta(seconds=1))
    records_cloud.records.before = lambda: None
    assert "r-1" in records_cloud.records.all
    assert [action.status for action in records_cloud.cloud.actions()] == ["executed", "pending"]
    records_cloud.cloud.advance(STALE_AFTER)
    assert records_cloud.records.all == {}


def test_a_touch_just_after_the_removal_returns_false(records_cloud):
    shown = []
    records_cloud.records.after = lambda: shown.append(records_cloud.touch())
    records_cloud.cloud.advance(STALE_AFTER + timedelta(seconds=1))
    assert shown == [False]
    assert [action.status for action in records_cloud.cloud.actions()] == ["executed"]


@pytest.mark.usefixtures("_soon_stale")
@pytest.mark.parametrize("seed", range(4))
def test_under_faults_only_unused_records_are_removed(seed):
    records_cloud = RecordsCloud(Faults.only(seed, crash=0.2, drop=0.2, double=0.2))
    assert records_cloud.touch()
    for _ in range(6):
        records_cloud.cloud.advance(SOON_STALE - timedelta(minutes=1))
        assert records_cloud.touch()
    records_cloud.cloud.advance(SOON_STALE)
    records_cloud.cloud.end_faults()
    records_cloud.cloud.advance(days=1)
    assert records_cloud.records.all == {}
    records_cloud.cloud.check()
    records_cloud.cloud.close()
