"""Jobs that start each other by events stop without intervention."""

from datetime import timedelta

import pytest

from duetime import App, Payload, Run, on_event
from duetime.model.action import SkipReason, Status
from duetime.model.event_pattern import matches
from duetime.model.event_pattern_rules import problems_of
from duetime.model.notification import NotificationKind, event_detail
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.notified_tenants import World


def started_by(*jobs):
    return on_event("duetime", "run.executed", match={"action": {"job": [*jobs]}})


@pytest.fixture
def ran():
    return []


@pytest.fixture
def app(ran):
    """Two jobs that start each other, after a first event from outside."""
    app = App()

    @app.job(on_event("shop", "order"), started_by("send-pong"), name="send-ping")
    def ping(run: Run) -> None:
        ran.append((run.job, run.depth))

    @app.job(started_by("send-ping"), name="send-pong")
    def pong(run: Run) -> None:
        ran.append((run.job, run.depth))

    return app


def test_two_jobs_that_start_each_other_stop_at_the_eighth_run(app, ran):
    cloud = SimulatedCloud(app)
    cloud.send_event("shop", "order", {})
    cloud.advance(hours=2)
    assert ran == [("send-ping" if depth % 2 else "send-pong", depth) for depth in range(1, 9)]
    [refused] = cloud.actions("skipped")
    assert (refused.skip_reason, refused.depth) == (SkipReason.REFUSED, 9)
    assert "8 events in a row" in refused.note
    [published] = cloud.events("run.skipped")
    assert published["detail"]["action"]["reason"] == refused.note
    cloud.check()


def test_the_admins_are_notified_once_of_a_refused_chain(app):
    cloud = SimulatedCloud(app)
    cloud.send_event("shop", "order", {})
    cloud.advance(hours=2)
    world, pattern = World(), event_detail("duetime-")
    chosen = [event for event in cloud.events() if matches(pattern, event["detail"])]
    assert not problems_of(pattern)
    for event in chosen * 2:
        world.notify(event)
    [entry] = world.entries("system")
    assert (entry.kind, entry.about) == (NotificationKind.CHAIN_REFUSED, "send-ping")
    assert "8 events in a row" in entry.facts["reason"]


def test_the_event_of_a_refused_run_starts_nothing(ran):
    app = App()

    @app.job(on_event("shop", "order"), name="send-order")
    def order(run: Run) -> None:
        ran.append(run.depth)

    @app.job(on_event("duetime", "run.skipped", match={"action": {"job": ["send-order"]}}), name="send-note")
    def note(run: Run) -> None:
        ran.append(run.depth)

    cloud = SimulatedCloud(app)
    cloud.send_event("shop", "order", {"duetime_depth": 8})
    cloud.advance(hours=1)
    assert [row.status for row in cloud.actions()] == [Status.SKIPPED]
    assert ran == []


class Step(Payload):
    """Scheduled by a handler."""


def test_what_a_handler_schedules_or_triggers_has_the_depth_of_its_run():
    depths, app = [], App()

    @app.job(on_event("duetime", "action.executed", match={"action": {"type": ["step"]}}), name="chain-link")
    def chain(run: Run) -> None:
        depths.append(run.depth)
        cloud.scheduler.schedule(Step(), at=timedelta(0))

    @app.action
    def step(payload: Step, run: Run) -> None:
        del payload
        depths.append(run.depth)

    cloud = SimulatedCloud(app, settings=Settings(events="all"))
    first = cloud.scheduler.schedule(Step(), at=timedelta(0))
    cloud.advance(hours=1)
    assert first.depth == 0
    assert depths == [0, *(depth for depth in range(1, 9) for _ in range(2))]


def test_a_handler_s_own_event_carries_the_depth_in_its_detail():
    depths, app = [], App()

    @app.job(on_event("shop", "again"), name="start-again")
    def again(run: Run) -> None:
        depths.append(run.depth)
        cloud.send_event("shop", "again", {"duetime_depth": run.depth})

    cloud = SimulatedCloud(app)
    cloud.send_event("shop", "again", {"duetime_depth": "no number"})
    cloud.advance(hours=1)
    assert depths == [*range(1, 9)]
