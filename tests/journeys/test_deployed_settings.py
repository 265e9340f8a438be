"""A deploy changes the settings of a simulated cloud, as a real one does."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import App, Payload, Run
from duetime.errors import Unsupported
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud

WHEEL = Settings(timers="wheel", due_shards=32)


class Errand(Payload):
    number: int


@pytest.fixture
def done():
    return []


@pytest.fixture
def app(done):
    app = App()

    @app.action
    def errand(payload: Errand, run: Run) -> None:
        done.append((payload.number, run.now() - run.due_at))

    return app


@pytest.mark.parametrize("faults", [None, Faults.only(1)], ids=["alone", "with processes"])
@pytest.mark.parametrize("change", [(Settings(), WHEEL), (WHEEL, Settings())], ids=["wheel", "timers"])
def test_actions_of_before_and_after_the_deploy_run_on_time(app, done, change, faults):
    before, after = change
    cloud = SimulatedCloud(app, settings=before, faults=faults)
    callers = [cloud.scheduler]
    callers[0].schedule(Errand(number=1), at=timedelta(hours=3))
    cloud.advance(minutes=5)
    cloud.deploy(app, settings=after)
    for number, caller in enumerate([*callers, cloud.scheduler], start=2):
        caller.schedule(Errand(number=number), at=timedelta(hours=3))
    cloud.advance(hours=4)
    cloud.check()
    assert sorted(done) == [(number, timedelta(0)) for number in (1, 2, 3)]
    cloud.close()


def test_schedulers_have_the_settings_of_the_deploy_at_which_they_were_made(app):
    cloud = SimulatedCloud(app)
    former = cloud.scheduler
    cloud.deploy(app, settings=WHEEL)
    numbers = {
        scheduler: {
            int(scheduler.schedule(Errand(number=0), at=timedelta(days=1)).due_shard) for _ in range(99)
        }
        for scheduler in (former, cloud.scheduler)
    }
    assert max(numbers[former]) < 16 <= max(numbers[cloud.scheduler])


def test_a_deploy_without_settings_leaves_them(app):
    cloud = SimulatedCloud(app, settings=WHEEL)
    cloud.deploy(app)
    assert cloud.memory.settings is WHEEL


def test_a_deploy_that_names_other_tables_is_rejected(app):
    cloud = SimulatedCloud(app)
    with pytest.raises(Unsupported, match="cannot change prefix from 'duetime-' to 'other-': make another"):
        cloud.deploy(app, settings=replace(Settings(prefix="other-"), timers="wheel"))
