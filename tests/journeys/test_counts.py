"""A count is of its job: deploys that change the time go on counting, and another start counts from zero."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from duetime import App, Registration, daily, every, interval
from duetime.cadence import parse
from duetime.errors import DeclarationError
from duetime.instant import LATEST
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, RecordedJob, accounts

START = "2026-03-03"


def test_an_edit_of_the_time_adds_no_run():
    recorded = RecordedJob(daily("09:00", start=START, count=3))
    recorded.cloud.advance(days=1, hours=9, minutes=30)
    (line,) = recorded.deploy(daily("10:00", start=START, count=3))
    assert "version 2" in line
    recorded.cloud.advance(days=5)
    assert recorded.begun == [MIDNIGHT + n * DAY + hour * HOUR for n, hour in ((0, 9), (1, 9), (1, 10))]
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 3}


@pytest.mark.parametrize(
    "again",
    [
        daily("09:00", start="2026-03-03T00:00Z", count=3),
        daily("9:00", start="2026-03-03T01:00+01:00", count=3, tz="UTC"),
        daily("09:00", start="2026-03-03T05:30", count=3, tz="Asia/Kolkata"),
        daily("09:00", start=START, count=3, tz="Asia/Kolkata"),
        interval(days=1, start="2026-03-03T00:00Z", count=3),
        parse("0 9 * * * count=3 tz=Etc/UTC start=2026-03-03T00:00"),
    ],
    ids=str,
)
def test_the_same_start_in_another_notation_or_zone_goes_on_counting(again):
    recorded = RecordedJob(daily("09:00", start=START, count=3))
    recorded.cloud.advance(days=1, hours=9, minutes=30)
    recorded.deploy(again)
    recorded.cloud.advance(days=5)
    assert len(recorded.begun) == 3
    recorded.deploy(daily("10:00", start=START, count=3))
    recorded.cloud.advance(days=5)
    assert len(recorded.begun) == 3


def test_an_edit_of_the_time_loses_no_run():
    recorded = RecordedJob(daily("10:00", start=START, count=3))
    recorded.cloud.advance(days=1, hours=9, minutes=30)
    recorded.deploy(daily("09:00", start=START, count=3))
    recorded.cloud.advance(days=5)
    assert recorded.begun == [MIDNIGHT + n * DAY + hour * HOUR for n, hour in ((0, 10), (2, 9), (3, 9))]


def test_a_count_that_comes_with_a_later_deploy_of_an_interval_begins_there():
    recorded = RecordedJob(interval(minutes=7))
    recorded.cloud.advance(hours=2)
    before = len(recorded.begun)
    recorded.deploy(interval(minutes=7, count=5))
    recorded.cloud.advance(hours=2)
    assert len(recorded.begun) - before == 5
    assert {then - first for first, then in pairwise(recorded.begun)} == {7 * MINUTE}


def test_another_title_a_pause_and_a_removal_go_on_counting():
    cadence = interval(hours=1, count=6)
    recorded = RecordedJob(cadence)
    recorded.cloud.advance(hours=2, minutes=30)
    recorded.deploy(interval(minutes=30, count=6))
    recorded.deploy(interval(minutes=30, count=6), title="Press")
    recorded.cloud.advance(minutes=40)
    recorded.cloud.deploy(App())
    recorded.cloud.advance(hours=3)
    recorded.deploy(cadence)
    recorded.cloud.advance(days=1)
    assert len(recorded.begun) == 6
    assert recorded.job.cadence_set.next_after(recorded.cloud.now) is None


def test_a_larger_count_adds_runs_and_another_start_counts_anew():
    recorded = RecordedJob(daily("09:00", start=START, count=2))
    recorded.cloud.advance(days=4)
    recorded.deploy(daily("10:00", start=START, count=3))
    recorded.cloud.advance(days=4)
    assert len(recorded.begun) == 3
    recorded.deploy(daily("10:00", start="2026-03-20", count=3))
    recorded.cloud.advance(days=40)
    assert recorded.begun[3:] == [MIDNIGHT + n * DAY + 10 * HOUR for n in (17, 18, 19)]
    recorded.deploy(interval(hours=1, count=3))
    recorded.cloud.advance(days=1)
    assert len(recorded.begun) == 9


def test_a_deploy_warns_of_a_count_that_is_used_up_each_time():
    recorded = RecordedJob(interval(hours=1, count=2))
    recorded.cloud.advance(hours=5)
    note = "press-print: its count of 2 is used up; give a larger count, or another start to count from zero"
    assert note in recorded.deploy(interval(minutes=10, count=2))
    assert recorded.deploy(interval(minutes=10, count=2)) == (note,)
    assert note not in recorded.deploy(interval(minutes=10, count=3))


def test_a_registered_job_goes_on_counting():
    recorded = RecordedJob()
    for minutes in (30, 20, 10):
        cadence = interval(minutes=minutes, count=4)
        registration = Registration(
            name="acme-print", handler="press-print", cadences=[cadence], replace=True
        )
        recorded.cloud.jobs.register(registration)
        recorded.cloud.advance(minutes=45)
    assert len(recorded.begun) == 4


def test_a_job_has_one_count():
    app = App()
    with pytest.raises(DeclarationError, match="a job has one count, and 2 of its cadences have one"):

        @app.job(interval(hours=1, count=2), daily("09:00", start=START, count=2))
        def report_send() -> None: ...


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 12))]
)
def test_whatever_is_deployed_in_between_there_are_as_many_runs_as_the_count_says(seed):
    random = Random(seed)  # noqa: S311 - test data
    start = random.choice([None, "2026-03-03T00:01Z"])

    def drawn():
        if start is None:
            return interval(minutes=random.choice([7, 10, 60]), count=9)
        kinds = [
            lambda: every(minutes=random.choice([5, 20, 60]), start=start, count=9),
            lambda: interval(minutes=random.choice([7, 60]), start=start, count=9),
            lambda: every(hours=1, start=start, count=9, spread="10m"),
        ]
        return random.choice(kinds)()

    recorded = RecordedJob(drawn())
    for _ in range(6):
        recorded.cloud.advance(minutes=random.randrange(1, 90))
        recorded.deploy(drawn(), title=random.choice(["", "Press"]))
    recorded.cloud.advance(days=2)
    assert len(recorded.begun) == 9
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 9}
    assert not recorded.cloud.memory.steps.recount(stop_at=LATEST).findings
