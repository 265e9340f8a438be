"""Resources: made once per process, when they are first needed, and given by their types."""

import functools
import inspect
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NewType, Protocol

import pytest

from duetime import App, Payload, RetryPolicy, Run, Status
from duetime.check import problems, report
from duetime.errors import DeclarationError
from duetime.lambdas.loading import load_app
from duetime.memory.cloud import MemoryCloud
from duetime.resources import Factories, ResourceFailed, Resources, factory_of
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, fake_run
from duetime.testing.turned_clock import TurnedClock

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
    for each in factories:
        app.resource(each)
    return app.complete()


def app_of(*functions, resources=()):
    app = App()
    for each in resources:
        app.resource(each)
    for each in functions:
        app.action(each)
    return app


def given_to(resources, function):
    """What a function is given of them, by parameter."""
    app = App()
    app.job(function)
    [handler] = app.handlers.values()
    return resources.of(handler.wants)


class TestAFactory:
    def test_stays_the_plain_function_that_it_was(self):
        app = App()
        assert app.resource(database) is database
        assert database(config()).config.url == "postgres://"

    def test_says_what_it_makes(self):
        assert [each.name for each in app_of(resources=[database, config]).resources.values()] == [
            "Database",
            "Config",
        ]

    def test_may_make_a_protocol_or_a_type_that_is_new_in_name_alone(self):
        def mailer() -> Mailer:
            return Outbox()

        def reader() -> Reader:
            return Reader("read only")

        def takes(mailer: Mailer, reader: Reader) -> None: ...

        given = given_to(made_by(mailer, reader), takes)
        assert (type(given["mailer"]), given["reader"]) == (Outbox, "read only")

    def test_that_says_no_type_or_one_too_general_is_refused(self):
        def silent(): ...

        def nothing() -> None: ...

        def anything() -> Any: ...

        def text() -> str: ...

        def texts() -> dict[str, str]: ...

        def payload() -> Ping: ...

        def run() -> Run: ...

        def maybe() -> Ping | None: ...

        for each in (silent, nothing, anything, text, texts, payload, run, maybe, Database):
            with pytest.raises(DeclarationError, match=rf"{each.__name__} must say what it makes"):
                App().resource(each)

    def test_that_is_no_plain_function_is_refused(self):
        def generated() -> Iterator[Database]:
            yield Database()

        async def awaited() -> Database:
            return Database()

        for each in (generated, contextmanager(generated), awaited):
            with pytest.raises(
                DeclarationError, match=r"made by a plain function, neither async nor a generator"
            ):
                App().resource(each)

    def test_that_takes_what_no_resource_can_be_is_refused(self):
        def of_run(run: Run) -> Database: ...

        def of_payload(payload: Ping) -> Database: ...

        def of_anything(thing) -> Database: ...

        def of_text(url: str) -> Database: ...

        def by_position(config: Config, /) -> Database: ...

        for each in (of_run, of_payload, of_anything, of_text, by_position):
            with pytest.raises(DeclarationError, match=r"may take other resources, and nothing else"):
                App().resource(each)

    def test_whose_type_cannot_be_resolved_is_refused(self):
        def lost() -> "Nowhere": ...  # noqa: F821

        with pytest.raises(DeclarationError, match="cannot be resolved"):
            App().resource(lost)

    def test_may_be_wrapped(self):
        def once(function):
            return functools.cache(function)

        resources = made_by(once(config), database)
        assert given_to(resources, lambda_taking(Database))["it"].config.url == "postgres://"

    def test_is_the_only_one_of_its_type(self):
        def other() -> Database: ...

        app = app_of(resources=[database])
        app.resource(database)
        with pytest.raises(
            DeclarationError, match=r"resource Database has two factories, .*\.database and .*other"
        ):
            app.resource(other)

    def test_that_closes_a_circle_is_refused_with_every_step(self):
        def first(b: Mailer) -> Config: ...

        def second(a: Config, db: Database) -> Mailer: ...

        def alone(it: Database) -> Database: ...

        app = App()
        app.resource(database)
        app.resource(second)
        with pytest.raises(DeclarationError) as caught:
            app.resource(first)
        assert str(caught.value).startswith("resources need each other in a circle: ")
        assert [step.rsplit(".")[-1] for step in str(caught.value).split(", ")] == [
            "first takes Mailer",
            "second takes Config",
        ]
        assert Config not in app.resources
        with pytest.raises(DeclarationError, match=r"alone takes Database"):
            App().resource(alone)

    def test_that_two_others_need_closes_no_circle(self):
        def mailer(db: Database, config: Config) -> Mailer:
            return Outbox()

        assert given_to(made_by(mailer, config, database), lambda_taking(Mailer))


def lambda_taking(annotation):
    """A function with one parameter, `it`, of that type."""

    def takes(it) -> None: ...

    takes.__annotations__ = {"it": annotation, "return": None}
    return takes


class TestAnApp:
    def test_may_declare_resources_after_what_takes_them(self):
        app = app_of(save)
        app.resource(database)
        app.resource(config)
        app.complete()
        assert problems(app) == []

    def test_is_not_complete_while_a_resource_is_missing_and_says_who_takes_it(self):
        app = app_of(save, resources=[database])
        with pytest.raises(DeclarationError) as caught:
            app.complete()
        assert f"{__name__}.save takes db" not in str(caught.value)
        assert f"{__name__}.database takes config: Config, and the app has no such resource" in str(
            caught.value
        )
        with pytest.raises(
            DeclarationError, match=r"save takes db: Database, and the app has no such resource"
        ):
            app_of(save).complete()

    def test_matches_types_exactly(self):
        def subclass(payload: Ping, db: FakeDatabase) -> None: ...

        def either(payload: Pong, db: Database | None) -> None: ...

        def lookalike(payload: Ping, mailer: Mailer) -> None: ...

        def outbox() -> Outbox: ...

        for function in (subclass, either, lookalike):
            with pytest.raises(DeclarationError, match=rf"{function.__name__} takes "):
                app_of(function, resources=[database, config, outbox]).complete()

    def test_leaves_a_default_where_it_has_no_resource(self):
        def takes(mailer: Mailer | None = None, db: Database | None = None, n: int = 3) -> None: ...

        app = App()
        app.job(takes)
        assert app.complete().of(app.handlers["test-resources-takes"].wants) == {}

    def test_prefers_its_resource_to_a_default(self):
        def takes(config: Config = None) -> None: ...

        assert given_to(made_by(config), takes).keys() == {"config"}

    def test_does_not_leave_a_default_where_a_resource_was_meant(self):
        def takes(payload: Ping, db: Database | None = None) -> None: ...

        with pytest.raises(DeclarationError, match=r"takes db: .*by its very type; say Database"):
            app_of(takes, resources=[database, config]).complete()

    def test_takes_resources_along_when_it_includes_another(self):
        billing, app = app_of(resources=[database, config]), app_of(save)
        module = types.ModuleType("billing")
        module.app = billing
        app.include(module, billing)
        app.complete()

        def other() -> Database: ...

        with pytest.raises(DeclarationError, match="has two factories"):
            app_of(resources=[other]).include(billing)

    def test_refuses_what_no_resource_could_ever_fill_at_once(self):
        def text(payload: Ping, url: str) -> None: ...

        def anything(payload: Ping, thing: Any) -> None: ...

        def bare(payload: Ping, thing) -> None: ...

        for each in (text, anything, bare):
            with pytest.raises(DeclarationError, match="some with the types of resources, and no other"):
                App().action(each)

    def test_that_is_not_complete_is_run_by_nobody(self, tmp_path, monkeypatch):
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

    def test_that_is_not_complete_takes_no_others_place(self):
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


class TestTheCheck:
    def test_tells_who_needs_each_resource_and_makes_none(self):
        def never() -> Config:
            raise AssertionError

        found = report(app_of(save, resources=[never, database]))
        assert [(each.name, [one.rsplit(".")[-1] for one in each.needed_by]) for each in found.resources] == [
            ("Config", ["database"]),
            ("Database", ["save"]),
        ]
        assert found.problems == ()
        assert found.notes == ()

    def test_tells_what_is_missing_and_what_nothing_takes(self):
        found = report(app_of(save, resources=[config]))
        [problem] = found.problems
        assert problem.startswith(
            f"ping: {__name__}.save takes db: Database, and the app has no such resource"
        )
        assert found.notes == ("Config: nothing takes it",)
        [problem] = problems(app_of(resources=[database]))
        assert problem.startswith(f"Database: {__name__}.database takes config: Config")


class TestAProcess:
    def test_makes_nothing_before_it_is_needed_and_everything_once(self):
        made = []

        def counted() -> Config:
            made.append("config")
            return Config()

        def also(config: Config) -> Database:
            made.append("database")
            return Database(config)

        resources = made_by(counted, also)
        assert made == []
        first = given_to(resources, lambda_taking(Database))["it"]
        assert given_to(resources, lambda_taking(Config))["it"] is first.config
        assert given_to(resources, lambda_taking(Database))["it"] is first
        assert made == ["config", "database"]

    def test_makes_one_for_two_runs_that_need_it_at_once(self):
        begun, twice, made, given = threading.Event(), threading.Event(), [], []

        def slow() -> Config:
            made.append(1)
            (twice if begun.is_set() else begun).set()
            twice.wait(0.1)  # for whoever would come in
            return Config()

        resources = made_by(slow)
        threads = [
            threading.Thread(target=lambda: given.append(given_to(resources, lambda_taking(Config))["it"]))
            for _ in range(2)
        ]
        threads[0].start()
        begun.wait()
        threads[1].start()
        for each in threads:
            each.join()
        assert len(made) == 1
        assert given[0] is given[1]

    def test_makes_one_while_another_is_being_made(self):
        begun, may_end = threading.Event(), threading.Event()

        def slow() -> Config:
            begun.set()
            may_end.wait()
            return Config()

        def quick() -> Mailer:
            return Outbox()

        resources = made_by(slow, quick)
        thread = threading.Thread(target=given_to, args=(resources, lambda_taking(Config)))
        thread.start()
        begun.wait()
        assert given_to(resources, lambda_taking(Mailer))
        may_end.set()
        thread.join()

    def test_keeps_nothing_of_a_factory_that_raised(self):
        tries, configs = [], []

        def flaky(config: Config) -> Database:
            configs.append(config)
            tries.append(1)
            if len(tries) == 1:
                raise ConnectionError("no answer")
            return Database(config)

        resources = made_by(flaky, config)
        with pytest.raises(
            ResourceFailed, match=r"flaky could not make Database: ConnectionError: no answer"
        ):
            given_to(resources, lambda_taking(Database))
        assert given_to(resources, lambda_taking(Database))["it"].config is configs[0] is configs[1]

    def test_tells_which_of_several_factories_failed(self):
        def broken() -> Config:
            raise ValueError("no url")

        with pytest.raises(
            ResourceFailed, match=r"broken could not make Config: ValueError: no url"
        ) as caught:
            given_to(made_by(broken, database), lambda_taking(Database))
        assert caught.value.resource == "Config"

    def test_keeps_a_resource_that_is_none(self):
        made = []

        def nothing() -> Config:
            made.append(1)

        resources = made_by(nothing)
        assert [given_to(resources, lambda_taking(Config))["it"] for _ in range(2)] == [None, None]
        assert made == [1]


class TestARun:
    def test_is_given_what_its_handler_takes(self):
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

    def test_fails_with_its_factory_and_is_tried_again(self):
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
        told = cloud.scheduler.get(action.id)
        assert (told.status, told.attempt, len(tries)) == (Status.EXECUTED, 3, 3)
        assert "flaky could not make Config: ConnectionError: no answer" in told.attempts[0].message

    def test_goes_on_without_a_resource_that_it_does_not_take(self):
        def broken() -> Config:
            raise AssertionError

        app = app_of(save, resources=[broken])
        app.resource(lambda_making(Database))
        cloud = SimulatedCloud(app, start=START)
        action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
        cloud.advance(seconds=1)
        assert cloud.scheduler.get(action.id).status is Status.EXECUTED

    def test_needs_no_scheduler_in_a_unit_test(self):
        db = FakeDatabase()
        save(Ping(n=5), db)
        assert db.saved == [5]


def lambda_making(annotation):
    def make() -> None:
        return annotation()

    make.__annotations__ = {"return": annotation}
    return make


class TestAReplacedResource:
    @pytest.fixture
    def app(self):
        def never() -> Config:
            raise AssertionError("a replaced factory is not called")

        def of(config: Config) -> Database:
            return Database(config)

        return app_of(save, resources=[never, of])

    def test_takes_the_place_of_its_factory_in_a_simulated_cloud(self, app):
        db = FakeDatabase()
        cloud = SimulatedCloud(app, start=START, resources={Database: db})
        cloud.scheduler.schedule(Ping(n=1), at=timedelta(0))
        cloud.advance(seconds=1)
        cloud.deploy(app)
        cloud.scheduler.schedule(Ping(n=2), at=timedelta(0))
        cloud.advance(seconds=1)
        assert db.saved == [1, 2]

    def test_is_given_to_the_factories_that_take_it(self, app):
        mine = Config()
        resources = app.with_resources({Config: mine}).complete()
        assert given_to(resources, lambda_taking(Database))["it"].config is mine

    def test_takes_the_place_of_its_factory_in_the_embedded_scheduler(self, app):
        ended, db = threading.Event(), FakeDatabase()

        @app.action
        def handle(payload: Pong, db: Database) -> None:
            db.saved.append(0)
            ended.set()

        with app.embedded(resources={Database: db}) as scheduler:
            scheduler.schedule(Pong(), at=timedelta(0))
            assert ended.wait(30)
        assert db.saved == [0]

    def test_leaves_the_app_as_it_was(self, app):
        app.with_resources({Config: Config()})
        with pytest.raises(ResourceFailed):
            given_to(app.complete(), lambda_taking(Database))

    def test_must_be_one_that_the_app_has(self, app):
        with pytest.raises(DeclarationError, match=r"no resource FakeDatabase .*; it has Config, Database"):
            SimulatedCloud(app, resources={FakeDatabase: FakeDatabase()})
        with pytest.raises(DeclarationError, match=r"no resource FakeDatabase .*; it has none"):
            App().with_resources({FakeDatabase: FakeDatabase()})


def test_a_handler_may_be_called_with_its_resources_by_hand():
    app, db = app_of(save, resources=[database, config]), Database()
    app.handlers["ping"](Ping(n=4), fake_run(), {"db": db})
    assert db.saved == [4]


def test_factories_may_be_gathered_without_an_app():
    factories = Factories()
    factories.add(factory_of(config))
    assert Resources(factories.by_type).of(factory_of(database).wants).keys() == {"config"}


def test_a_memory_cloud_goes_on_with_the_app_before_one_that_is_not_complete():
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
