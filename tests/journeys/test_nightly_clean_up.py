"""The worked example of a nightly clean-up.

In batches, once a night, whatever the clocks and the machines do.
"""

from datetime import UTC, datetime, timedelta

import pytest

from duetime.model.run import RunCancelled
from duetime.testing import Faults, fake_run
from examples.nightly_clean_up import (
    BATCH,
    Carts,
    CartsInMemory,
    CleanUpScheduler,
    RemoveCarts,
    app,
    remove_carts,
)
from tests.journeys.later import cloud_of

START = datetime(2026, 3, 27, 12, tzinfo=UTC)
"""Two days before Paris turns its clocks."""
LONG_AGO, LATELY = START - timedelta(days=60), START - timedelta(days=5)
FRESH = 7


class Shelf(CartsInMemory):
    """Carts of long ago and of lately; who removes one may be stopped, or fail."""

    def __init__(self, old):
        super().__init__(**{f"c{n:04}": LONG_AGO for n in range(old)})
        self.touched |= {f"fresh{n}": LATELY for n in range(FRESH)}
        self.failures, self.when_removing = 0, lambda: None

    def remove(self, cart):
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the table did not answer")
        super().remove(cart)
        self.when_removing()


def night_with(old, **options):
    shelf = Shelf(old)
    return cloud_of(
        app, CleanUpScheduler, {Carts: shelf}, start=options.pop("start", START), **options
    ), shelf


def batches(cloud):
    return [action for action in cloud.actions() if action.type == "remove-carts"]


def test_records_beyond_one_batch_are_removed_in_several_batches():
    cloud, shelf = night_with(old=2 * BATCH + 30)
    cloud.advance(days=1)
    assert len(shelf.touched) == FRESH
    assert [batch.status for batch in batches(cloud)] == ["executed"] * 3
    assert len({batch.correlation_id for batch in batches(cloud)}) == 1


@pytest.mark.parametrize(
    ("start", "nights"),
    [
        (datetime(2026, 3, 27, 12, tzinfo=UTC), [(28, 1, 30), (29, 1, 0), (30, 0, 30)]),  # 02:30 is missing
        (
            datetime(2026, 10, 23, 12, tzinfo=UTC),
            [(24, 0, 30), (25, 0, 30), (26, 1, 30)],
        ),  # 02:30 comes twice
    ],
)
def test_each_night_is_one_when_the_clocks_change(start, nights):
    cloud, _ = night_with(old=0, start=start)
    cloud.advance(days=3)
    history = cloud.jobs.history("carts-nightly-clean-up")
    ran = sorted(item.nominal_at for item in history if item.status == "executed")
    assert [(at.day, at.hour, at.minute) for at in ran] == nights


def test_a_failed_batch_is_repeated_from_its_bookmark():
    cloud, shelf = night_with(old=BATCH + 30)
    shelf.failures = 1
    cloud.advance(days=1)
    assert len(shelf.touched) == FRESH
    assert [batch.status for batch in batches(cloud)] == ["executed", "executed"]
    assert [attempt.ending for attempt in batches(cloud)[0].attempts] == ["failed", "executed"]


def test_a_cancelled_batch_stops_between_two_carts_and_the_next_night_takes_the_rest():
    cloud, shelf = night_with(old=BATCH + 30)
    run = fake_run()
    shelf.when_removing = run.stop.set
    with pytest.raises(RunCancelled):
        remove_carts(RemoveCarts(night=START), run, shelf, cloud.scheduler)
    assert len(shelf.touched) == BATCH + 29 + FRESH
    assert batches(cloud) == []
    cloud.advance(days=1)
    assert len(shelf.touched) == FRESH


def test_nights_without_a_cloud_are_made_up_for_by_one():
    cloud, shelf = night_with(old=BATCH)
    cloud.advance(hours=1)
    cloud.clock.wait_until(START + timedelta(days=3))  # nothing works meanwhile
    cloud.advance(hours=7)
    history = cloud.jobs.history("carts-nightly-clean-up")
    assert [item.trigger for item in history if item.status == "executed"] == ["catch-up"]
    assert len(shelf.touched) == FRESH


@pytest.mark.parametrize("seed", range(4))
def test_under_faults_only_old_carts_are_removed(seed):
    cloud, shelf = night_with(old=3 * BATCH + 1, faults=Faults.only(seed, crash=0.1, drop=0.1, double=0.2))
    cloud.advance(hours=18)
    cloud.end_faults()
    cloud.advance(hours=13)
    assert len(shelf.touched) == FRESH
    payloads = [RemoveCarts.from_json(batch.payload) for batch in batches(cloud)]
    assert len({(payload.night, payload.batch) for payload in payloads}) == len(payloads)
    cloud.check()
    cloud.close()
