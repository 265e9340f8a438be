"""The worked example of data ingestion.

Three ways in, one refresh of a source at a time, and nothing twice.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from duetime.testing import Faults, SimulatedCloud
from examples.ingestion import Page, Refreshing, WarehouseInMemory, app

PRICES, RATES = "ingestion-refresh-prices", "ingestion-refresh-rates"
START = datetime(2026, 3, 27, 4, tzinfo=UTC)
"""Friday morning in Paris, before its clocks change; New York's have changed."""


class Feed:
    """A source that has what was published; it may be away."""

    def __init__(self, now):
        self.published, self.away, self.requests, self._now = Counter(), 0, [], now

    def fetch(self, source, bookmark):
        self.requests.append((source, self._now()))
        if self.away:
            self.away -= 1
            raise ConnectionError(f"{source} is away")
        until = self.published[source]
        return Page([f"{source} {n}" for n in range(bookmark, until)], until)


class Slow(Refreshing):
    """Takes half a minute before it has fetched, and half a minute after."""

    busy, most = Counter(), Counter()

    def refresh(self, source, run):
        self.busy[source] += 1
        self.most[source] = max(self.most[source], self.busy[source])
        run.clock.wait_until(run.now() + timedelta(seconds=30))
        super().refresh(source, run)
        run.clock.wait_until(run.now() + timedelta(seconds=30))
        self.busy[source] -= 1


class World:
    def __init__(self, faults=None, kind=Refreshing):
        self.feed, self.warehouse = Feed(lambda: self.cloud.now), WarehouseInMemory()
        given = {Refreshing: kind(self.feed, self.warehouse)}
        self.cloud = SimulatedCloud(app, start=START, resources=given, faults=faults)

    def publish(self, source, *, says=True):
        self.feed.published[source] += 1
        if says:
            self.cloud.send_event(f"{source}.example", "Published", {"source": source})

    def runs(self, job):
        return list(self.cloud.jobs.history(job))[::-1]


@pytest.fixture
def world():
    return World()


def test_each_source_is_read_at_its_own_hour_in_its_own_zone(world):
    world.cloud.advance(days=3, hours=20)
    assert [(source, at.day, at.hour, at.minute) for source, at in world.feed.requests] == [
        ("prices", 27, 5, 0),
        ("rates", 27, 21, 30),
        ("prices", 30, 4, 0),  # Paris has changed its clocks, and a weekend has passed
        ("rates", 30, 21, 30),
    ]


def test_an_event_and_an_operator_start_it_too(world):
    world.publish("prices")
    world.cloud.advance(seconds=1)
    assert world.warehouse.rows == {"prices": ["prices 0"]}
    world.publish("prices", says=False)
    world.cloud.jobs.trigger(PRICES)
    world.cloud.advance(seconds=1)
    assert world.warehouse.rows == {"prices": ["prices 0", "prices 1"]}
    executed = [run.trigger for run in world.runs(PRICES) if run.status == "executed"]
    assert executed == ["event", "manual"]


def test_an_unavailable_source_is_retried_with_backoff_until_it_responds(world):
    world.feed.away = 3
    world.publish("prices")
    world.cloud.advance(minutes=5)
    (run,) = [run for run in world.runs(PRICES) if run.status == "executed"]
    assert [attempt.ending for attempt in run.attempts] == ["failed"] * 3 + ["executed"]
    requests = [at for _, at in world.feed.requests]
    pauses = [then - first for first, then in pairwise(requests)]
    assert pauses == sorted(pauses)
    assert pauses[0] >= timedelta(seconds=5)
    assert world.warehouse.rows == {"prices": ["prices 0"]}


def test_an_unavailable_source_is_a_dead_letter_and_the_next_refresh_fetches_the_missing_rows(world):
    world.feed.away = 5
    world.publish("prices")
    world.cloud.advance(minutes=20)
    (failed,) = world.cloud.actions("failed")
    assert failed.failure_reason == "ConnectionError: prices is away"
    world.publish("prices")
    world.cloud.advance(seconds=1)
    assert world.warehouse.rows == {"prices": ["prices 0", "prices 1"]}


def test_concurrent_triggers_run_one_queue_one_and_miss_none():
    world = World(Faults.only(3), Slow)  # with faults, which here are none, runs may last
    world.publish("prices")
    world.cloud.advance(seconds=40)
    for _ in range(3):
        world.publish("prices")
    world.cloud.jobs.trigger(PRICES)
    world.publish("rates")
    world.cloud.advance(minutes=5)
    world.cloud.close()
    assert dict(Slow.most) == {"prices": 1, "rates": 1}
    assert world.warehouse.rows == {"prices": [f"prices {n}" for n in range(4)], "rates": ["rates 0"]}
    ended = Counter(run.status for run in world.runs(PRICES) if run.trigger != "cadence")
    assert ended == {"executed": 2, "skipped": 3}


@pytest.mark.parametrize("seed", range(4))
def test_under_faults_every_row_is_stored_once(seed):
    world = World(Faults.only(seed, crash=0.1, drop=0.1, double=0.3))
    for _ in range(10):
        world.publish("prices")
        world.publish("rates")
        world.cloud.advance(minutes=7)
    world.cloud.end_faults()
    world.cloud.advance(days=3, hours=20)
    for source in ("prices", "rates"):
        assert world.warehouse.rows[source] == [f"{source} {n}" for n in range(10)]
    world.cloud.check()
    world.cloud.close()
