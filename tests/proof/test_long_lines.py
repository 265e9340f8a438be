"""Long lines of concurrency keys in random worlds with faults: each action gets a slot, within the limit."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from unittest.mock import patch

import pytest

from duetime import App, DuetimeError, Payload, RetryPolicy, Run
from duetime.model import slots
from duetime.model.action import Status
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud
from tests.proof.world import LOSE_ALL

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
KEY, PATIENT = "table", RetryPolicy(attempts=100, backoff=[5, 60])


class Sync(Payload):
    seconds: int


class World:
    """Forty actions under one key, of which three may be in line before its tail; some are cancelled."""

    def __init__(self, seed):
        app, self.draw, self.most = App(), Random(f"lines {seed}"), 0  # noqa: S311 - the same for the same seed

        @app.action(retry=PATIENT)
        def sync(payload: Sync, run: Run) -> None:
            self.most = max(self.most, len(self.store.tail("acme", KEY, limit=99)))
            run.clock.wait_until(run.now() + payload.seconds * SECOND)

        settings = Settings(max_recoveries=100, timers=self.draw.choice(["eventbridge", "wheel"]))
        self.cloud = SimulatedCloud(
            app, start=NOON, settings=settings, faults=Faults(seed, lose_all=LOSE_ALL)
        )
        self.store = self.cloud.memory.store

    def live(self):
        limit, made = self.draw.choice([1, 1, 2, 3]), []
        for _ in range(40):
            at, lasts = self.draw.choice([0, 0, 30, 300]) * SECOND, self.draw.choice([1, 10, 60])
            with suppress(DuetimeError):
                made.append(
                    self.cloud.scheduler.schedule(
                        Sync(seconds=lasts), at=at, concurrency_key=KEY, concurrency_limit=limit
                    )
                )
        for _ in range(8):
            self.cloud.advance(MINUTE)
            with suppress(DuetimeError):
                self.cloud.scheduler.cancel(self.draw.choice(made).id)
        self.cloud.advance(hours=1)
        self.cloud.end_faults()
        self.cloud.advance(hours=13)
        self.cloud.check()
        ended = {Status.EXECUTED, Status.CANCELLED}
        self.cloud.scheduler.schedule(
            Sync(seconds=1), at=SECOND, concurrency_key=KEY, concurrency_limit=limit
        )
        self.cloud.advance(MINUTE)
        left = [row.id for row in self.cloud.actions() if row.type == "sync" and row.status not in ended]
        self.cloud.close()
        return left


def check(seed):
    with patch.object(slots, "MOST_WAITING", 3):
        world = World(seed)
        assert world.live() == []
    assert world.most > 0
    assert world.store.key_slots("acme", KEY).waiting == ()


def test_each_action_in_a_long_line_gets_its_slot(few_seeds):
    for seed in few_seeds:
        check(seed)


@pytest.mark.long
def test_each_action_gets_its_slot_in_many_more_worlds(many_seeds):
    for seed in many_seeds:
        check(seed)
