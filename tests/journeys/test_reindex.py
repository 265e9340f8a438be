"""The worked example of a re-index.

Once for all the changes of a moment, and never without the last of them.
"""

from datetime import UTC, datetime, timedelta

import pytest

from duetime.testing import Faults
from examples.reindex import MOMENT, Documents, Index, IndexInMemory, IndexScheduler, Reindex, app
from tests.journeys.later import cloud_of

START = datetime(2026, 6, 1, 12, tzinfo=UTC)


class Library:
    """Documents with versions."""

    def __init__(self):
        self.versions = {}

    def text_of(self, document):
        version = self.versions.get(document)
        return None if version is None else f"{document}, version {version}"


class World:
    """A cloud, its documents and its index."""

    def __init__(self, faults=None):
        self.library, self.index = Library(), IndexInMemory()
        given = {Documents: self.library, Index: self.index}
        self.cloud = cloud_of(app, IndexScheduler, given, start=START, faults=faults)

    def save(self, document, kind="guide", **event):
        self.library.versions[document] = self.library.versions.get(document, 0) + 1
        self.send(document, kind, **event)

    def send(self, document, kind="guide", **event):
        self.cloud.send_event(
            "shop.documents", "DocumentChanged", {"document": document, "kind": kind}, **event
        )

    def reindexed(self):
        return [action for action in self.cloud.actions() if action.type == "reindex"]


@pytest.fixture
def world():
    return World()


def test_ten_changes_of_a_moment_are_one_reindex_with_the_last_of_them(world):
    for _ in range(9):
        world.save("tea")
        world.cloud.advance(seconds=1)
    world.save("tea")
    world.save("coffee")
    world.cloud.advance(minutes=1)
    assert world.index.texts == {"tea": "tea, version 10", "coffee": "coffee, version 1"}
    assert [item.status for item in world.reindexed()] == ["executed", "executed"]


def test_a_change_of_the_next_moment_is_indexed_too(world):
    world.save("tea")
    world.cloud.advance(MOMENT)
    world.save("tea")
    world.cloud.advance(minutes=1)
    assert world.index.texts == {"tea": "tea, version 2"}
    assert len(world.reindexed()) == 2


def test_other_kinds_of_documents_are_left_alone(world):
    world.save("secret", kind="note")
    world.cloud.advance(minutes=1)
    assert world.index.texts == {}
    assert world.cloud.jobs.history("search-document-changed").actions == ()


def test_a_repeated_event_runs_once(world):
    world.save("tea", id="e-1")
    world.send("tea", id="e-1")
    world.cloud.advance(minutes=1)
    assert len(world.reindexed()) == 1
    assert len(world.cloud.jobs.history("search-document-changed")) == 1


def test_a_removed_document_is_not_found(world):
    world.save("tea")
    world.cloud.advance(minutes=1)
    del world.library.versions["tea"]
    world.send("tea")
    world.cloud.advance(minutes=1)
    assert world.index.texts == {}


def test_a_change_at_an_indexed_moment_waits_for_the_next(world):
    ends_at = START + MOMENT
    early = world.cloud.scheduler.schedule(
        Reindex(document="tea"), at=timedelta(0), idempotency_key=f"reindex:tea:{ends_at:%Y%m%dT%H%M%S}"
    )  # as a worker does whose clock is ahead
    world.cloud.advance(seconds=1)
    assert world.cloud.scheduler.get(early.id).status == "executed"
    world.save("tea")
    world.cloud.advance(minutes=1)
    assert world.index.texts == {"tea": "tea, version 1"}


@pytest.mark.parametrize("seed", range(4))
def test_under_faults_the_index_has_the_last_version_of_every_document(seed):
    world = World(Faults.only(seed, crash=0.1, drop=0.1, double=0.3, delay=0.3))
    for n in range(20):
        world.save(("tea", "coffee", "milk")[n % 3])
        world.cloud.advance(seconds=3)
    world.cloud.advance(minutes=10)
    world.cloud.end_faults()
    world.cloud.advance(hours=7)
    assert world.index.texts == {name: world.library.text_of(name) for name in ("tea", "coffee", "milk")}
    world.cloud.check()
    world.cloud.close()
