"""What is told of actions and jobs on the event bus."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from duetime import App, Fatal, Payload, Retry, RetryPolicy, Run, daily, every, manual, on_event
from duetime.action_events import with_payload
from duetime.errors import DeclarationError
from duetime.lifecycle import LifecycleEvent, Word
from duetime.manifest import Route
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud

SCHEMA = Draft202012Validator(
    json.loads(Path(__file__).parents[2].joinpath("docs/lifecycle-event.schema.json").read_text())
)
_START = datetime(2026, 6, 1, tzinfo=UTC)


class Invoice(Payload):
    number: int


class Shout(Payload, in_events=True):
    text: str


class Whisper(Payload, version=2, in_events=True, sensitive=("text", "to.name")):
    text: str
    to: tuple[dict[str, Any], ...] = ()


def shop() -> App:
    app = App()

    @app.action(retry=RetryPolicy(attempts=2, backoff=60))
    def send_invoice(payload: Invoice) -> None:
        if payload.number == 1:
            raise Fatal("no such invoice")
        if payload.number == 2:
            raise Retry("busy", after=60)

    @app.action
    def shout(payload: Shout) -> None: ...

    @app.action
    def whisper(payload: Whisper) -> None: ...

    @app.job(daily("03:15"), name="nightly-clean-up")
    def nightly(run: Run) -> None: ...

    return app


def types(cloud: SimulatedCloud, name: str) -> list[str]:
    """The types of the events that speak of an action or a job."""
    return [each["detail-type"] for each in cloud.events() if f"/{name}/" in each["detail"]["id"]]


def test_by_default_a_one_shot_that_succeeds_is_not_told_of() -> None:
    cloud = SimulatedCloud(shop())
    action = cloud.scheduler.schedule(Invoice(number=7), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    assert types(cloud, action.id) == []


def test_with_all_events_each_step_of_a_one_shot_is_told_of() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="all"))
    action = cloud.scheduler.schedule(Invoice(number=2), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    assert types(cloud, action.id) == [
        "action.scheduled",
        "action.started",
        "action.retrying",
        "action.started",
        "action.failed",
    ]


def test_with_events_off_nothing_is_told_of() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="off"))
    cloud.scheduler.schedule(Invoice(number=1), at=timedelta(minutes=5))
    cloud.advance(days=2)
    assert cloud.events() == ()


def test_a_failure_a_cancel_a_reschedule_and_a_redrive_are_told_of_with_who_did_it() -> None:
    cloud = SimulatedCloud(shop(), actor="ada")
    failed = cloud.scheduler.schedule(Invoice(number=1), at=timedelta(minutes=5))
    moved = cloud.scheduler.schedule(Invoice(number=7), at=timedelta(minutes=5))
    cloud.scheduler.reschedule(moved.id, cloud.now + timedelta(hours=1))
    cloud.scheduler.cancel(moved.id)
    cloud.advance(minutes=10)
    cloud.scheduler.redrive(failed.id)
    cloud.advance(minutes=10)
    assert types(cloud, moved.id) == ["action.rescheduled", "action.cancelled"]
    assert types(cloud, failed.id) == ["action.failed", "action.redriven", "action.failed"]
    by = {each["detail-type"]: each["detail"]["by"] for each in cloud.events()}
    assert by["action.cancelled"] == by["action.rescheduled"] == by["action.redriven"] == "ada"


def test_of_a_job_everything_is_told_its_successes_too() -> None:
    cloud = SimulatedCloud(shop(), actor="ada")
    cloud.advance(hours=4)
    cloud.jobs.pause("nightly-clean-up", reason="a holiday")
    cloud.advance(days=1)
    cloud.jobs.resume("nightly-clean-up")
    triggered = cloud.jobs.trigger("nightly-clean-up")
    cloud.advance(minutes=1)
    of_job = [each["detail"] for each in cloud.events() if "job" in each["detail"]]
    assert [each["type"] for each in of_job] == ["job.registered", "job.paused", "job.resumed"]
    assert (of_job[1]["by"], of_job[1]["job"]["reason"]) == ("ada", "a holiday")
    assert types(cloud, triggered.id) == ["run.triggered", "run.started", "run.executed"]
    assert types(cloud, "nightly-clean-up.000001.20260101T031500Z") == [
        "run.planned",
        "run.started",
        "run.executed",
    ]


def test_a_streak_of_failures_is_told_once_and_its_end_once() -> None:
    app, is_broken = App(), [True]

    @app.job(every(hours=1), name="hourly-import", failure_threshold=3)
    def hourly(run: Run) -> None:
        if is_broken[0]:
            raise Fatal("no connection")

    cloud = SimulatedCloud(app)
    cloud.advance(hours=6, minutes=1)
    failing = cloud.events("job.failing")
    assert [each["detail"]["job"]["consecutive_failures"] for each in failing] == [3]
    assert failing[0]["detail"]["job"]["last_error"] == "Fatal: no connection"
    is_broken[0] = False
    cloud.advance(hours=3)
    assert len(cloud.events("job.succeeding")) == 1
    is_broken[0] = True
    cloud.advance(hours=3)
    assert len(cloud.events("job.failing")) == 2


def test_a_skipped_occurrence_and_an_outage_are_told_of() -> None:
    cloud = SimulatedCloud(shop())
    cloud.jobs.skip_next("nightly-clean-up")
    cloud.advance(hours=4)
    (skipped,) = cloud.events("run.skipped")
    assert skipped["detail"]["action"]["status"] == "skipped"


def test_a_payload_is_told_only_where_its_type_asks_for_it() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="all"))
    cloud.scheduler.schedule(Shout(text="hey"), at=timedelta(minutes=5))
    cloud.scheduler.schedule(Invoice(number=99), at=timedelta(minutes=5))
    cloud.scheduler.schedule(Shout(text="x" * 5_000), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    scheduled = [each["detail"]["action"] for each in cloud.events("action.scheduled")]
    assert [each.get("payload") for each in scheduled] == [{"text": "hey"}, None, None]
    assert '"number"' not in json.dumps(scheduled)


def test_what_a_payload_keeps_as_sensitive_is_told_to_nobody() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="all"))
    cloud.scheduler.schedule(Whisper(text="secret", to=({"name": "secret"},)), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    told = [each["detail"]["action"] for each in cloud.events() if "action" in each["detail"]]
    whispered = [each for each in told if each["type"] == "whisper"]
    assert whispered
    for each in whispered:
        assert each["payload"] == {"text": "[redacted]", "to": [{"name": "[redacted]"}]}
        assert each["redacted"] == ["text", "to.name"]
    assert "secret" not in json.dumps(cloud.events())
    for event in cloud.events():
        SCHEMA.validate(event["detail"])


@pytest.mark.parametrize("version", [1, 3])
def test_nothing_is_told_of_a_payload_that_another_version_wrote(version: int) -> None:
    route = Route(2, "default", is_told=True, sensitive=("text",))
    cloud = SimulatedCloud(shop())
    row = cloud.scheduler.schedule(Shout(text="secret"), at=timedelta(minutes=5))
    event = LifecycleEvent(
        subject="action",
        word=Word.SCHEDULED,
        number="1.0",
        at=row.due_at,
        tenant_id=row.tenant_id,
        name=row.id,
        about={},
    )
    told = with_payload(event, replace(row, payload_version=version), route)
    assert told.about == {"payload": None, "redacted": ["*"]}


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
    (event,) = [each for each in cloud.events("run.executed") if "import" in each["detail"]["id"]]
    cloud._cloud.event({**event, "id": "another"})  # the same transition, published twice
    cloud.advance(minutes=1)
    assert ran == ["import", "report"]


@pytest.mark.parametrize(
    "match", [None, {"action": {"job": ["sales-report"]}}, {"action": {"status": ["executed"]}}]
)
def test_a_job_that_its_own_runs_could_start_is_refused(match: Any) -> None:
    app = App()
    with pytest.raises(DeclarationError, match="for ever"):

        @app.job(on_event("duetime", "run.executed", match=match), name="sales-report")
        def sales_report(run: Run) -> None: ...


def test_of_the_systems_own_passes_nothing_is_told_but_failures() -> None:
    cloud = SimulatedCloud(App())
    cloud.jobs.trigger("duetime-catch-up")
    cloud.advance(hours=13)
    assert cloud.events() == ()


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_each_event_has_the_published_form_and_an_id_of_its_own(seed: int) -> None:
    cloud = SimulatedCloud(shop(), start=_START, settings=Settings(events="all"), faults=Faults(seed=seed))
    chance = random.Random(seed)  # noqa: S311 - plays chance
    ids = [
        cloud.scheduler.schedule(
            Invoice(number=chance.randrange(4)), at=timedelta(minutes=chance.randrange(90))
        ).id
        for _ in range(12)
    ]
    cloud.scheduler.cancel(ids[0])
    cloud.jobs.pause("nightly-clean-up", until=_START + timedelta(days=1, hours=5))
    cloud.advance(hours=3)
    cloud.jobs.trigger("nightly-clean-up")
    cloud.end_faults()
    cloud.advance(days=3)
    events = cloud.events()
    for each in events:
        SCHEMA.validate(each["detail"])
        assert each["detail-type"] == each["detail"]["type"]
    named = [each["detail"]["id"] for each in events]
    assert len(named) == len(set(named))
    cloud.close()


def test_an_event_that_waits_reads_as_it_was_written() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="all"))
    cloud.scheduler.schedule(Invoice(number=1), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    told = list[LifecycleEvent]()
    cloud._cloud.bus.put = told.extend  # type: ignore[method-assign]  # a bus that takes facts
    cloud.scheduler.schedule(Invoice(number=1), at=timedelta(minutes=5))
    cloud.advance(days=1)
    assert told
    assert [LifecycleEvent.from_json(each.to_json()) for each in told] == told


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
    cloud._cloud.store.redrive(failed.ref, cloud.now, by="ada", at=cloud.now)
    cloud.advance(minutes=1)
    ids = [each["detail"]["id"] for each in cloud.events("job.failing")]
    assert len(ids) == len(set(ids)) == 2


def test_a_definition_that_makes_no_new_version_is_told_as_changed() -> None:
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


def test_a_retry_that_is_called_off_was_cancelled_then_and_not_when_it_last_ran() -> None:
    cloud = SimulatedCloud(shop())
    action = cloud.scheduler.schedule(Invoice(number=2), at=timedelta(minutes=1))
    cloud.advance(minutes=1, seconds=30)
    cloud.scheduler.cancel(action.id)
    cloud.advance(minutes=1)
    (cancelled,) = cloud.events("action.cancelled")
    assert cancelled["detail"]["at"] == "2026-01-01T00:01:30.000000Z"
    assert cancelled["detail"]["action"]["reason"] is None


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
    (event,) = [each for each in staging.events("run.executed") if "import" in each["detail"]["id"]]
    ran.clear()
    production = SimulatedCloud(app)
    production._cloud.event(event)
    production.advance(minutes=1)
    assert ran == []
