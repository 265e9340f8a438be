"""What a deployed stack does with jobs.

Woken by EventBridge, changed from outside, and by the next deploy.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

import pytest

from duetime import Action, Status, instant
from duetime.ids import is_event_run, nominal_at, version_of
from tests.e2e.deployment import PREFIX

pytestmark = pytest.mark.e2e

TICK, ROUND, HOURLY, ORDER = "errands-tick", "errands-round", "errands-hourly", "errands-order"
TWO_SWEEPS = 130


@pytest.fixture(scope="module")
def jobs(bench):
    return bench.scheduler.jobs


@dataclass(frozen=True)
class Requests:
    """What was requested at once, so that all of it is waited for together."""

    triggered: Action
    catch_up: Action
    event_id: str


@pytest.fixture(scope="module")
def requested(bench, jobs):
    order = {"Source": "shop", "DetailType": "OrderPlaced", "Detail": json.dumps({"order": "o-<17>"})}
    jobs.pause(HOURLY, reason="stock-taking")
    put = bench.client("events").put_events(Entries=[order])
    return Requests(jobs.trigger(HOURLY), jobs.trigger("duetime-catch-up"), put["Entries"][0]["EventId"])


def runs(jobs, name, *statuses):
    return [item for item in jobs.history(name) if item.status in statuses]


def test_a_deploy_has_eventbridge_wake_jobs_under_their_names_and_start_them_by_rules(bench):
    assert bench.job_schedules() == {TICK: "ENABLED", ROUND: "ENABLED", HOURLY: "ENABLED"}
    [rule] = bench.client("events").list_rules(NamePrefix=f"{PREFIX}errands")["Rules"]
    assert (rule["Name"], rule["State"]) == (PREFIX + ORDER, "ENABLED")


def test_a_triggered_run_runs_although_its_job_is_paused(bench, requested):
    run = bench.settled(requested.triggered.id, within=60)
    assert run.status is Status.EXECUTED
    assert run.created_by == "e2e"


def test_an_event_runs_its_job_once_however_often_it_comes(bench, jobs, requested):
    [run] = bench.eventually(lambda: runs(jobs, ORDER, Status.EXECUTED), within=60)
    assert is_event_run(run.id)
    assert json.loads(bench.scheduler.get(run.id).payload) == {"order": "o-<17>"}
    again = {
        "job": ORDER,
        "tenant": "system",
        "cadence": run.cadence,
        "event": {
            "id": requested.event_id,
            "time": instant.text(nominal_at(run.id)),
            "source": "shop",
            "detail-type": "OrderPlaced",
            "detail": {"order": "o-<17>"},
        },
    }
    answer = bench.client("lambda").invoke(FunctionName=f"{PREFIX}dispatch", Payload=json.dumps(again))
    assert json.loads(answer["Payload"].read())["id"] == run.id
    [still] = jobs.history(ORDER)
    assert (still.status, still.attempt) == (Status.EXECUTED, 1)


def test_a_job_of_ten_seconds_runs_at_each_of_them_and_never_before(bench, jobs):
    ran = bench.eventually(lambda: runs(jobs, TICK, Status.EXECUTED)[3:], within=90)
    times = [item.nominal_at for item in ran]
    assert all(time.second % 10 == 0 for time in times)
    assert {one - other for one, other in pairwise(times)} <= {timedelta(seconds=10)}
    for item in ran:
        [attempt] = item.attempts
        assert attempt.started_at >= item.nominal_at


def test_the_catch_up_is_a_job_with_a_history_and_runs_when_it_is_triggered(bench, jobs, requested):
    run = bench.settled(requested.catch_up.id, within=120)
    assert run.status is Status.EXECUTED
    assert run.id in {item.id for item in jobs.history("duetime-catch-up")}
    assert {"duetime-catch-up", "duetime-sweep"} <= {item.name for item in jobs.list()}
    assert bench.eventually(lambda: runs(jobs, "duetime-sweep", Status.EXECUTED), within=TWO_SWEEPS)


def test_a_later_deploy_decides_on_timing_and_leaves_operators_their_pause(bench, jobs, requested):
    bench.eventually(lambda: bench.job_schedules()[HOURLY] == "DISABLED", within=TWO_SWEEPS)
    before = schedule_of(bench, ROUND)

    bench.deployment.deploy(app="errands.later:app")
    assert bench.job_schedules() == {ROUND: "ENABLED", HOURLY: "DISABLED"}
    assert jobs.get(ROUND).version == 2
    assert schedule_of(bench, ROUND) != before
    removed_at = jobs.get(TICK).removed_at
    # the claim skips a run that a planner wrote during the removal
    bench.eventually(lambda: not runs(jobs, TICK, Status.PENDING), within=TWO_SWEEPS + 180)
    assert all(run.nominal_at <= removed_at for run in runs(jobs, TICK, Status.EXECUTED))
    assert jobs.get(HOURLY).is_paused

    jobs.resume(HOURLY)
    assert {run.nominal_at.minute for run in runs(jobs, HOURLY, Status.PENDING)} == {0}
    bench.eventually(lambda: bench.job_schedules()[HOURLY] == "ENABLED", within=TWO_SWEEPS)
    [*_, run] = bench.eventually(lambda: of_version(2, runs(jobs, ROUND, Status.EXECUTED)), within=150)
    assert run.nominal_at.minute % 2 == 0


def of_version(number, rows):
    return [row for row in rows if version_of(row.id) == number]


def schedule_of(bench, name):
    found = bench.client("scheduler").get_schedule(GroupName=f"{PREFIX}jobs", Name=name)
    return found["ScheduleExpression"]
