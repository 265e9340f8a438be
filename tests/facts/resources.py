"""Resources for tests: a database that depends on a configuration, and handlers that use it."""

from datetime import UTC, datetime
from typing import NewType, Protocol

from duetime import App, Payload

START = datetime(2026, 3, 1, tzinfo=UTC)
Reader = NewType("Reader", str)


class Ping(Payload):
    n: int = 0


class Pong(Payload):
    pass


class Config:
    url = "postgres://"


class Database:
    def __init__(self, config: Config | None = None) -> None:
        self.config = config
        self.saved: list[int] = []


class FakeDatabase(Database):
    pass


class Mailer(Protocol):
    def send(self, text: str) -> None: ...


class Outbox:
    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, text: str) -> None:
        self.sent.append(text)


def config() -> Config:
    return Config()


def database(config: Config) -> Database:
    return Database(config)


def save(payload: Ping, db: Database) -> None:
    db.saved.append(payload.n)


def made_by(*factories):
    """The resources of a process that has these factories."""
    app = App()
    for factory in factories:
        app.resource(factory)
    return app.complete()


def app_of(*functions, resources=()):
    app = App()
    for resource in resources:
        app.resource(resource)
    for function in functions:
        app.action(function)
    return app


def given_to(resources, function):
    """What a function is given of them, by parameter."""
    app = App()
    app.job(function)
    [handler] = app.handlers.values()
    return resources.of(handler.wants)


def lambda_taking(annotation):
    """A function with one parameter, `it`, of that type."""

    def takes(it) -> None: ...

    takes.__annotations__ = {"it": annotation, "return": None}
    return takes
