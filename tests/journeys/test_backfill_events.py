"""Lifecycle events and the metric of a backfill."""

import pytest

from duetime import App, RetryPolicy, Run, every
from duetime.model.metric import Metric
from duetime.testing import Faults, SimulatedCloud
from tests.journeys.recorded_job import HOUR, MIDNIGHT, RecordedJob
from tests.journeys.shop import SCHEMA

NAME = "press-print"


@pytest.fixture
def recorded():
    recorded = RecordedJob(every(minutes=10), retry=RetryPolicy(attempts=1))
    recorded.cloud.advance(hours=1)
    return recorded


def events_of(recorded):
    found = [event["detail"] for event in recorded.cloud.events() if ".backfill_" in event["detail-type"]]
    for detail in found:
        SCHEMA.validate(detail)
    return found


def words(recorded):
    return [detail["type"].removeprefix("job.backfill_") for detail in events_of(recorded)]


def begin(recorded, **options):
    return recorded.cloud.jobs.backfill(NAME, MIDNIGHT - HOUR, MIDNIGHT + HOUR, **options)


def test_a_start_and_an_end_have_one_event_each_with_the_counts(recorded):
    recorded.fails = 2
    backfill = begin(recorded)
    recorded.cloud.advance(hours=1)
    started, ended = events_of(recorded)
    assert (started["type"], started["by"]) == ("job.backfill_started", "simulation")
    assert started["job"]["state"] == "running"
    assert (ended["type"], ended["by"], ended["tenant_id"]) == ("job.backfill_ended", None, "system")
    assert ended["job"] == {
        "name": NAME,
        "backfill_id": backfill.id,
        "state": "completed",
        "from": "2026-03-02T23:00:00.000000Z",
        "until": "2026-03-03T01:00:00.000000Z",
        "total": 12,
        "executed": 5,
        "failed": 2,
        "skipped": 0,
        "cancelled": 0,
        "left_out": 5,
    }
    assert recorded.cloud.metrics.total(Metric.BACKFILL_ENDED) == 1


def test_a_pause_a_resume_and_a_cancel_have_one_event_each(recorded):
    recorded.lasts.append(HOUR)
    jobs, seen = recorded.cloud.jobs, []

    def operate(_run):
        jobs.pause_backfill(NAME)
        jobs.pause_backfill(NAME)
        jobs.resume_backfill(NAME)
        jobs.cancel_backfill(NAME)
        recorded.cloud.advance(minutes=1)
        seen.extend(words(recorded))

    recorded.stop_if_cancel_requested = operate
    begin(recorded, at_once=1)
    recorded.cloud.advance(minutes=5)
    assert seen == ["started", "paused", "resumed", "cancelled"]
    recorded.cloud.advance(minutes=5)
    assert words(recorded) == [*seen, "ended"]
    cancelled, ended = events_of(recorded)[-2:]
    assert (cancelled["by"], cancelled["job"]["state"], ended["job"]["state"]) == (
        "simulation",
        "cancelled",
        "cancelled",
    )
    assert ended["job"]["executed"] + ended["job"]["cancelled"] == 1
    assert recorded.cloud.metrics.total(Metric.BACKFILL_ENDED) == 1


@pytest.mark.parametrize("seed", range(3))
def test_under_faults_each_transition_has_one_id(seed):
    app = App()

    @app.job(every(minutes=5), name=NAME)
    def press(run: Run) -> None:
        pass

    cloud = SimulatedCloud(app, start=MIDNIGHT, faults=Faults(seed=seed))
    cloud.jobs.backfill(NAME, MIDNIGHT - 2 * HOUR, MIDNIGHT)
    cloud.advance(hours=8)
    cloud.end_faults()
    cloud.advance(hours=14)
    cloud.check()
    found = {(event["detail-type"], event["detail"]["id"]) for event in cloud.events()}
    of_backfill = [kind for kind, _ in sorted(found) if ".backfill_" in kind]
    assert of_backfill == ["job.backfill_ended", "job.backfill_started"]
