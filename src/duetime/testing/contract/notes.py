"""What the steps look up and note down: routes and bookmarks."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import pytest

from duetime.model.manifest import Manifest
from duetime.ports.wakeups import Bookmarks, Routes

BILLING = Manifest("default", {"apply-plan-change": 1, "send-invoice": 2})
REPORTS = Manifest("reports", {"make-report": 1})


class RoutesContract:
    """Which worker runs a type."""

    @abstractmethod
    def routes(self, manifests: Sequence[Manifest]) -> Routes:
        """Routes over those published manifests and no others."""

    def test_a_type_leads_to_the_worker_that_published_it(self) -> None:
        routes = self.routes([BILLING, REPORTS])
        found = [routes.queue_for(name) for name in ("apply-plan-change", "send-invoice", "make-report")]
        assert found == ["default", "default", "reports"]

    @pytest.mark.parametrize("name", ["os.system", "apply-plan", "apply-plan-change ", "", "default"])
    def test_a_type_that_no_manifest_has_leads_nowhere(self, name: str) -> None:
        assert self.routes([BILLING, REPORTS]).queue_for(name) is None

    def test_without_manifests_nothing_leads_anywhere(self) -> None:
        assert self.routes([]).queue_for("apply-plan-change") is None

    def test_a_type_that_moves_leads_to_one_of_its_workers(self) -> None:
        moved = Manifest("reports", {"send-invoice": 2})
        assert self.routes([BILLING, moved]).queue_for("send-invoice") in {"default", "reports"}

    def test_a_type_leads_to_whoever_reads_its_newest_version(self) -> None:
        for version, worker in ((1, "default"), (3, "reports")):
            other = Manifest("reports", {"send-invoice": version})
            assert self.routes([BILLING, other]).queue_for("send-invoice") == worker
            assert self.routes([other, BILLING]).queue_for("send-invoice") == worker

    def test_the_newest_version_of_each_type_is_known(self) -> None:
        routes = self.routes([BILLING, Manifest("reports", {"make-report": 1, "send-invoice": 3})])
        names = ("apply-plan-change", "send-invoice", "make-report", "os.system")
        assert [routes.version_of(name) for name in names] == [1, 3, 1, None]


class BookmarksContract:
    """Where a repeated pass left off."""

    @pytest.fixture
    def bookmarks(self) -> Bookmarks:
        """Bookmarks with nothing written."""
        raise NotImplementedError("override the fixture `bookmarks`: it returns your back end, empty")

    def test_nothing_is_marked_at_first(self, bookmarks: Bookmarks) -> None:
        assert dict(bookmarks.read("sweep")) == {}

    def test_what_was_written_is_read(self, bookmarks: Bookmarks) -> None:
        marks = {"300/0": "2030-06-01T12:00:00.000000Z", "300/1": "cursor 2030 acme#1 é"}
        bookmarks.write("sweep", marks)
        assert dict(bookmarks.read("sweep")) == marks

    def test_a_write_replaces_all_that_stood(self, bookmarks: Bookmarks) -> None:
        bookmarks.write("sweep", {"300/0": "a", "300/1": "b"})
        bookmarks.write("sweep", {"300/1": "c"})
        assert dict(bookmarks.read("sweep")) == {"300/1": "c"}

    def test_all_marks_may_be_taken_away(self, bookmarks: Bookmarks) -> None:
        bookmarks.write("sweep", {"300/0": "a"})
        bookmarks.write("sweep", {})
        assert dict(bookmarks.read("sweep")) == {}

    def test_each_name_has_its_own_marks(self, bookmarks: Bookmarks) -> None:
        bookmarks.write("sweep", {"0": "a"})
        bookmarks.write("catch-up", {"0": "b"})
        assert (dict(bookmarks.read("sweep")), dict(bookmarks.read("catch-up"))) == ({"0": "a"}, {"0": "b"})

    def test_a_mark_for_each_band_and_shard_fits(self, bookmarks: Bookmarks) -> None:
        marks = {f"{band}/{shard}": "cursor " + "x" * 150 for band in range(7) for shard in range(256)}
        bookmarks.write("sweep", marks)
        assert dict(bookmarks.read("sweep")) == marks

    def test_what_is_changed_after_the_write_is_not_marked(self, bookmarks: Bookmarks) -> None:
        marks = {"0": "a"}
        bookmarks.write("sweep", marks)
        marks["0"] = "b"
        assert dict(bookmarks.read("sweep")) == {"0": "a"}
