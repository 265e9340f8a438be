"""Jobs on the handlers and back ends of a deployment."""

from datetime import timedelta
from http.client import HTTPConnection
from itertools import pairwise

import boto3
import pytest

from duetime.clock import SystemClock
from duetime.local import LocalCloud, LocalOptions
from duetime.local.welcome import job_lines, upcoming_runs
from duetime.model.action import Status
from tests.local.conftest import SHORT, eventually, rest
from tests.local.recording_app import MINUTE, TEN_SECONDS, UPLOADED, Document, Runs, app_of


@pytest.fixture(scope="module")
def runs():
    return Runs()


@pytest.fixture(scope="module")
def cloud(runs):
    """One cloud for the module; it delivers half of the messages twice."""
    options = LocalOptions(settings=SHORT, message_doubles=0.5)
    with LocalCloud(app_of(runs), options) as cloud:
        yield cloud


@pytest.fixture
def jobs(cloud):
    return cloud.scheduler(actor="ann").jobs


def settled(jobs, action):
    """Wait until the run of a job is final, and return it."""

    def final():
        found = next(past_run for past_run in jobs.history(action.job) if past_run.id == action.id)
        return found if found.status.is_final else None

    return eventually(final, f"the end of {action.id}")


def test_a_job_of_every_ten_seconds_runs_on_the_second_and_never_before(runs, jobs):
    (first, *_) = runs.wait_for(TEN_SECONDS)
    assert first.trigger == "cadence"
    for run in runs.of(TEN_SECONDS):
        assert (run.nominal_at.second % 10, run.nominal_at.microsecond) == (0, 0)
    started = [
        past_run
        for past_run in jobs.history(TEN_SECONDS)
        if past_run.attempts and past_run.trigger == "cadence"
    ]
    assert all(past_run.attempts[0].started_at >= past_run.nominal_at for past_run in started)
    assert len({run.id for run in runs.of(TEN_SECONDS)}) == len(runs.of(TEN_SECONDS))


def test_a_job_of_every_minute_is_planned_ahead_minute_by_minute(cloud, jobs):
    rows = [past_run.nominal_at for past_run in jobs.history(MINUTE)][::-1]
    assert len(rows) >= 2
    assert {row.second for row in rows} == {0}
    assert all(after - before == timedelta(minutes=1) for before, after in pairwise(rows))


def test_a_repeated_event_starts_one_run_with_its_detail(cloud, runs, jobs):
    (answer,) = boto3.client("events").put_events(Entries=[UPLOADED])["Entries"]
    assert answer["EventId"]
    (run, *_) = runs.wait_for("search-add-document")
    (row,) = (past_run for past_run in jobs.history("search-add-document") if past_run.id == run.id)
    assert settled(jobs, row).status is Status.EXECUTED
    payloads = [payload for past_run, payload in runs.calls if past_run.id == run.id]
    assert payloads == [Document(document=7)]
    assert run.trigger == "event"


@pytest.mark.parametrize(
    "entry",
    [
        UPLOADED | {"Source": "shop"},
        UPLOADED | {"DetailType": "Removed"},
        UPLOADED | {"EventBusName": "another"},
    ],
)
def test_an_event_that_matches_no_rule_starts_nothing(cloud, jobs, entry):
    before = {past_run.id for past_run in jobs.history("search-add-document")}
    boto3.client("events").put_events(Entries=[entry])
    rest(0.3)
    assert {past_run.id for past_run in jobs.history("search-add-document")} == before


def test_a_job_is_paused_triggered_and_resumed(cloud, jobs):
    job = "shop-clean-up"
    jobs.pause(job, reason="the shop is closed")
    assert [
        upcoming_run.next_run
        for upcoming_run in upcoming_runs(cloud.jobs, SystemClock().now())
        if upcoming_run.name == job
    ] == ["paused"]
    requested = jobs.trigger(job)
    done = settled(jobs, requested)
    assert (done.status, done.created_by, done.trigger) == (Status.EXECUTED, "ann", "manual")
    jobs.resume(job)
    assert not jobs.get(job).is_paused


def test_sweep_and_catch_up_are_jobs_with_a_history_and_can_be_triggered(cloud, jobs):
    def by_clock():
        return [past_run for past_run in jobs.history("duetime-sweep") if past_run.trigger == "cadence"]

    (first, *_) = eventually(by_clock, "the first sweep")
    assert first.status is Status.EXECUTED
    assert first.attempts[0].message.startswith("sent ")
    done = settled(jobs, jobs.trigger("duetime-catch-up"))
    assert (done.status, done.trigger) == (Status.EXECUTED, "manual")


def test_the_start_lists_the_jobs_with_their_next_runs(cloud):
    connection = HTTPConnection(cloud.url.removeprefix("http://"))
    connection.request("GET", "/local")
    page = connection.getresponse().read().decode()
    connection.close()
    lines = job_lines(upcoming_runs(cloud.jobs, SystemClock().now()))
    assert [line.split()[0] for line in lines] == sorted(cloud.app.jobs)
    assert any("every 10 seconds" in line and "next " in line for line in lines)
    assert "search-add-document  on each event Uploaded from kb" in lines
    for job in cloud.app.jobs:
        assert f"<code>{job}</code>" in page


def test_the_start_lists_at_most_twenty_jobs(cloud):
    (one, *_) = upcoming_runs(cloud.jobs, SystemClock().now())
    assert job_lines([one] * 23)[20:] == ["and 3 more"]
