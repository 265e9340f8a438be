"""``duetime app check --storm``: minutes in which too many jobs begin, and moves that spread them."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, cron, daily, every, weekly
from duetime.cadence import parse
from duetime.environment import USUAL_CONCURRENCY
from duetime.simulate import storms
from tests.cli.test_check import check  # noqa: F401 - a fixture

START = datetime(2027, 1, 4, tzinfo=UTC)
WEEK = START + timedelta(days=7)


def app_of(**cadences):
    app = App(default_tz="Europe/Paris")
    for name, cadence in cadences.items():

        def work() -> None: ...

        app.job(cadence, name=name.replace("_", "-"))(work)
    return app


KINDS = [cron("0 2 * * *"), daily("02:00"), weekly("mon-sun", "02:00")]


def nightly(count):
    return {f"job_{number}": KINDS[number % 3].with_default_tz("Europe/Paris") for number in range(count)}


def test_the_moves_leave_as_many_jobs_in_each_minute_as_the_worker_takes():
    cadences = nightly(30)
    [storm] = storms(app_of(**cadences), START, WEEK, capacity=4)
    assert (len(storm.jobs), storm.times) == (30, 7)
    assert len(storm.moves) == 26
    moved = cadences | {move.job.replace("-", "_"): parse(move.new) for move in storm.moves}
    assert storms(app_of(**moved), START, WEEK, capacity=4) == []
    minutes = Counter(at for cadence in moved.values() for at in cadence.between(START, WEEK))
    assert sum(minutes.values()) == 30 * 7
    assert {at.hour for at in minutes} == {1}


def test_a_move_changes_the_minute_alone():
    app = app_of(a_first=daily("02:00"), b_second=cron("0 2 * * mon-fri", dst="vixie"))
    [storm] = storms(app, START, WEEK, capacity=1)
    [move] = storm.moves
    assert move.old == "cron 0 2 * * MON-FRI default_tz=Europe/Paris dst=vixie"
    minute = move.new.split()[1]
    assert move.new == f"cron {minute} 2 * * MON-FRI default_tz=Europe/Paris dst=vixie"
    assert minute != "0"


def test_a_move_goes_to_no_minute_that_is_full():
    busy = {
        f"busy_{minute}": cron(f"{minute} 2 * * *", tz="Europe/Paris")
        for minute in range(1, 60)
        if minute != 41
    }
    cadences = busy | {
        "a_first": daily("02:00", tz="Europe/Paris"),
        "b_second": daily("02:00", tz="Europe/Paris"),
    }
    [storm] = storms(app_of(**cadences), START, WEEK, capacity=1)
    assert [move.new for move in storm.moves] == ["daily 02:41 tz=Europe/Paris"]


def test_jobs_without_a_fixed_minute_are_counted_and_not_moved():
    app = app_of(a_first=daily("02:00"), b_often=every(minutes=10), c_macro="@hourly")
    found = storms(app, START, WEEK, capacity=1)
    assert [len(storm.jobs) for storm in found] == [3, 2]
    assert [[move.job for move in storm.moves] for storm in found] == [["a-first"], []]


def test_a_job_with_a_fixed_minute_moves_before_one_without():
    app = app_of(a_fixed=daily("02:00"), b_hourly="@hourly")
    [storm] = storms(app, START, WEEK, capacity=1)
    assert [move.job for move in storm.moves] == ["a-fixed"]


def test_in_an_hour_without_room_no_job_moves():
    app = app_of(a_fixed=daily("02:00"), b_often=every(minutes=1))
    [storm] = storms(app, START, WEEK, capacity=1)
    assert storm.moves == ()


def test_within_the_capacity_there_is_no_storm():
    assert storms(app_of(**nightly(4)), START, WEEK, capacity=4) == []


JOBS = """
from duetime import App, daily

app = App()
for number in range(12):
    def work() -> None: ...
    app.job(daily("02:00"), name=f"job-{number:02}")(work)
"""


def test_the_command_prints_storms_and_moves(check):  # noqa: F811
    status, output, _ = check(JOBS, "--storm")
    assert status == 0
    assert "storm: 12 jobs begin at 2" in output
    assert "job-11  daily 02:00  daily 02:" in output
    assert "no minute of the next week has more than 12 jobs" in check(JOBS, "--storm", "12")[1]
    assert USUAL_CONCURRENCY == 10


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_number_below_one_is_bad_usage(check, number):  # noqa: F811
    status, _, _ = check(JOBS, f"--storm={number}")
    assert status == 2
