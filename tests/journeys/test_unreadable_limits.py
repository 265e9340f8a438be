"""A process that cannot read its limits begins no run: its messages come again, and no attempt counts."""

from datetime import timedelta
from unittest.mock import patch

import pytest

from duetime import App, Payload, Rate, Run, Scheduler
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import BackendUnavailable
from duetime.ids import new_action_id
from duetime.model.active_region import TRUSTED
from duetime.model.metric import Metric
from duetime.model.rate_limit import RateLimit
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.ports.rate_limits import SetLimit
from duetime.settings import Settings
from duetime.sqlite.cloud import SqliteCloud
from duetime.testing import TurnedClock
from duetime.testing.recorded_metrics import RecordedMetrics
from tests.journeys.conftest import NOON
from tests.journeys.embedded_time import advance

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
THROTTLED = BackendUnavailable("DynamoDB", "ThrottlingException")


class Mail(Payload):
    pass


class Outbox:
    """A cloud with a rated type; `advance` is what its process does."""

    def __init__(self, cloud_of):
        self.began, self.app, self.clock = [], App(), TurnedClock(NOON)

        @self.app.action(rate=Rate(300, per="minute", burst=20))
        def send_mail(payload: Mail, run: Run) -> None:
            del payload
            self.began.append((run.now() - NOON) // SECOND)

        self.metrics = RecordedMetrics()
        self.cloud = cloud_of(self.app, clock=self.clock, settings=Settings(), meter=self.metrics)
        options = {"tenant_id": "acme", "actor": "ada", "clock": self.clock, "settings": Settings()}
        self.scheduler = Scheduler(self.cloud.store, **options)

    def schedule(self, number=1):
        return [self.scheduler.schedule(Mail(), at=timedelta(0)) for _ in range(number)]

    def advance(self, span):
        advance(self.cloud, self.clock, span)

    def pause(self, span):
        about = {"scope": PauseScope.TYPE, "name": "mail", "reason": "it is down", "by": "ada"}
        now = self.clock.now()
        pause = WorkPause(id=new_action_id(now), since=now, until=now + span, spread=SECOND, **about)
        self.cloud.pauses.begin(pause)

    def throttled(self, port):
        return patch.object(getattr(self.cloud, port), "list", side_effect=THROTTLED)


def sqlite(app, **options):
    return SqliteCloud(app, path=":memory:", **options)


@pytest.fixture(params=[MemoryCloud, sqlite], ids=["memory", "sqlite"])
def outbox(request):
    made = Outbox(request.param)
    yield made
    made.cloud.close()


def test_a_new_process_that_cannot_read_the_pauses_runs_no_paused_work(outbox):
    outbox.pause(HOUR)
    outbox.cloud.wire(outbox.app)
    (mail,) = outbox.schedule()
    with outbox.throttled("pauses"):
        outbox.advance(3 * SECOND)
    outbox.advance(59 * MINUTE)
    assert outbox.began == []
    outbox.advance(2 * MINUTE)
    row = outbox.scheduler.get(mail.id)
    assert (len(outbox.began), len(row.attempts)) == (1, 1)


@pytest.mark.parametrize("port", ["pauses", "limits"])
def test_a_process_acts_on_an_old_reading_for_fifteen_seconds(outbox, port):
    outbox.schedule()
    outbox.advance(SECOND)
    with outbox.throttled(port):
        outbox.advance(TRUSTED - 2 * SECOND)
        outbox.schedule()
        outbox.advance(2 * SECOND)
        assert len(outbox.began) == 2
        (late,) = outbox.schedule()
        outbox.advance(2 * HOUR)
        assert len(outbox.began) == 2
        assert max(outbox.metrics.values(Metric.OLDEST_DUE_AGE)) > 40 * 60
    outbox.advance(15 * MINUTE)
    row = outbox.scheduler.get(late.id)
    assert (len(outbox.began), len(row.attempts), row.fence) == (3, 1, 1)


def test_a_new_process_that_cannot_read_the_set_limits_begins_no_rated_run(outbox):
    slow = SetLimit(name="mail", limit=RateLimit.parse(2, "minute", 1), by="ada", at=NOON)
    outbox.cloud.limits.set(slow)
    outbox.cloud.wire(outbox.app)
    outbox.schedule(10)
    with outbox.throttled("limits"):
        outbox.advance(4 * SECOND)
    assert outbox.began == []
    outbox.advance(6 * MINUTE)
    assert len(outbox.began) == 10
    assert all(later - at >= 29 for at, later in zip(outbox.began, outbox.began[1:], strict=False))
