"""Events of actions on the event bus, and the form that every event has."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from duetime.model.lifecycle import LifecycleEvent
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud
from tests.journeys.shop import SCHEMA, Invoice, shop, types

_START = datetime(2026, 6, 1, tzinfo=UTC)


def test_by_default_a_successful_one_shot_has_no_events() -> None:
    cloud = SimulatedCloud(shop())
    action = cloud.scheduler.schedule(Invoice(number=7), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    assert types(cloud, action.id) == []


def test_with_all_events_each_step_of_a_one_shot_has_an_event() -> None:
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


def test_with_events_off_nothing_is_published() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="off"))
    cloud.scheduler.schedule(Invoice(number=1), at=timedelta(minutes=5))
    cloud.advance(days=2)
    assert cloud.events() == ()


def test_failure_cancel_reschedule_and_redrive_events_name_the_caller() -> None:
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
    by = {event["detail-type"]: event["detail"]["by"] for event in cloud.events()}
    assert by["action.cancelled"] == by["action.rescheduled"] == by["action.redriven"] == "ada"


@pytest.mark.parametrize("seed", range(20))
def test_every_event_has_the_published_form_and_its_own_id(seed: int) -> None:
    cloud = SimulatedCloud(shop(), start=_START, settings=Settings(events="all"), faults=Faults(seed=seed))
    jitter_draw = random.Random(seed)  # noqa: S311 - plays chance
    ids = [
        cloud.scheduler.schedule(
            Invoice(number=jitter_draw.randrange(4)), at=timedelta(minutes=jitter_draw.randrange(90))
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
    for event in events:
        SCHEMA.validate(event["detail"])
        assert event["detail-type"] == event["detail"]["type"]
    named = [event["detail"]["id"] for event in events]
    assert len(named) == len(set(named))
    cloud.close()


def test_a_waiting_event_is_read_unchanged() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="all"))
    cloud.scheduler.schedule(Invoice(number=1), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    published = list[LifecycleEvent]()
    cloud.memory.bus.put = published.extend  # type: ignore[method-assign]  # a bus that takes facts
    cloud.scheduler.schedule(Invoice(number=1), at=timedelta(minutes=5))
    cloud.advance(days=1)
    assert published
    assert [LifecycleEvent.from_json(event.to_json()) for event in published] == published


def test_a_cancelled_retry_has_the_time_of_its_cancel() -> None:
    cloud = SimulatedCloud(shop())
    action = cloud.scheduler.schedule(Invoice(number=2), at=timedelta(minutes=1))
    cloud.advance(minutes=1, seconds=30)
    cloud.scheduler.cancel(action.id)
    cloud.advance(minutes=1)
    (cancelled,) = cloud.events("action.cancelled")
    assert cancelled["detail"]["at"] == "2026-01-01T00:01:30.000000Z"
    assert cancelled["detail"]["action"]["reason"] is None
