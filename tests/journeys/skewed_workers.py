"""Workers on one store, each with a clock of its own."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import App, Payload, Run
from duetime.embedded.cloud import MemoryCloud
from duetime.ports.wakeups import Delivery
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.due_messages import message_of
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker
from tests.journeys.conftest import NOON

SETTINGS = Settings()
LEASE, SKEW = SETTINGS.lease, SETTINGS.clock_skew
TICK, SECOND, MINUTE, HOUR = (
    timedelta(microseconds=1),
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=1),
)
JOB = "press-print"


class Mail(Payload):
    pass


class Stamp:
    """A resource of the handlers."""


class OffClock:
    """A clock that is off by a span."""

    def __init__(self, clock, off):
        self._clock, self._off = clock, off

    def now(self):
        return self._clock.now() + self._off

    def wait_until(self, instant):
        self._clock.wait_until(instant - self._off)

    def elapsed(self):
        return self._clock.elapsed()


class SkewedWorkers:
    """One store and workers with skewed clocks; a test sets what a run does."""

    def __init__(self, settings=SETTINGS):
        self.clock, self.settings = TurnedClock(NOON), settings
        self.runs, self.does, self.makes = [], len, len
        self.cloud = MemoryCloud(self.app("cloud"), clock=self.clock, settings=settings)
        self.scheduler = self.scheduler_of(timedelta(0))

    def scheduler_of(self, off):
        return Scheduler(
            self.cloud.store,
            tenant_id="acme",
            actor="test",
            clock=OffClock(self.clock, off),
            settings=self.settings,
            jobs=self.cloud.job_ports,
        )

    def app(self, name):
        app = App()

        @app.resource
        def stamp() -> Stamp:
            self.makes(name)
            return Stamp()

        @app.action
        def mail(payload: Mail, run: Run, stamp: Stamp) -> None:
            self.begin(name)

        @app.job(name=JOB)
        def press(run: Run, stamp: Stamp) -> None:
            self.begin(name)

        return app

    def begin(self, name):
        self.runs.append((name, self.clock.now() - NOON))
        self.does(name)

    def worker(self, name, off=timedelta(0), *, clock=None, **options):
        """Have that worker look at the action, as if a message had come to it."""
        clock = clock or OffClock(self.clock, off)
        seen = replace(self.cloud.backends, clock=clock, settings=self.settings, pauses=self.cloud.pauses)
        work = Worker(self.app(name).handler_set, seen, Heartbeat(seen, **options), instance=name)

        def deliver(receipt=name, message=None, **how):
            return work(Delivery(message or message_of(self.row), clock.now(), receipt), **how)

        return deliver

    def begun_at(self, off, lasts, then):
        """A run of the worker `first`, whose clock is off by that.

        After `lasts`, while it still runs, `then` happens.
        """

        def first_lasts(name):
            if name == "first":
                self.clock.wait_until(NOON + lasts)
                then()

        self.does = first_lasts
        self.worker("first", off)()

    @property
    def row(self):
        return self.cloud.store.get(self.ref)


@pytest.fixture(params=["an action", "a job's run"])
def skewed(request):
    made = SkewedWorkers()
    if request.param == "an action":
        made.ref = made.scheduler.schedule(Mail(), at=-MINUTE).ref
    else:
        made.ref = made.scheduler_of(-MINUTE).jobs.trigger(JOB).ref
    return made
