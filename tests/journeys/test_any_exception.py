"""Whatever a handler raises, its attempt fails at once with a message, and the next one comes in time."""

import asyncio
from datetime import timedelta

import pytest

from duetime import App, Payload, RetryPolicy, Status
from duetime.errors import truncate
from duetime.model.action import Ending
from duetime.model.run import RunCancelled
from duetime.testing import SimulatedCloud


class Mute(Exception):
    """Neither `str()` nor `repr()` returns."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class Stubborn(Exception):
    """Its `str()` asks to end the process."""

    def __str__(self):
        raise SystemExit(3)


class Raise(Payload):
    number: int


class RaiseLater(Payload):
    number: int


def too_deep():
    return too_deep()


def raised(number):
    name, make = EXCEPTIONS[number]
    if name == "RecursionError":
        too_deep()
    raise make()


EXCEPTIONS = [
    ("Mute", Mute),
    ("Stubborn", Stubborn),
    ("SystemExit", lambda: SystemExit(1)),
    ("SystemExit", lambda: SystemExit("bye")),
    ("KeyboardInterrupt", KeyboardInterrupt),
    ("GeneratorExit", GeneratorExit),
    ("CancelledError", asyncio.CancelledError),
    ("BaseExceptionGroup", lambda: BaseExceptionGroup("many", [KeyboardInterrupt(), ValueError("x")])),
    ("ExceptionGroup", lambda: ExceptionGroup("many", [Mute(), ValueError("x")])),
    ("MemoryError", MemoryError),
    ("RecursionError", RecursionError),
    ("StopIteration", StopIteration),
    ("BaseException", BaseException),
]


def app_that_raises():
    app = App()

    @app.action(retry=RetryPolicy(attempts=2, backoff=10, jitter=0))
    def misbehave(payload: Raise) -> None:
        raised(payload.number)

    @app.action(retry=RetryPolicy(attempts=2, backoff=10, jitter=0))
    async def misbehave_later(payload: RaiseLater) -> None:
        await asyncio.sleep(0)
        raised(payload.number)

    return app


@pytest.mark.parametrize("kind", [Raise, RaiseLater])
@pytest.mark.parametrize("number", range(len(EXCEPTIONS)), ids=[name for name, _ in EXCEPTIONS])
def test_each_attempt_fails_at_once_with_a_message_and_no_worker_is_lost(kind, number):
    name, _ = EXCEPTIONS[number]
    cloud = SimulatedCloud(app_that_raises())
    action = cloud.scheduler.schedule(kind(number=number), at=timedelta(0))
    cloud.advance(minutes=1)
    settled = cloud.scheduler.get(action.id)
    assert (settled.status, settled.recoveries, settled.attempt) == (Status.FAILED, 0, 2)
    assert [attempt.ending for attempt in settled.attempts] == [Ending.FAILED, Ending.FAILED]
    for attempt in settled.attempts:
        assert attempt.finished_at - attempt.started_at < timedelta(seconds=1)
        assert name in attempt.message or (name == "StopIteration" and kind is RaiseLater)


def test_a_group_that_holds_only_the_cancel_is_a_cancel():
    app = App()

    @app.action
    def stop(payload: Raise) -> None:
        raise BaseExceptionGroup(
            "task group", [RunCancelled(), BaseExceptionGroup("inner", [RunCancelled()])]
        )

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Raise(number=0), at=timedelta(0))
    cloud.advance(minutes=1)
    assert cloud.scheduler.get(action.id).status is Status.CANCELLED


def test_a_payload_whose_validator_misbehaves_fails_the_attempt():
    class Odd(Payload):
        number: int = 0

        @classmethod
        def model_validate_json(cls, *_inputs, **_options):
            raise KeyboardInterrupt

    app = App()

    @app.action(retry=RetryPolicy(attempts=1))
    def odd(payload: Odd) -> None: ...

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Odd(), at=timedelta(0))
    cloud.advance(minutes=1)
    settled = cloud.scheduler.get(action.id)
    assert (settled.status, settled.recoveries) == (Status.FAILED, 0)


def test_a_text_that_cannot_be_read_is_named():
    assert truncate(Mute()) == "its text cannot be read: str() raised RuntimeError"
