from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Fatal, Payload, Retry, RetryPolicy, Run
from duetime.memory.store import MemoryStore
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, TurnedClock
from tests.journeys.recording_queue import RecordingQueue

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Charge(Payload):
    order: str = "o-1"
    note: str = ""


class Flaky(Payload):
    fails: int


class Stubborn(Payload):
    says: str


class Shop:
    """An app whose handlers write down what they did."""

    def __init__(self):
        self.app = App()
        self.charged: list[tuple[str, datetime]] = []
        self.tries: list[datetime] = []
        self.app.action(self._charge())
        self.app.action(retry=RetryPolicy(attempts=3, backoff=[60, 3_600], jitter=0))(self._flaky())
        self.app.action(self._stubborn())

    def _charge(self):
        def charge(payload: Charge, run: Run) -> None:
            self.charged.append((payload.order, run.now()))

        return charge

    def _flaky(self):
        def flaky(payload: Flaky, run: Run) -> None:
            self.tries.append(run.now())
            if run.attempt <= payload.fails:
                raise ConnectionError("the bank did not answer")

        return flaky

    def _stubborn(self):
        def stubborn(payload: Stubborn, run: Run) -> None:
            self.tries.append(run.now())
            if payload.says == "fatal":
                raise Fatal("this card was stolen")
            raise Retry(after=timedelta(hours=2))

        return stubborn


@pytest.fixture
def shop():
    return Shop()


@pytest.fixture(params=["eventbridge", "wheel"])
def cloud(request, shop):
    """Every journey is made with either kind of timers."""
    return SimulatedCloud(shop.app, start=NOON, settings=Settings(timers=request.param))


@pytest.fixture
def clock():
    return TurnedClock(NOON)


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def queue(clock):
    return RecordingQueue(clock)
