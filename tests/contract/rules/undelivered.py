"""What is undelivered.

Kept once however often it is given up, listed newest first, forgotten when nothing came since.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from duetime.errors import truncate
from duetime.ids import ActionId
from duetime.model.action import ActionRef
from duetime.model.undelivered import BODY_LIMIT, Undelivered, UndeliveredKind, undelivered_id
from duetime.ports.undelivered import UndeliveredStore
from duetime_contract.specimens import ACME, EXPIRY, HOUR, NOON, pages

REF = ActionRef(ACME, ActionId("019ca932-7c00-735e-a389-6f2fb6b5d775"))


def given_up(name: str = "a", at: datetime = NOON, **more: object) -> Undelivered:
    """Return an unwritten message of that name."""
    thing = Undelivered(
        id=undelivered_id(at, name),
        kind=UndeliveredKind.MESSAGE,
        source="due-default",
        reason="no worker took it",
        body=name,
        first_at=NOON,
        last_at=NOON,
    )
    return replace(thing, **more)  # type: ignore[arg-type]


class UndeliveredContract:
    """The whole contract of `duetime.ports.undelivered.UndeliveredStore`.

    Override the fixture `undelivered`.
    """

    @pytest.fixture
    def undelivered(self) -> UndeliveredStore:
        raise NotImplementedError("override the fixture `undelivered`: it returns your back end, empty")

    @pytest.fixture
    def stored(self, undelivered: UndeliveredStore) -> Undelivered:
        thing = given_up()
        undelivered.keep(thing, expires_at=EXPIRY)
        return thing

    def test_a_stored_input_is_read(self, undelivered: UndeliveredStore) -> None:
        for thing in (given_up("a"), given_up("b", kind=UndeliveredKind.WAKE, action=REF, is_cut=True)):
            undelivered.keep(thing, expires_at=EXPIRY)
            assert undelivered.get(thing.id) == thing

    @pytest.mark.usefixtures("stored")
    def test_another_input_is_not_there(self, undelivered: UndeliveredStore) -> None:
        assert undelivered.get(given_up("b").id) is None

    @pytest.mark.parametrize("kind", list(UndeliveredKind))
    def test_every_kind_can_be_stored(self, undelivered: UndeliveredStore, kind: UndeliveredKind) -> None:
        undelivered.keep(given_up(kind=kind), expires_at=EXPIRY)
        assert [thing.kind for thing in undelivered.list(limit=10, cursor=None)] == [kind]

    def test_an_input_that_is_stored_again_has_its_latest_reason(self, undelivered: UndeliveredStore) -> None:
        first = given_up(action=REF)
        undelivered.keep(first, expires_at=EXPIRY)
        again = replace(
            first, reason="again", body="another", first_at=NOON + HOUR, last_at=NOON + HOUR, action=None
        )
        undelivered.keep(again, expires_at=EXPIRY + HOUR)
        (stored,) = undelivered.list(limit=10, cursor=None)
        assert stored == replace(first, reason="again", last_at=NOON + HOUR, count=2)

    def test_the_longest_body_and_reason_can_be_stored(self, undelivered: UndeliveredStore) -> None:
        thing = given_up(body="x" * BODY_LIMIT, reason=truncate("é" * 1_000))
        undelivered.keep(thing, expires_at=EXPIRY)
        assert undelivered.get(thing.id) == thing
        undelivered.keep(thing, expires_at=EXPIRY)
        assert undelivered.get(thing.id) == replace(thing, count=2)

    @pytest.mark.parametrize("body", ["", "]", '{"é": "\\u0000"}'])
    def test_a_body_is_stored_unchanged(self, undelivered: UndeliveredStore, body: str) -> None:
        thing = given_up(body=body)
        undelivered.keep(thing, expires_at=EXPIRY)
        assert undelivered.get(thing.id) == thing

    @pytest.mark.parametrize("limit", [1, 2, 3, 10])
    def test_all_are_listed_newest_first_page_by_page(
        self, undelivered: UndeliveredStore, limit: int
    ) -> None:
        things = [given_up(str(hour), NOON + hour * HOUR) for hour in (3, 0, 4, 1, 2)]
        for thing in things:
            undelivered.keep(thing, expires_at=EXPIRY)
        assert self._listed(undelivered, limit) == sorted((thing.id for thing in things), reverse=True)

    def test_long_bodies_are_listed(self, undelivered: UndeliveredStore) -> None:
        things = [given_up(str(hour), NOON + hour * HOUR, body="x" * BODY_LIMIT) for hour in range(4)]
        for thing in things:
            undelivered.keep(thing, expires_at=EXPIRY)
        page = undelivered.list(limit=4, cursor=None)
        assert [thing.id for thing in page] == [thing.id for thing in reversed(things)]
        assert page.cursor is None

    def test_an_empty_store_lists_nothing(self, undelivered: UndeliveredStore) -> None:
        page = undelivered.list(limit=10, cursor=None)
        assert (tuple(page), page.cursor) == ((), None)

    def test_a_removed_input_is_gone(self, undelivered: UndeliveredStore, stored: Undelivered) -> None:
        other = given_up("b")
        undelivered.keep(other, expires_at=EXPIRY)
        assert undelivered.remove(stored)
        assert (undelivered.get(stored.id), undelivered.get(other.id)) == (None, other)

    def test_removing_again_is_no_failure(self, undelivered: UndeliveredStore, stored: Undelivered) -> None:
        for _ in range(2):
            assert undelivered.remove(stored)

    def test_an_input_that_was_stored_again_since_it_was_read_stays(
        self, undelivered: UndeliveredStore, stored: Undelivered
    ) -> None:
        undelivered.keep(stored, expires_at=EXPIRY)
        assert not undelivered.remove(stored)
        twice = replace(stored, count=2)
        assert undelivered.get(stored.id) == twice
        assert undelivered.remove(twice)

    def test_an_input_that_is_stored_after_its_removal_starts_again(
        self, undelivered: UndeliveredStore, stored: Undelivered
    ) -> None:
        undelivered.remove(stored)
        again = replace(stored, reason="later", first_at=NOON + HOUR, last_at=NOON + HOUR)
        undelivered.keep(again, expires_at=EXPIRY)
        assert undelivered.get(stored.id) == again
        assert not undelivered.remove(replace(stored, count=2)), "what was read before the removal"

    def _listed(self, undelivered: UndeliveredStore, limit: int) -> list[str]:
        return [thing.id for thing in pages(lambda at: undelivered.list(limit=limit, cursor=at), limit)]
