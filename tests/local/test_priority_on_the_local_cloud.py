"""Priority on the local cloud: a high action starts before normal ones that were due earlier."""

import threading
from datetime import timedelta

from duetime import App, Order, Payload
from duetime.local import LocalCloud, LocalOptions
from duetime.settings import Settings
from tests.local.conftest import settled

NORMAL, WORKERS = 12, 2


class Report(Payload):
    number: int


class Alert(Payload):
    """A type with a high priority."""


def test_a_high_action_starts_beside_normal_ones_that_wait():
    app, begun = App(), threading.Event()

    @app.action
    def report(payload: Report) -> None:
        begun.set()
        threading.Event().wait(0.3)

    @app.action(priority="high")
    def alert(payload: Alert) -> None: ...

    with LocalCloud(app, LocalOptions(concurrency=WORKERS)) as cloud:
        scheduler = cloud.scheduler()
        normal = scheduler.schedule_many([Order(Report(number=n), timedelta(0)) for n in range(NORMAL)])
        assert begun.wait(60)
        high = scheduler.schedule(Alert(), at=timedelta(0))
        for action in (high, *normal):
            settled(cloud, action)
        started = {action.id: scheduler.get(action.id).attempts[0].started_at for action in (high, *normal)}
        later = [action for action in normal if started[action.id] > started[high.id]]
        assert len(later) > WORKERS


def test_with_the_setting_a_single_action_is_high():
    app = App()

    @app.action
    def report(payload: Report) -> None: ...

    with LocalCloud(app, LocalOptions(settings=Settings(high_priority=True))) as cloud:
        high = cloud.scheduler().schedule(Report(number=1), at=timedelta(0), priority="high")
        settled(cloud, high)
        assert cloud.scheduler().get(high.id).is_high
