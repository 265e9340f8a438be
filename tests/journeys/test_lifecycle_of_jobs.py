"""Events of jobs on the event bus, and the jobs that follow by such an event."""

from __future__ import annotations

from typing import Any

import pytest

from duetime import App, Fatal, Run, every, manual, on_event
from duetime.errors import DeclarationError
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.shop import shop, types


def test_each_transition_of_a_job_has_an_event() -> None:
    cloud = SimulatedCloud(shop(), actor="ada")
    cloud.advance(hours=4)
    cloud.jobs.pause("nightly-clean-up", reason="a holiday")
    cloud.advance(days=1)
    cloud.jobs.resume("nightly-clean-up")
    triggered = cloud.jobs.trigger("nightly-clean-up")
    cloud.advance(minutes=1)
    of_job = [event["detail"] for event in cloud.events() if "job" in event["detail"]]
    assert [event["type"] for event in of_job] == ["job.registered", "job.paused", "job.resumed"]
    assert (of_job[1]["by"], of_job[1]["job"]["reason"]) == ("ada", "a holiday")
    assert types(cloud, triggered.id) == ["run.triggered", "run.started", "run.executed"]
    assert types(cloud, "nightly-clean-up.000001.20260101T031500Z") == [
        "run.planned",
        "run.started",
        "run.executed",
    ]


def test_a_streak_of_failures_has_one_event_and_its_end_another() -> None:
    app, is_broken = App(), [True]

    @app.job(every(hours=1), name="hourly-import", failure_threshold=3)
    def hourly(run: Run) -> None:
        if is_broken[0]:
            raise Fatal("no connection")

    cloud = SimulatedCloud(app)
    cloud.advance(hours=6, minutes=1)
    failing = cloud.events("job.failing")
    assert [event["detail"]["job"]["consecutive_failures"] for event in failing] == [3]
    assert failing[0]["detail"]["job"]["last_error"] == "Fatal: no connection"
    is_broken[0] = False
    cloud.advance(hours=3)
    assert len(cloud.events("job.succeeding")) == 1
    is_broken[0] = True
    cloud.advance(hours=3)
    assert len(cloud.events("job.failing")) == 2


def test_a_skipped_occurrence_and_an_outage_have_events() -> None:
    cloud = SimulatedCloud(shop())
    cloud.jobs.skip_next("nightly-clean-up")
    cloud.advance(hours=4)
    (skipped,) = cloud.events("run.skipped")
    assert skipped["detail"]["action"]["status"] == "skipped"


def test_a_job_follows_another_by_its_event_once_however_often_that_is_published() -> None:
    app, ran = App(), list[str]()

    @app.job(manual(), name="sales-import")
    def sales_import(run: Run) -> None:
        ran.append("import")

    @app.job(
        on_event("duetime", "run.executed", match={"action": {"job": ["sales-import"]}}), name="sales-report"
    )
    def sales_report(run: Run) -> None:
        ran.append("report")

    cloud = SimulatedCloud(app)
    cloud.jobs.trigger("sales-import")
    cloud.advance(minutes=1)
    assert ran == ["import", "report"]
    (event,) = [event for event in cloud.events("run.executed") if "import" in event["detail"]["id"]]
    cloud.memory.event({**event, "id": "another"})  # the same transition, published twice
    cloud.advance(minutes=1)
    assert ran == ["import", "report"]


@pytest.mark.parametrize(
    "match", [None, {"action": {"job": ["sales-report"]}}, {"action": {"status": ["executed"]}}]
)
def test_a_job_that_its_own_runs_could_start_is_rejected(match: Any) -> None:
    app = App()
    with pytest.raises(DeclarationError, match="for ever"):

        @app.job(on_event("duetime", "run.executed", match=match), name="sales-report")
        def sales_report(run: Run) -> None: ...


def test_passes_of_the_system_have_events_only_of_failures() -> None:
    cloud = SimulatedCloud(App())
    cloud.jobs.trigger("duetime-catch-up")
    cloud.advance(hours=13)
    assert cloud.events() == ()


def test_a_streak_that_ends_on_a_run_that_was_redriven_is_another_streak() -> None:
    app, is_broken = App(), [True]

    @app.job(manual(), name="sales-import", failure_threshold=1)
    def sales_import(run: Run) -> None:
        if is_broken[0]:
            raise Fatal("no connection")

    cloud = SimulatedCloud(app)
    cloud.jobs.trigger("sales-import")
    cloud.advance(minutes=1)
    is_broken[0] = False
    cloud.jobs.trigger("sales-import")
    cloud.advance(minutes=1)
    is_broken[0] = True
    (failed,) = cloud.actions("failed")
    cloud.memory.store.redrive(failed, cloud.now, by="ada", at=cloud.now)
    cloud.advance(minutes=1)
    ids = [event["detail"]["id"] for event in cloud.events("job.failing")]
    assert len(ids) == len(set(ids)) == 2


def test_a_definition_without_a_new_version_publishes_job_changed() -> None:
    def deployed(threshold: int) -> App:
        app = App()

        @app.job(manual(), name="sales-import", failure_threshold=threshold)
        def sales_import(run: Run) -> None: ...

        return app

    cloud = SimulatedCloud(deployed(1))
    cloud.deploy(deployed(2))
    cloud.advance(minutes=1)
    (changed,) = cloud.events("job.changed")
    assert changed["detail"]["job"]["failure_threshold"] == 2


def test_another_deployments_event_on_the_same_bus_starts_no_job() -> None:
    app, ran = App(), list[str]()

    @app.job(manual(), name="sales-import")
    def sales_import(run: Run) -> None: ...

    @app.job(
        on_event("duetime", "run.executed", match={"action": {"job": ["sales-import"]}}), name="sales-report"
    )
    def sales_report(run: Run) -> None:
        ran.append("report")

    staging = SimulatedCloud(app, settings=Settings(prefix="staging-"))
    staging.jobs.trigger("sales-import")
    staging.advance(minutes=1)
    (event,) = [event for event in staging.events("run.executed") if "import" in event["detail"]["id"]]
    ran.clear()
    production = SimulatedCloud(app)
    production.memory.event(event)
    production.advance(minutes=1)
    assert ran == []
