"""The resources of an app: matched by type, and checked before the app runs."""

import inspect
import types
from datetime import timedelta
from typing import Any

import pytest

from duetime import App, Status
from duetime.check import problems, report
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import DeclarationError
from duetime.lambdas.loading import load_app
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from duetime.testing.turned_clock import TurnedClock
from tests.facts.resources import (
    START,
    Config,
    Database,
    FakeDatabase,
    Mailer,
    Outbox,
    Ping,
    Pong,
    app_of,
    config,
    database,
    given_to,
    made_by,
    save,
)


class TestAppResources:
    def test_resource_may_be_declared_after_its_handler(self):
        app = app_of(save)
        app.resource(database)
        app.resource(config)
        app.complete()
        assert problems(app) == []

    def test_missing_resource_is_rejected_with_name_of_handler(self):
        app = app_of(save, resources=[database])
        with pytest.raises(DeclarationError) as caught:
            app.complete()
        assert f"{save.__module__}.save takes db" not in str(caught.value)
        assert (
            f"{database.__module__}.database takes config: Config, and the app has no such resource"
            in str(caught.value)
        )
        with pytest.raises(
            DeclarationError, match=r"save takes db: Database, and the app has no such resource"
        ):
            app_of(save).complete()

    def test_types_match_exactly(self):
        def subclass(payload: Ping, db: FakeDatabase) -> None: ...

        def either(payload: Pong, db: Database | None) -> None: ...

        def lookalike(payload: Ping, mailer: Mailer) -> None: ...

        def outbox() -> Outbox: ...

        for function in (subclass, either, lookalike):
            with pytest.raises(DeclarationError, match=rf"{function.__name__} takes "):
                app_of(function, resources=[database, config, outbox]).complete()

    def test_parameter_default_is_used_without_resource(self):
        def takes(mailer: Mailer | None = None, db: Database | None = None, n: int = 3) -> None: ...

        app = App()
        app.job(takes)
        assert app.complete().for_parameters(app.handlers["test-app-resources-takes"].wants) == {}

    def test_resource_precedes_parameter_default(self):
        def takes(config: Config = None) -> None: ...

        assert given_to(made_by(config), takes).keys() == {"config"}

    def test_default_does_not_hide_missing_resource(self):
        def takes(payload: Ping, db: Database | None = None) -> None: ...

        with pytest.raises(DeclarationError, match=r"takes db: .*needs its exact type; write Database"):
            app_of(takes, resources=[database, config]).complete()

    def test_included_app_brings_its_resources(self):
        billing, app = app_of(resources=[database, config]), app_of(save)
        module = types.ModuleType("billing")
        module.app = billing
        app.include(module, billing)
        app.complete()

        def other() -> Database: ...

        with pytest.raises(DeclarationError, match="has two factories"):
            app_of(resources=[other]).include(billing)

    def test_parameter_that_cannot_be_resource_is_rejected_at_once(self):
        def text(payload: Ping, url: str) -> None: ...

        def anything(payload: Ping, thing: Any) -> None: ...

        def bare(payload: Ping, thing) -> None: ...

        for item in (text, anything, bare):
            with pytest.raises(DeclarationError, match="some with the types of resources, and no other"):
                App().action(item)

    def test_incomplete_app_does_not_run(self, tmp_path, monkeypatch):
        app = app_of(save)
        with pytest.raises(DeclarationError, match="takes db: Database"):
            SimulatedCloud(app)
        with pytest.raises(DeclarationError, match="takes db: Database"), app.embedded():
            pass
        code = inspect.getsource(Ping) + inspect.getsource(Config) + inspect.getsource(app_of_code)
        (tmp_path / "incomplete_app.py").write_text(
            f"from duetime import App, Payload\n{code}app = app_of_code()"
        )
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(DeclarationError, match=r"handle takes config: Config"):
            load_app("incomplete_app:app")

    def test_incomplete_app_does_not_replace_deployed_one(self):
        cloud = SimulatedCloud(app_of(save, resources=[database, config]), resources={Database: Database()})
        with pytest.raises(DeclarationError):
            cloud.deploy(app_of(save))
        ping = cloud.scheduler.schedule(Ping(), at=timedelta(0))
        cloud.advance(seconds=1)
        assert cloud.scheduler.get(ping.id).status is Status.EXECUTED


def app_of_code():
    app = App()

    @app.action
    def handle(payload: Ping, config: Config) -> None: ...

    return app


class TestCheck:
    def test_check_lists_users_of_resources_and_creates_none(self):
        def never() -> Config:
            raise AssertionError

        found = report(app_of(save, resources=[never, database]))
        assert [
            (resource.name, [one.rsplit(".")[-1] for one in resource.needed_by])
            for resource in found.resources
        ] == [
            ("Config", ["database"]),
            ("Database", ["save"]),
        ]
        assert found.problems == ()
        assert found.notes == ()

    def test_check_lists_missing_and_unused_resources(self):
        found = report(app_of(save, resources=[config]))
        [problem] = found.problems
        assert problem.startswith(
            f"ping: {save.__module__}.save takes db: Database, and the app has no such resource"
        )
        assert found.notes == ("Config: no function uses it",)
        [problem] = problems(app_of(resources=[database]))
        assert problem.startswith(f"Database: {database.__module__}.database takes config: Config")


def test_simulated_cloud_keeps_previous_app_if_new_one_is_incomplete():
    ran = []

    def app_of(name, *, asks):
        app = App()
        if asks:

            @app.job("every 1m", name="desk-tidy")
            def tidy(database: Database) -> None: ...

        @app.action
        def ping(payload: Ping) -> None:
            ran.append(name)

        return app

    clock = TurnedClock(START)
    cloud = MemoryCloud(app_of("before", asks=False), clock=clock, settings=Settings())
    scheduler = Scheduler(
        cloud.store, tenant_id="acme", actor="test", clock=clock, settings=Settings(), jobs=cloud.job_ports
    )
    with pytest.raises(DeclarationError, match="Database"):
        cloud.deploy(app_of("after", asks=True))
    assert "desk-tidy" not in [job.name for job in scheduler.jobs.list()]
    scheduler.schedule(Ping(), at=timedelta(0))
    while not ran:
        delivery = cloud.turn()
        cloud.run(delivery)
    assert ran == ["before"]
