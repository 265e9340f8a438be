"""The contracts of routes and bookmarks, over each back end that duetime has."""

from datetime import timedelta

import pytest

from duetime.aws.keyed_items import DynamoItems
from duetime.aws.notes import DynamoRoutes, publish
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.model.manifest import Manifest
from duetime.ports.wakeups import Bookmarks
from duetime.testing import TurnedClock
from duetime_contract import BookmarksContract, RoutesContract
from duetime_contract.specimens import NOON


class TestMemoryRoutes(RoutesContract):
    def routes(self, manifests):
        return MemoryRoutes(manifests)


class TestDynamoRoutes(RoutesContract):
    @pytest.fixture(autouse=True)
    def over_a_table(self, jobs_table):
        self.client, self.table = jobs_table
        self.clock = TurnedClock(NOON)

    def routes(self, manifests):
        for manifest in manifests:
            publish(self.client, self.table, manifest)
        return DynamoRoutes(self.client, self.table, clock=self.clock)

    def test_a_type_that_is_published_later_is_found_within_seconds(self):
        routes = self.routes([])
        assert routes.queue_for("make-report") is None
        publish(self.client, self.table, Manifest("reports", {"make-report": 1}))
        self.clock.wait_until(NOON + timedelta(seconds=6))
        assert routes.queue_for("make-report") == "reports"

    def test_a_version_that_is_published_later_is_found_within_seconds(self):
        routes = self.routes([Manifest("default", {"make-report": 1})])
        assert (routes.queue_for("make-report"), routes.version_of("make-report")) == ("default", 1)
        publish(self.client, self.table, Manifest("default", {"make-report": 2}))
        self.clock.wait_until(NOON + timedelta(seconds=6))
        assert routes.version_of("make-report") == 2

    def test_a_type_that_moves_is_followed_within_the_minute(self):
        routes = self.routes([Manifest("default", {"make-report": 1})])
        assert routes.queue_for("make-report") == "default"
        self.routes([Manifest("default", {}), Manifest("reports", {"make-report": 1})])
        self.clock.wait_until(NOON + timedelta(seconds=61))
        assert routes.queue_for("make-report") == "reports"

    def test_a_type_that_the_latest_deploy_dropped_has_no_queue(self):
        routes = self.routes([Manifest("default", {"make-report": 1, "send-invoice": 1})])
        assert routes.queue_for("make-report") == "default"
        publish(self.client, self.table, Manifest("default", {"send-invoice": 1}))
        self.clock.wait_until(NOON + timedelta(seconds=61))
        assert routes.queue_for("make-report") is None


class TestMemoryBookmarks(BookmarksContract):
    @pytest.fixture
    def bookmarks(self):
        return MemoryBookmarks()


class TestDynamoBookmarks(BookmarksContract):
    @pytest.fixture
    def bookmarks(self, jobs_table):
        return Bookmarks(DynamoItems(*jobs_table))
