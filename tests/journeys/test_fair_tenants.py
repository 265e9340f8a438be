"""One tenant's burst does not delay another tenant's actions."""

from datetime import timedelta

import pytest

from duetime import App, Order, Payload, Run
from duetime.testing import Faults, SimulatedCloud

SECOND = timedelta(seconds=1)
BURST, SLOTS = 600, 10


class Work(Payload):
    """Takes a second."""


def app_of(late):
    app = App()

    @app.action
    def work(payload: Work, run: Run) -> None:
        del payload
        late.setdefault(run.tenant_id, []).append(run.now() - run.due_at)
        run.clock.wait_until(run.now() + SECOND)

    return app


@pytest.fixture
def late():
    return {}


@pytest.fixture
def cloud(late):
    cloud = SimulatedCloud(app_of(late), faults=Faults.only(7))
    cloud.memory.concurrency = SLOTS
    yield cloud
    cloud.close()


def test_a_quiet_tenant_waits_for_one_run_at_most_beside_another_s_burst(cloud, late):
    cloud.scheduler_for("noisy").schedule_many([Order(payload=Work(), at=SECOND)] * BURST)
    quiet = cloud.scheduler_for("quiet")
    quiet.schedule_many([Order(payload=Work(), at=SECOND * (2 + 5 * number)) for number in range(10)])
    cloud.advance(minutes=3)
    assert len(late["noisy"]) == BURST
    assert len(late["quiet"]) == 10
    assert max(late["noisy"]) >= SECOND * (BURST / SLOTS - 1)
    assert max(late["quiet"]) <= SECOND


def test_a_tenant_alone_has_all_workers(cloud, late):
    cloud.scheduler_for("noisy").schedule_many([Order(payload=Work(), at=SECOND)] * 3 * SLOTS)
    cloud.advance(minutes=1)
    assert max(late["noisy"]) == 2 * SECOND
