"""An action whose handler does what a story says, and what a handler may do."""

from dataclasses import replace
from datetime import timedelta

from duetime import App, Fatal, Payload, Retry, RetryPolicy, Run, Status
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from duetime.wakeups.due_messages import message_of
from tests.journeys.conftest import NOON
from tests.journeys.routes import publish_route

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
PATIENT = RetryPolicy(attempts=3, backoff=600, jitter=0)
ONCE = RetryPolicy(attempts=1)


class Ship(Payload, name="ship"):
    pass


class ShipV2(Payload, name="ship", version=2):
    pass


class ScriptedAction:
    """An app with one action, whose handler does what the story says; due at once, in a cloud of its own."""

    def __init__(self, does, policy=PATIENT, *, version=1, expires_after=None, **settings):
        self.begun, self.tokens = [], []
        app, settings = self.app(does, policy), Settings(**settings)
        self.cloud = SimulatedCloud(app, start=NOON, settings=settings, on_commit=len)
        self.store = self.cloud.memory.store
        payload = Ship() if version == 1 else ShipV2()
        self.action = self.cloud.scheduler.schedule(payload, at=timedelta(0), expires_after=expires_after)

    def app(self, does, policy):
        app = App()

        @app.action(retry=policy)
        def ship(payload: Ship, run: Run) -> object:
            self.begun.append(run.now())
            return does(self, run)

        return app

    def cancel(self, run=None):
        requested = self.cloud.scheduler.cancel(self.action.id)
        assert requested.status is Status.PROCESSING
        if run is not None:
            run.stop.set()  # what the heartbeat does by the real clock

    def has_died(self, times):
        with self.store.lock:
            row = self.store.get(self.action.ref)
            self.store.write(row, replace(row, recoveries=times))

    def rolls_over(self):
        """A newer worker has published that it reads the next version."""
        publish_route(self.cloud.memory, "ship", 2)

    def delivers(self):
        """Hand the worker a message that does not say of which version the payload is."""
        message = replace(message_of(self.row), payload_version=1)
        self.cloud.memory.run(Delivery(message, self.cloud.now, "receipt"))

    @property
    def row(self):
        return self.cloud.scheduler.get(self.action.id)

    def ends(self):
        """Once the first run has ended: what the row is then, and how often the handler has begun."""
        self.cloud.advance(seconds=5)
        return self.row.status.value, len(self.begun)

    def waits(self):
        """The same, and how long the row waits."""
        return *self.ends(), self.row.due_at - NOON


def returns(scripted, run):
    pass


def fails(scripted, run):
    raise ConnectionError("no ship")


def says_retry(scripted, run):
    raise Retry(after=MINUTE)


def says_fatal(scripted, run):
    raise Fatal("the ship has sunk")


def hands_over(scripted, run):
    scripted.tokens.append(run.token)
    return run.hand_over(timeout=HOUR)


def hands_over_with_heartbeats(scripted, run):
    scripted.tokens.append(run.token)
    return run.hand_over(timeout=HOUR, heartbeat=5 * MINUTE)


def after_a_cancel(does):
    def cancelled_first(scripted, run):
        scripted.cancel(run)
        return does(scripted, run)

    return cancelled_first


def stops(scripted, run):
    run.raise_if_cancelled()


def commits_then(does):
    def commit_first(scripted, run):
        run.commit([])
        return does(scripted, run)

    return commit_first
