"""Lifecycle events of the embedded engine wait for due runs, but not for ever."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Payload, Run, Scheduler
from duetime.embedded.cloud import MemoryCloud
from duetime.settings import Settings

NOW = timedelta(0)


@dataclass
class HandClock:
    """A clock that the test sets."""

    at: datetime = datetime(2026, 6, 1, tzinfo=UTC)

    def now(self):
        return self.at

    def wait_until(self, instant):
        self.at = max(self.at, instant)

    def elapsed(self):
        return self.at.timestamp()


class Ping(Payload):
    """A payload."""


@pytest.fixture
def clock():
    return HandClock()


def made(clock, **options):
    """Return a cloud with ten due actions, which publishes all events, and whose first delivery is taken."""
    app = App()

    @app.action
    def ping(payload: Ping, run: Run) -> None: ...

    settings = Settings(events="all")
    cloud = MemoryCloud(app, clock=clock, settings=settings, **options)
    while cloud.turn():
        pass
    cloud.bus.published.clear()
    scheduler = Scheduler(cloud.store, tenant_id="acme", actor="ann", clock=clock, settings=settings)
    for _ in range(10):
        scheduler.schedule(Ping(), at=NOW)
    assert cloud.turn() is not None
    return cloud


def test_events_come_first_by_default(clock):
    assert len(made(clock).bus.published) == 10


def test_events_may_wait_for_due_runs_but_not_longer_than_that(clock):
    cloud = made(clock, events_wait=timedelta(seconds=1))
    assert list(cloud.bus.published) == []
    clock.at += timedelta(seconds=1)
    assert cloud.turn() is not None
    assert len(cloud.bus.published) == 10


def test_events_are_published_once_no_run_is_due(clock):
    cloud = made(clock, events_wait=timedelta(hours=1))
    for _ in range(9):
        assert cloud.turn() is not None
    assert list(cloud.bus.published) == []
    assert cloud.turn() is None
    assert len(cloud.bus.published) == 10
