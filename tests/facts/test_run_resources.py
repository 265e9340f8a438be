"""A run receives the resources of its handler, or their replacements in tests."""

import threading
from datetime import timedelta

import pytest

from duetime import App, RetryPolicy, Run, Status
from duetime.declare.resources import ResourceFailed
from duetime.errors import DeclarationError
from duetime.testing import SimulatedCloud, fake_run
from tests.facts.resources import (
    START,
    Config,
    Database,
    FakeDatabase,
    Ping,
    Pong,
    app_of,
    config,
    database,
    given_to,
    lambda_taking,
    save,
)


class TestRunResources:
    def test_handler_receives_its_resources(self):
        app = app_of(save, resources=[database, config])
        seen = []

        @app.job(name="billing-nightly")
        async def nightly(run: Run, config: Config, db: Database) -> None:
            seen.append((config is db.config, db.saved))

        cloud = SimulatedCloud(app, start=START)
        cloud.scheduler.schedule(Ping(n=7), at=timedelta(minutes=1))
        cloud.advance(minutes=2)
        cloud.jobs.trigger("billing-nightly")
        cloud.advance(minutes=1)
        assert seen == [(True, [7])]

    def test_run_fails_with_factory_and_is_retried(self):
        tries = []

        def flaky() -> Config:
            tries.append(1)
            if len(tries) < 3:
                raise ConnectionError("no answer")
            return Config()

        app = App()
        app.resource(flaky)

        @app.action(retry=RetryPolicy(attempts=3, backoff=60, jitter=0))
        def handle(payload: Ping, config: Config) -> None: ...

        cloud = SimulatedCloud(app, start=START)
        action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
        cloud.advance(minutes=5)
        shown = cloud.scheduler.get(action.id)
        assert (shown.status, shown.attempt, len(tries)) == (Status.EXECUTED, 3, 3)
        assert "flaky could not make Config: ConnectionError: no answer" in shown.attempts[0].message

    def test_run_ignores_failure_of_unused_resource(self):
        def broken() -> Config:
            raise AssertionError

        app = app_of(save, resources=[broken])
        app.resource(lambda_making(Database))
        cloud = SimulatedCloud(app, start=START)
        action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
        cloud.advance(seconds=1)
        assert cloud.scheduler.get(action.id).status is Status.EXECUTED

    def test_unit_test_needs_no_scheduler(self):
        db = FakeDatabase()
        save(Ping(n=5), db)
        assert db.saved == [5]


def lambda_making(annotation):
    def make() -> None:
        return annotation()

    make.__annotations__ = {"return": annotation}
    return make


class TestReplacedResource:
    @pytest.fixture
    def app(self):
        def never() -> Config:
            raise AssertionError("a replaced factory is not called")

        def of(config: Config) -> Database:
            return Database(config)

        return app_of(save, resources=[never, of])

    def test_replacement_is_used_in_simulated_cloud(self, app):
        db = FakeDatabase()
        cloud = SimulatedCloud(app, start=START, resources={Database: db})
        cloud.scheduler.schedule(Ping(n=1), at=timedelta(0))
        cloud.advance(seconds=1)
        cloud.deploy(app)
        cloud.scheduler.schedule(Ping(n=2), at=timedelta(0))
        cloud.advance(seconds=1)
        assert db.saved == [1, 2]

    def test_replacement_is_passed_to_dependent_factories(self, app):
        mine = Config()
        resources = app.with_resources({Config: mine}).complete()
        assert given_to(resources, lambda_taking(Database))["it"].config is mine

    def test_replacement_is_used_in_embedded_scheduler(self, app):
        ended, db = threading.Event(), FakeDatabase()

        @app.action
        def handle(payload: Pong, db: Database) -> None:
            db.saved.append(0)
            ended.set()

        with app.embedded(resources={Database: db}) as scheduler:
            scheduler.schedule(Pong(), at=timedelta(0))
            assert ended.wait(30)
        assert db.saved == [0]

    def test_replacement_does_not_change_app(self, app):
        app.with_resources({Config: Config()})
        with pytest.raises(ResourceFailed):
            given_to(app.complete(), lambda_taking(Database))

    def test_replacement_of_unknown_resource_is_rejected(self, app):
        with pytest.raises(DeclarationError, match=r"no resource FakeDatabase .*; it has Config, Database"):
            SimulatedCloud(app, resources={FakeDatabase: FakeDatabase()})
        with pytest.raises(DeclarationError, match=r"no resource FakeDatabase .*; it has none"):
            App().with_resources({FakeDatabase: FakeDatabase()})


def test_handler_may_be_called_directly_with_resources():
    app, db = app_of(save, resources=[database, config]), Database()
    app.handlers["ping"](Ping(n=4), fake_run(), {"db": db})
    assert db.saved == [4]
