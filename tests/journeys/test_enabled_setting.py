"""The global switch.

When it is on again, waiting actions run soon; until then they are seldom checked.
"""

from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Payload, Run
from duetime.model.action import Status
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.hooked import switch

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DUE = NOON + timedelta(minutes=2)


class Errand(Payload):
    pass


class Switched:
    """A cloud that is switched off, with an action that is due in two minutes."""

    def __init__(self):
        self._app = App()

        @self._app.action
        def run_errand(payload: Errand, run: Run) -> None:
            pass

        self.cloud = SimulatedCloud(self._app, start=NOON, settings=Settings(enabled=False))
        self._id = self.cloud.scheduler.schedule(Errand(), at=DUE).id

    @property
    def action(self):
        return self.cloud.scheduler.get(self._id)

    def on(self):
        switch(self.cloud.memory, self._app, on=True)


@pytest.fixture
def switched():
    return Switched()


@pytest.mark.parametrize("late", [1, 30, 59, 61, 90, 150, 200, 299])
def test_an_action_a_few_minutes_late_at_most_doubles_its_wait_or_waits_a_minute(switched, late):
    on_at = DUE + timedelta(seconds=late)
    switched.cloud.advance(on_at - NOON)
    switched.on()
    switched.cloud.advance(minutes=10)
    assert switched.action.status is Status.EXECUTED
    assert switched.action.attempts[0].started_at - on_at <= timedelta(seconds=max(late, 60))


@pytest.mark.parametrize("late", [timedelta(minutes=6), timedelta(minutes=50), timedelta(hours=5)])
def test_later_actions_are_sent_by_the_first_sweep(switched, late):
    on_at = DUE + late
    switched.cloud.advance(on_at - NOON)
    switched.on()
    switched.cloud.advance(minutes=20)
    assert switched.action.attempts[0].started_at - on_at <= timedelta(minutes=1, seconds=1)


def test_an_action_that_is_not_due_yet_is_not_delayed(switched):
    switched.on()
    switched.cloud.advance(minutes=5)
    assert switched.action.attempts[0].started_at == DUE


def test_an_action_that_waits_for_a_day_costs_four_messages_an_hour(switched, caplog):
    caplog.set_level("INFO", logger="duetime.worker.worker")
    switched.cloud.advance(hours=24)
    put_off = [record.seconds for record in caplog.records if record.message == "put off"]
    assert put_off[:6] == [60, 60, 120, 240, 480, 900]
    assert set(put_off[6:]) == {900}
    assert len(put_off) <= 24 * 4 + 6
