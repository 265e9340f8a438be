"""A digest is due at the end of its window: a world may end while one is open."""

from datetime import timedelta

import pytest

from duetime import App, Fatal, Payload
from duetime.settings import Settings
from duetime.testing import Faults, InvariantBroken, SimulatedCloud
from tests.proof.mutations import GUARDS
from tests.proof.subscribers import subscribe
from tests.proof.world import NOON


class Bad(Payload):
    pass


def cloud_with_failures():
    app = App()

    @app.action
    def bad(payload: Bad) -> None:
        raise Fatal("it is forbidden")

    settings = Settings(events="standard", notification_burst=1)
    cloud = SimulatedCloud(app, start=NOON, settings=settings, faults=Faults.only(1))
    subscribe(cloud.memory.follow_events())
    for _ in range(4):
        cloud.scheduler_for("acme").schedule(Bad(), at=timedelta(0))
    cloud.advance(seconds=30)
    return cloud


def test_an_open_window_has_no_digest_yet_and_one_that_is_over_has():
    cloud = cloud_with_failures()
    cloud.check()
    cloud.advance(hours=2)
    cloud.check()
    cloud.close()


def test_a_window_that_is_over_without_its_digest_is_found():
    with GUARDS["11: a digest reports the rest of a window"]():
        cloud = cloud_with_failures()
        cloud.check()
        cloud.advance(hours=2)
        with pytest.raises(InvariantBroken, match="a window without a digest"):
            cloud.check()
        cloud.close()
