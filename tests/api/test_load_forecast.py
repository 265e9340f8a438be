"""The load of the next week, and the price of each job."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import daily, every
from duetime.api.job_views import JobPrice, price_of
from duetime.jobs.crowded_minutes import forecast
from duetime.testing import TurnedClock
from tests.api.conftest import NOW
from tests.api.deployment import CLAIMS, Deployment
from tests.journeys.recorded_job import RecordedJob

CLERK = CLAIMS | {"cognito:groups": "clerks"}


@pytest.fixture
def deployment():
    return Deployment(TurnedClock(NOW), roles={"clerks": "jobs:manage"})


def register(deployment, name, *cadences, **more):
    body = {"name": name, "type": "remark", "payload": {"text": "hello"}, "cadences": list(cadences), **more}
    assert deployment.ask("POST", "/jobs", claims=CLERK, body=body).status == 201


def load(deployment, **query):
    return deployment.ask("GET", "/jobs/load", claims=CLERK, query=query or None)


def test_the_load_has_the_crowds_and_the_peak_of_each_hour(deployment):
    for name in ("own-a", "own-b", "own-c"):
        register(deployment, name, "daily 02:30")
    register(deployment, "own-d", "every 1h", "daily 02:45")
    register(deployment, "own-e", "cron 30 2 * * 1")
    found = load(deployment, capacity="2").json
    assert (found["requested_at"], found["until"]) == ("2026-03-01T12:00:00Z", "2026-03-08T12:00:00Z")
    assert (found["jobs"], found["is_complete"], found["capacity"]) == (5, True, 2)
    assert found["minutes_over"] == 7
    assert found["crowds"] == [
        {
            "at": "2026-03-02T02:30:00Z",
            "begin": 4,
            "jobs": ["own-a", "own-b", "own-c", "own-e"],
            "times": 1,
            "over": 2,
        },
        {
            "at": "2026-03-03T02:30:00Z",
            "begin": 3,
            "jobs": ["own-a", "own-b", "own-c"],
            "times": 6,
            "over": 1,
        },
    ]
    assert len(found["hours"]) == 7 * 24
    assert next(hour for hour in found["hours"] if hour["peak"] > 2) == {
        "at": "2026-03-02T02:00:00Z",
        "begins": 6,
        "peak_at": "2026-03-02T02:30:00Z",
        "peak": 4,
    }


def test_a_job_that_begins_several_times_in_a_minute_counts_once(deployment):
    register(deployment, "own-often", "every 10s")
    first = load(deployment).json["hours"][0]
    assert (first["begins"], first["peak"]) == (60, 1)


def test_jobs_of_every_second_are_all_counted(deployment):
    for number in range(3):
        register(deployment, f"own-often-{number}", f"every {number + 1}s")
    found = load(deployment).json
    assert (found["jobs"], found["is_complete"]) == (3, True)
    assert (found["hours"][0]["begins"], found["crowds"][0]["begin"]) == (180, 3)


def test_paused_and_removed_jobs_have_no_load(deployment):
    register(deployment, "own-a", "daily 02:30")
    register(deployment, "own-b", "daily 02:30")
    assert load(deployment).json["crowds"][0]["times"] == 7
    body = {"reason": "holiday", "until": "2026-03-05T00:00:00Z"}
    assert deployment.ask("POST", "/jobs/own-a/pause", claims=CLERK, body=body).status == 204
    assert load(deployment).json["crowds"][0]["times"] == 4
    assert deployment.ask("DELETE", "/jobs/own-b", claims=CLERK).status == 204
    found = load(deployment).json
    assert (found["jobs"], found["crowds"]) == (1, [])


def test_without_a_capacity_it_is_that_of_the_deployment(deployment):
    assert load(deployment).json["capacity"] == 10


def test_more_times_than_are_counted_are_stated(deployment, monkeypatch):
    monkeypatch.setattr("duetime.api.forecasts._MOST_MINUTES", 7 * 24 + 7)
    register(deployment, "own-a", "daily 02:30")
    register(deployment, "own-b", "every 1h")
    register(deployment, "own-c", "daily 02:30")
    found = load(deployment).json
    assert (found["jobs"], found["is_complete"]) == (3, True)  # the third has the cadence of the first
    register(deployment, "own-d", "daily 03:00")
    found = load(deployment).json
    assert (found["jobs"], found["is_complete"]) == (3, False)


def test_more_jobs_than_are_read_are_stated(deployment, monkeypatch):
    monkeypatch.setattr("duetime.api.forecasts._MOST_JOBS", 2)
    for name in ("own-a", "own-b"):
        register(deployment, name, "daily 02:30")
    assert load(deployment).json["is_complete"]
    register(deployment, "own-c", "daily 02:30")
    found = load(deployment).json
    assert (found["jobs"], found["is_complete"]) == (2, False)


def test_jobs_of_the_same_times_share_their_minutes():
    jobs = [RecordedJob(every(hours=1), name=f"own-{name}").job for name in "abcd"]
    found = forecast(jobs, NOW, NOW + timedelta(days=7), most_minutes=1_000)
    assert sum(map(len, found.minutes.groups_by_minute.values())) == 7 * 24
    assert (found.minutes.jobs, found.minutes.count_at(NOW + timedelta(hours=1))) == (4, 4)
    assert found.minutes.crowds(above=3)[0].jobs == ("own-a", "own-b", "own-c", "own-d")


@pytest.mark.parametrize("capacity", ["0", "10001", "many"])
def test_an_invalid_capacity_is_rejected(deployment, capacity):
    assert load(deployment, capacity=capacity).code == "invalid-request"


def test_a_caller_without_the_permission_sees_no_load(deployment):
    nobody = CLAIMS | {"cognito:groups": "guests"}
    assert deployment.ask("GET", "/jobs/load", claims=nobody).status == 403


def test_prices_are_in_a_list_on_request_and_in_a_job(deployment):
    register(deployment, "own-a", "daily 02:30")
    register(deployment, "own-b", "every 1m")
    register(deployment, "own-c", "manual")
    unpriced = deployment.ask("GET", "/jobs", claims=CLERK).json["items"]
    assert {item["dollars_per_month"] for item in unpriced} == {None}
    page = deployment.ask("GET", "/jobs", claims=CLERK, query={"prices": "true"}).json["items"]
    runs = {item["name"]: item["runs_per_day"] for item in page}
    assert runs == {"own-a": 1.0, "own-b": pytest.approx(1440), "own-c": None}
    dollars = {item["name"]: item["dollars_per_month"] for item in page}
    assert 0 < dollars["own-a"] < dollars["own-b"] < 10
    assert dollars["own-c"] is None
    for name, price in dollars.items():
        assert deployment.ask("GET", f"/jobs/{name}", claims=CLERK).json["dollars_per_month"] == price


def test_a_price_is_that_of_the_draft(deployment):
    register(deployment, "own-a", "cron */5 9-17 * * 1-5 tz=Europe/Paris")
    body = {
        "name": "own-z",
        "type": "remark",
        "payload": {"text": "hello"},
        "cadences": ["cron */5 9-17 * * 1-5 tz=Europe/Paris"],
    }
    draft = deployment.ask("POST", "/jobs/draft", claims=CLERK, body=body).json
    job = deployment.ask("GET", "/jobs/own-a", claims=CLERK).json
    assert [draft[name] for name in ("runs_per_day", "dollars_per_month")] == [
        job[name] for name in ("runs_per_day", "dollars_per_month")
    ]


def test_a_removed_job_has_no_price():
    job = RecordedJob(daily("02:30")).job
    assert price_of(job, NOW).runs_per_day == 1
    assert price_of(replace(job, removed_at=NOW), NOW) == JobPrice(None, None)


def test_jobs_of_duetime_itself_have_neither_load_nor_price(ask):
    found = ask("GET", "/load").json
    items = {item["name"]: item for item in ask("GET", query={"prices": "true"}).json["items"]}
    own = {name for name in items if name.startswith("duetime-")}
    assert own
    assert {items[name]["dollars_per_month"] for name in own} == {None}
    assert items["billing-hourly"]["dollars_per_month"] > 0
    assert found["jobs"] == len(items) - len(own)
