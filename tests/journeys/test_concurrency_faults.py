"""Concurrency keys while everything goes wrong that may.

Never too many at once, and all of them run in the end.
"""

from datetime import timedelta

import pytest

from duetime import App, Payload, RetryPolicy, Run, Status
from duetime.model.transition import started
from duetime.settings import Settings
from duetime.testing import Faults, InvariantBroken, SimulatedCloud
from duetime_contract.specimens import terms
from tests.journeys.conftest import NOON

KEYS = {"one": 1, "two": 2}
MINUTE = timedelta(minutes=1)


class Sync(Payload):
    fails: int = 0
    lasts: timedelta = MINUTE


class Shop:
    """An app whose handler notes, each time that it begins, when more than the limit hold live leases."""

    def __init__(self, seed):
        self.app, self.too_many = App(), []
        self.app.action(retry=RetryPolicy(attempts=9, backoff=[60], jitter=0))(self._sync())
        settings = Settings(cancel_poll=MINUTE)
        self.cloud = SimulatedCloud(self.app, start=NOON, settings=settings, faults=Faults(seed))

    def _sync(self):
        def sync(payload: Sync, run: Run) -> None:
            for _ in range(3):
                self.look()
                run.clock.wait_until(run.now() + payload.lasts / 3)
            if run.attempt <= payload.fails:
                raise ConnectionError("no calendar")

        return sync

    def look(self):
        """Who holds live leases, by the clock that is right."""
        now = self.cloud.clock.now()
        for key, limit in KEYS.items():
            live = [
                action.id
                for action in self.cloud.actions(Status.PROCESSING)
                if action.slot_key == key and action.lease_until > now
            ]
            if len(live) > limit:
                self.too_many.append((key, live))


@pytest.mark.parametrize("seed", range(12))
def test_never_more_than_the_limit_run_and_all_run_in_the_end(seed):
    shop = Shop(seed)
    cloud = shop.cloud
    try:
        for number in range(16):
            key = ["one", "two"][number % 2]
            cloud.scheduler.schedule(
                Sync(fails=number % 3 == 0, lasts=number % 5 * MINUTE),
                at=number // 4 * 5 * MINUTE,
                concurrency_key=key,
                concurrency_limit=KEYS[key],
            )
        for _ in range(120):
            cloud.advance(minutes=1)
            shop.look()
        cloud.end_faults()
        cloud.advance(hours=14)
        cloud.check()
        assert shop.too_many == []
        assert {action.status for action in cloud.actions()} <= {Status.EXECUTED, Status.FAILED}
        assert sum(action.status is Status.EXECUTED for action in cloud.actions()) >= 15, cloud.story()
    finally:
        cloud.close()


def test_the_check_reports_too_many_runs():
    shop = Shop(0)
    try:
        store = shop.cloud.memory.store
        for _ in range(2):
            action = shop.cloud.scheduler.schedule(Sync(), at=MINUTE, concurrency_key="one")
            store.write(action, started(action, terms(NOON)))
        with pytest.raises(InvariantBroken, match="2 run under 'one'"):
            shop.cloud.check()
    finally:
        shop.cloud.close()
