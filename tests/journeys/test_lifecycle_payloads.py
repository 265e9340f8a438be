"""Payloads in published events: only opted-in types, with sensitive fields redacted."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.model.action_events import with_payload
from duetime.model.lifecycle import EventName, LifecycleEvent
from duetime.model.manifest import WorkerRoute
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.shop import SCHEMA, Invoice, Shout, Whisper, shop


def test_events_contain_payloads_only_of_types_that_opt_in() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="all"))
    cloud.scheduler.schedule(Shout(text="hey"), at=timedelta(minutes=5))
    cloud.scheduler.schedule(Invoice(number=99), at=timedelta(minutes=5))
    cloud.scheduler.schedule(Shout(text="x" * 5_000), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    scheduled = [event["detail"]["action"] for event in cloud.events("action.scheduled")]
    assert [subject.get("payload") for subject in scheduled] == [{"text": "hey"}, None, None]
    assert '"number"' not in json.dumps(scheduled)


def test_events_leave_out_sensitive_fields() -> None:
    cloud = SimulatedCloud(shop(), settings=Settings(events="all"))
    cloud.scheduler.schedule(Whisper(text="secret", to=({"name": "secret"},)), at=timedelta(minutes=5))
    cloud.advance(minutes=10)
    subjects = [event["detail"]["action"] for event in cloud.events() if "action" in event["detail"]]
    whispered = [subject for subject in subjects if subject["type"] == "whisper"]
    assert whispered
    for subject in whispered:
        assert subject["payload"] == {"text": "[redacted]", "to": [{"name": "[redacted]"}]}
        assert subject["redacted"] == ["text", "to.name"]
    assert "secret" not in json.dumps(cloud.events())
    for event in cloud.events():
        SCHEMA.validate(event["detail"])


@pytest.mark.parametrize("version", [1, 3])
def test_events_leave_out_a_payload_of_another_version(version: int) -> None:
    route = WorkerRoute(2, "default", is_in_events=True, sensitive=("text",))
    cloud = SimulatedCloud(shop())
    row = cloud.scheduler.schedule(Shout(text="secret"), at=timedelta(minutes=5))
    event = LifecycleEvent(
        subject="action",
        word=EventName.SCHEDULED,
        number="1.0",
        at=row.due_at,
        tenant_id=row.tenant_id,
        name=row.id,
        about={},
    )
    published = with_payload(event, replace(row, payload_version=version), route)
    assert published.about == {"payload": None, "redacted": ["*"]}
