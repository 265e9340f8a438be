"""Resources are created once per process, at their first use."""

import threading

import pytest

from duetime.declare.resources import ResourceFailed
from tests.facts.resources import (
    Config,
    Database,
    Mailer,
    Outbox,
    config,
    database,
    given_to,
    lambda_taking,
    made_by,
)


class TestProcessResources:
    def test_resource_is_created_at_first_use_and_once(self):
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

    def test_concurrent_runs_share_one_resource(self):
        begun, twice, made, given = threading.Event(), threading.Event(), [], []

        def slow() -> Config:
            made.append(1)
            (twice if begun.is_set() else begun).set()
            twice.wait(0.1)  # for a second call
            return Config()

        resources = made_by(slow)
        threads = [
            threading.Thread(target=lambda: given.append(given_to(resources, lambda_taking(Config))["it"]))
            for _ in range(2)
        ]
        threads[0].start()
        begun.wait()
        threads[1].start()
        for thread in threads:
            thread.join()
        assert len(made) == 1
        assert given[0] is given[1]

    def test_resources_are_created_concurrently(self):
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

    def test_failed_factory_is_called_again(self):
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

    def test_error_names_failed_factory(self):
        def broken() -> Config:
            raise ValueError("no url")

        with pytest.raises(
            ResourceFailed, match=r"broken could not make Config: ValueError: no url"
        ) as caught:
            given_to(made_by(broken, database), lambda_taking(Database))
        assert caught.value.resource == "Config"

    def test_error_names_leaf_of_group(self):
        def broken() -> Config:
            raise ExceptionGroup("config", [ValueError("no url"), KeyError("port")])

        with pytest.raises(ResourceFailed, match="could not make Config: ValueError: no url; and 1 more"):
            given_to(made_by(broken, database), lambda_taking(Database))

    def test_resource_none_is_cached(self):
        made = []

        def nothing() -> Config:
            made.append(1)

        resources = made_by(nothing)
        assert [given_to(resources, lambda_taking(Config))["it"] for _ in range(2)] == [None, None]
        assert made == [1]
