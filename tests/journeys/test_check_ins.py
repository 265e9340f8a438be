"""Check-ins: a missing report fails an action, once for each silence."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from duetime import App, Status, check_ins
from duetime.errors import InvalidArgument
from duetime.model.metric import Metric
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def cloud():
    app = App()
    app.include(check_ins)
    return SimulatedCloud(app, start=NOON)


def check_in(cloud, name="backup", within=26 * HOUR):
    return cloud.scheduler.place(check_ins.check_in(name, within=within)).action


def test_work_that_checks_in_is_never_reported(cloud):
    first = check_in(cloud)
    for _ in range(5):
        cloud.advance(DAY)
        assert check_in(cloud).id == first.id
    [row] = cloud.scheduler.list(correlation_id="check-in:backup").actions
    assert (row.status, row.due_at) == (Status.PENDING, NOON + 5 * DAY + 26 * HOUR)


def test_a_missing_check_in_is_a_dead_letter_an_event_and_a_metric(cloud):
    check_in(cloud)
    cloud.advance(27 * HOUR)
    [row] = cloud.scheduler.list(status="failed").actions
    assert row.failure_reason == (
        f"Fatal: backup has not checked in since {NOON:%Y-%m-%dT%H:%M:%SZ}; it must within 1 day 2 hours"
    )
    assert row.attempt == 1
    assert cloud.metrics.total(Metric.FAILED) == 1


def test_a_silence_is_reported_once_and_the_next_check_in_begins_anew(cloud):
    first = check_in(cloud)
    cloud.advance(5 * DAY)
    assert len(cloud.scheduler.list(status="failed").actions) == 1
    again = check_in(cloud)
    assert again.id != first.id
    cloud.advance(27 * HOUR)
    assert len(cloud.scheduler.list(status="failed").actions) == 2


def test_names_are_apart_and_a_cancelled_one_is_reported_no_more(cloud):
    check_in(cloud, "backup")
    other = check_in(cloud, "report", within=HOUR)
    cloud.scheduler.cancel(other.id)
    cloud.advance(25 * HOUR)
    assert cloud.scheduler.list(status="failed").actions == ()
    cloud.advance(2 * HOUR)
    assert len(cloud.scheduler.list(status="failed").actions) == 1


def test_another_deadline_replaces_the_first(cloud):
    check_in(cloud, within=HOUR)
    assert check_in(cloud, within=3 * HOUR).due_at == NOON + 3 * HOUR


@pytest.mark.parametrize("within", [timedelta(seconds=59), timedelta(days=367), 60, None])
def test_another_deadline_is_rejected(within):
    with pytest.raises(InvalidArgument, match="allowed is a timedelta from 0:01:00 to 366 days"):
        check_ins.check_in("backup", within=within)


@pytest.mark.parametrize("name", ["", "a b", "-backup", "x" * 61, "naïve"])
def test_another_name_is_rejected(name):
    with pytest.raises((ValidationError, ValueError), match="name"):
        check_ins.check_in(name, within=HOUR)
