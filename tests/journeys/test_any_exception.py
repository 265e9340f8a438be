"""Whatever a handler raises, its attempt fails at once with a message, and the next one comes in time."""

import asyncio
from datetime import timedelta
from threading import Event

import pytest
from pydantic import Field, field_validator

from duetime import App, Payload, RetryPolicy, Run, Status
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
    ("KeyboardInterrupt", lambda: BaseExceptionGroup("many", [KeyboardInterrupt(), ValueError("x")])),
    ("Mute", lambda: ExceptionGroup("many", [Mute(), ValueError("x")])),
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


class Upcast(Payload, version=2):
    number: int

    @classmethod
    def upcast(cls, written, version):
        raised(written["number"] + 0 * version)


class Old(Payload, name="upcast"):
    number: int


class Resource:
    """What a factory makes, if it does not raise."""


def app_with_a_factory(number):
    app = App()

    @app.resource
    def make() -> Resource:
        raised(number)

    @app.action(retry=RetryPolicy(attempts=1))
    def take(payload: Raise, resource: Resource) -> None: ...

    return app, Raise(number=number)


def app_that_upcasts(number):
    app = App()

    @app.action(retry=RetryPolicy(attempts=1))
    def take(payload: Upcast) -> None: ...

    return app, Old(number=number)


def app_that_commits(number):
    def entries():
        raised(number)
        yield {}

    app = App()

    @app.action(retry=RetryPolicy(attempts=1))
    def take(payload: Raise, run: Run) -> None:
        run.commit(entries())

    return app, Raise(number=number)


@pytest.mark.parametrize("place", [app_with_a_factory, app_that_upcasts, app_that_commits])
@pytest.mark.parametrize("number", range(len(EXCEPTIONS)), ids=[name for name, _ in EXCEPTIONS])
def test_an_exception_of_a_factory_an_upcast_or_the_entries_of_a_commit_fails_the_attempt(place, number):
    app, payload = place(number)
    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(payload, at=timedelta(0))
    cloud.advance(seconds=1)
    settled = cloud.scheduler.get(action.id)
    assert (settled.status, settled.recoveries, settled.attempt) == (Status.FAILED, 0, 1)
    name, make = EXCEPTIONS[number]
    names = {name, type(make()).__name__}  # a factory's error has the group as its cause
    assert name == "StopIteration" or any(part in settled.failure_reason for part in names)


@pytest.mark.parametrize("kind", [Raise, RaiseLater])
def test_the_embedded_scheduler_outlives_every_exception(kind):
    with app_that_raises().embedded() as scheduler:
        actions = [
            scheduler.schedule(kind(number=number), at=timedelta(0)) for number in range(len(EXCEPTIONS))
        ]
        for action, (name, _) in zip(actions, EXCEPTIONS, strict=True):
            while not (attempts := scheduler.get(action.id).attempts) or attempts[0].finished_at is None:
                Event().wait(0.01)
            assert attempts[0].ending is Ending.FAILED
            assert name in attempts[0].message or name == "StopIteration"


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
    is_due: list[bool] = []

    class Odd(Payload):
        number: int = Field(0, validate_default=True)

        @field_validator("number")
        @classmethod
        def misbehave(cls, number):
            if is_due:
                raise KeyboardInterrupt
            return number

    app = App()

    @app.action(retry=RetryPolicy(attempts=1))
    def odd(payload: Odd) -> None: ...

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Odd(), at=timedelta(0))
    is_due.append(True)
    cloud.advance(minutes=1)
    settled = cloud.scheduler.get(action.id)
    assert (settled.status, settled.recoveries) == (Status.FAILED, 0)


def test_a_text_that_cannot_be_read_is_named():
    assert truncate(Mute()) == "its text cannot be read: str() raised RuntimeError"
