"""Resource factories: valid functions, parameters and rejected factories."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from duetime import App, Run
from duetime.declare.resources import Factories, Resources, factory_of
from duetime.errors import DeclarationError
from tests.facts.resources import (
    Config,
    Database,
    Mailer,
    Outbox,
    Ping,
    Reader,
    app_of,
    config,
    database,
    given_to,
    lambda_taking,
    made_by,
)


class TestFactory:
    def test_decorator_returns_plain_function(self):
        app = App()
        assert app.resource(database) is database
        assert database(config()).config.url == "postgres://"

    def test_return_annotation_is_resource_type(self):
        assert [resource.name for resource in app_of(resources=[database, config]).resources.values()] == [
            "Database",
            "Config",
        ]

    def test_factory_may_return_protocol_or_new_type(self):
        def mailer() -> Mailer:
            return Outbox()

        def reader() -> Reader:
            return Reader("read only")

        def takes(mailer: Mailer, reader: Reader) -> None: ...

        given = given_to(made_by(mailer, reader), takes)
        assert (type(given["mailer"]), given["reader"]) == (Outbox, "read only")

    def test_missing_or_general_return_type_is_rejected(self):
        def silent(): ...

        def nothing() -> None: ...

        def anything() -> Any: ...

        def text() -> str: ...

        def texts() -> dict[str, str]: ...

        def payload() -> Ping: ...

        def run() -> Run: ...

        def maybe() -> Ping | None: ...

        for item in (silent, nothing, anything, text, texts, payload, run, maybe, Database):
            with pytest.raises(DeclarationError, match=rf"{item.__name__} must return a type of its own"):
                App().resource(item)

    def test_factory_that_is_no_plain_function_is_rejected(self):
        def generated() -> Iterator[Database]:
            yield Database()

        async def awaited() -> Database:
            return Database()

        for item in (generated, contextmanager(generated), awaited):
            with pytest.raises(
                DeclarationError, match=r"needs a plain function, neither async nor a generator"
            ):
                App().resource(item)

    def test_parameter_that_cannot_be_resource_is_rejected(self):
        def of_run(run: Run) -> Database: ...

        def of_payload(payload: Ping) -> Database: ...

        def of_anything(thing) -> Database: ...

        def of_text(url: str) -> Database: ...

        def by_position(config: Config, /) -> Database: ...

        for item in (of_run, of_payload, of_anything, of_text, by_position):
            with pytest.raises(DeclarationError, match=r"may take other resources, and nothing else"):
                App().resource(item)

    def test_unresolvable_annotation_is_rejected(self):
        def lost() -> "Nowhere": ...  # noqa: F821

        with pytest.raises(DeclarationError, match="cannot be resolved"):
            App().resource(lost)

    def test_factory_may_be_wrapped(self):
        def once(function):
            return functools.cache(function)

        resources = made_by(once(config), database)
        assert given_to(resources, lambda_taking(Database))["it"].config.url == "postgres://"

    def test_type_has_one_factory(self):
        def other() -> Database: ...

        app = app_of(resources=[database])
        app.resource(database)
        with pytest.raises(
            DeclarationError, match=r"resource Database has two factories, .*\.database and .*other"
        ):
            app.resource(other)

    def test_cycle_is_rejected_with_every_step(self):
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

    def test_shared_dependency_is_no_cycle(self):
        def mailer(db: Database, config: Config) -> Mailer:
            return Outbox()

        assert given_to(made_by(mailer, config, database), lambda_taking(Mailer))


def test_factories_work_without_app():
    factories = Factories()
    factories.add(factory_of(config))
    assert Resources(factories.by_type).of(factory_of(database).wants).keys() == {"config"}
