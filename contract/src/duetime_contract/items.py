"""The engine's items: guards, changes, transactions and queries, of a kind that no table of duetime has."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from duetime.ports.action_store import ActionStore
from duetime.ports.keyed_items import (
    EXISTS,
    FLAG,
    INSTANT,
    IS_NEW,
    NAMES,
    NUMBER,
    TEXT,
    AnyOf,
    AnyWrite,
    AtMost,
    Below,
    Form,
    Guard,
    Key,
    Kind,
    Not,
    Outcome,
    Presence,
    Query,
    Size,
    Write,
    unread,
)
from duetime.ports.row_writes import RowFollowed, RowPut
from duetime_contract.races import CROWD, together
from duetime_contract.specimens import NOON, TICK, fresh
from duetime_contract.subject import StoreContract

HOLDERS = Form(
    "M",
    lambda holders: {name: {"N": str(number)} for name, number in holders.items()},
    lambda entries: {name: int(number["N"]) for name, number in entries.items()},
)
LINE = Form(
    "L",
    lambda line: [{"S": name} for name in line],
    lambda entries: tuple(entry["S"] for entry in entries),
)
SPECIMEN = Kind(
    name="specimen",
    partition="specimen/{name}",
    sort="a name",
    fields={"name": TEXT},
    optional={
        "number": NUMBER,
        "flag": FLAG,
        "at": INSTANT,
        "names": NAMES,
        "holders": HOLDERS,
        "line": LINE,
        "size": TEXT,
    },
    parts={"holders": NUMBER, "line": TEXT},
    writers="the contract",
)
Item = Mapping[str, Any]
FULL: Item = {
    "name": "é\u2028",
    "number": 5,
    "flag": False,
    "at": NOON + TICK,
    "names": frozenset({"a", "b"}),
    "holders": {"one": 3, "019a-two": 4},
    "line": ("x", "y"),
    "size": "a reserved word",
}
GONE: Item = {}


def but(**fields: Any) -> Item:
    """Return the full item with other fields; None for one that it lacks."""
    return {name: value for name, value in {**FULL, **fields}.items() if value is not None}


def key(sort: str = "specimen", name: str = "one") -> Key:
    """Return a key of a partition."""
    return SPECIMEN.key(sort, name=name)


def write(guard: Guard = (), place: Key | None = None, **change: Any) -> Write:
    """Return a write of a specimen."""
    return Write(kind=SPECIMEN, key=place or key(), guard=guard, **change)


def read(store: ActionStore, place: Key | None = None) -> Item:
    """Return the fields of a stored item without its key; none if there is none."""
    item = store.items.get(SPECIMEN, place or key(), dict) or {}
    return {name: value for name, value in item.items() if name not in {"pk", "sk"}}


def lay(store: ActionStore, item: Item, place: Key | None = None) -> None:
    """Store an item, or none."""
    change = write(place=place, put=item) if item else write(place=place, is_removal=True)
    assert store.items.write(change).is_written


GUARDS: Mapping[str, tuple[Guard, tuple[Item, ...], tuple[Item, ...]]] = {
    "none": ((), (FULL, GONE), ()),
    "new": (IS_NEW, (GONE,), (FULL,)),
    "there": (EXISTS, (FULL,), (GONE,)),
    "equal": (({"name": FULL["name"]},), (FULL,), (but(name="b"), but(name=None), GONE)),
    "an instant": (({"at": NOON + TICK},), (FULL,), (but(at=NOON), but(at=None))),
    "a reserved word": (({"size": FULL["size"]},), (FULL,), (but(size="b"),)),
    "a map": (({"holders": FULL["holders"]},), (FULL,), (but(holders={"one": 3}), but(holders=None))),
    "unset": (({"number": Presence.UNSET},), (but(number=None), GONE), (FULL, but(number=0))),
    "set": (({"number": Presence.SET},), (FULL, but(number=0)), (but(number=None), GONE)),
    "at most": (({"number": AtMost(5)},), (FULL, but(number=4)), (but(number=6), but(number=None))),
    "below": (({"number": Below(5)},), (but(number=4),), (FULL, but(number=6), but(number=None))),
    "an instant at most": (({"at": AtMost(NOON)},), (but(at=NOON),), (FULL, but(at=None))),
    "not": (({"name": Not("b")},), (FULL, but(name=None), GONE), (but(name="b"),)),
    "any of": (
        ({"number": AnyOf((Presence.UNSET, AtMost(4)))},),
        (but(number=None), but(number=4)),
        (FULL,),
    ),
    "as many": (
        ({"line": Size(2)},),
        (FULL,),
        (but(line=("x",)), but(line=("x", "y", "z")), but(line=None)),
    ),
    "fewer": (({"holders": Size(Below(2))},), (but(holders={"one": 3}),), (FULL, but(holders=None))),
    "not fewer": (({"line": Size(Not(Below(2)))},), (FULL,), (but(line=("x",)), but(line=None))),
    "no entries or few": (
        ({"line": AnyOf((Presence.UNSET, Size(Below(2))))},),
        (but(line=None), but(line=("x",))),
        (FULL,),
    ),
    "an entry of a map": (
        ({"holders.019a-two": 4},),
        (FULL, but(holders={"019a-two": 4})),
        (but(holders={"019a-two": 5}), but(holders={"one": 4}), but(holders=None)),
    ),
    "no entry of a map": (
        ({"holders.one": Presence.UNSET},),
        (but(holders={"019a-two": 4}), but(holders=None)),
        (FULL,),
    ),
    "an entry of a list": (
        ({"line[1]": "y"},),
        (FULL,),
        (but(line=("y", "x")), but(line=("y",)), but(line=None)),
    ),
    "two clauses": (
        ({"name": FULL["name"], "number": AtMost(5)},),
        (FULL,),
        (but(name="b"), but(number=6), GONE),
    ),
    "alternatives": (
        ({"name": "b", "number": 5}, {"flag": True}),
        (but(name="b"), but(flag=True)),
        (FULL, but(name="b", number=6)),
    ),
}
CHANGES: Mapping[str, tuple[Item, Mapping[str, Any], Item]] = {
    "put": (FULL, {"put": {"name": "b", "number": None}}, {"name": "b"}),
    "put the first": (GONE, {"put": FULL}, FULL),
    "set": (FULL, {"sets": {"name": "b", "at": NOON, "size": "s"}}, but(name="b", at=NOON, size="s")),
    "set the first": (GONE, {"sets": {"name": "b"}}, {"name": "b"}),
    "remove a field": (FULL, {"sets": {"number": None, "flag": True}}, but(number=None, flag=True)),
    "set an entry": (FULL, {"sets": {"holders.one": 7}}, but(holders={"one": 7, "019a-two": 4})),
    "add an entry": (FULL, {"sets": {"holders.six": 6}}, but(holders={**FULL["holders"], "six": 6})),
    "remove an entry": (FULL, {"sets": {"holders.019a-two": None}}, but(holders={"one": 3})),
    "set an entry of a list": (FULL, {"sets": {"line[0]": "z"}}, but(line=("z", "y"))),
    "remove entries of a list": (
        but(line=("a", "b", "c", "d")),
        {"sets": {"line[0]": None, "line[2]": None}},
        but(line=("b", "d")),
    ),
    "first": (but(number=None), {"first": {"name": "b", "number": 8}}, but(number=8)),
    "add": (FULL, {"adds": {"number": -7}}, but(number=-2)),
    "add to none": (GONE, {"adds": {"number": 4}}, {"number": 4}),
    "append": (FULL, {"appends": {"line": ("z", "x")}}, but(line=("x", "y", "z", "x"))),
    "append to none": (but(line=None), {"appends": {"line": ("z",)}}, but(line=("z",))),
    "several": (
        FULL,
        {"sets": {"name": "b", "flag": None}, "adds": {"number": 1}, "appends": {"line": ("z",)}},
        but(name="b", flag=None, number=6, line=("x", "y", "z")),
    ),
    "remove": (FULL, {"is_removal": True}, GONE),
}
FORMS: Mapping[str, Mapping[str, Any]] = {
    "change": {"sets": {"size": "changed"}},
    "put": {"put": {"name": "changed"}},
    "removal": {"is_removal": True},
}


class ItemsContract(StoreContract):
    """`duetime.ports.keyed_items.Items`, as ``store.items``."""

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("name", GUARDS)
    def test_a_write_is_made_if_its_guard_holds_and_else_returns_the_item(
        self, store: ActionStore, name: str, form: str
    ) -> None:
        guard, accepted, rejected = GUARDS[name]
        for item in accepted:
            lay(store, item)
            assert store.items.write(write(guard, **FORMS[form])).is_written, item
            assert read(store) == _after(item, FORMS[form])
        for item in rejected:
            lay(store, item)
            outcome = store.items.write(write(guard, **FORMS[form]))
            assert (outcome.is_written, _rejected(outcome), read(store)) == (False, item, item)

    @pytest.mark.parametrize("name", GUARDS)
    def test_a_check_of_an_item_rejects_the_other_writes_of_its_transaction(
        self, store: ActionStore, name: str
    ) -> None:
        guard, accepted, rejected = GUARDS[name]
        other = key("other")
        for item in (*accepted, *rejected) if guard else ():
            lay(store, item)
            lay(store, GONE, other)
            outcome = store.items.write(write(place=other, put=FULL), write(guard))
            assert outcome.is_written is (item in accepted)
            assert read(store, other) == (FULL if item in accepted else GONE)
            assert item in accepted or ([*outcome.items], _rejected(outcome, 1)) == ([1], item)
            assert read(store) == item

    @pytest.mark.parametrize("name", CHANGES)
    def test_a_change_leaves_the_item_that_it_describes(self, store: ActionStore, name: str) -> None:
        before, change, after = CHANGES[name]
        lay(store, before)
        lay(store, FULL, key("other"))
        outcome = store.items.write(write(**change))
        assert outcome.is_written
        assert read(store) == after
        assert read(store, key("other")) == FULL
        if "sets" in change or "adds" in change:
            assert _rejected(outcome) == after, "the outcome has the changed item"

    def test_all_writes_of_a_transaction_are_made_or_none(self, store: ActionStore) -> None:
        new, there = fresh(store), fresh(store)
        store.put(there)
        writes: list[AnyWrite] = [write(IS_NEW, put=FULL), write(IS_NEW, key("other"), put=FULL), RowPut(new)]
        assert store.items.write(*writes).is_written
        assert (read(store), read(store, key("other")), store.get(new.ref)) == (FULL, FULL, new)
        third = key("third")
        outcome = store.items.write(write(place=third, put=FULL), write(IS_NEW, put=but(number=6)))
        assert (outcome.is_written, read(store, third), read(store)) == (False, GONE, FULL)
        outcome = store.items.write(write(place=third, put=FULL), RowPut(there.without_payload()))
        assert (outcome.is_written, read(store, third), store.get(there.ref)) == (False, GONE, there)
        late = fresh(store)
        outcome = store.items.write(RowPut(late), write(IS_NEW, put=FULL), RowFollowed(there.ref, new.id))
        assert (outcome.is_written, store.get(late.ref)) == (False, None)

    def test_a_rejection_has_each_item_that_caused_it(self, store: ActionStore) -> None:
        lay(store, FULL)
        there, gone = write(EXISTS, sets={"flag": True}), write(EXISTS, key("gone"), sets={"flag": True})
        outcome = store.items.write(there, replace(there, key=key("other"), guard=IS_NEW), gone)
        assert (sorted(outcome.items), _rejected(outcome, 2)) == ([2], GONE)
        outcome = store.items.write(gone, write(IS_NEW, put=FULL))
        assert [_rejected(outcome, place) for place in sorted(outcome.items)] == [GONE, FULL]

    def test_of_many_writes_at_once_each_counts_and_one_is_the_first(self, store: ActionStore) -> None:
        def add() -> bool:
            return store.items.write(write(adds={"number": 1}), tries=50).is_written

        def put(number: int) -> bool:
            return store.items.write(write(IS_NEW, key("new"), put=but(number=number))).is_written

        assert all(together([add] * CROWD))
        assert read(store)["number"] == CROWD
        won = together([partial(put, number) for number in range(CROWD)])
        assert won.count(True) == 1
        assert read(store, key("new"))["number"] == won.index(True)

    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            ({}, "a1 a2 a3 b1 b2"),
            ({"begin": "a"}, "a1 a2 a3"),
            ({"span": ("a2", "b1")}, "a2 a3 b1"),
            ({"before": "a3"}, "a1 a2"),
            ({"after": "a3"}, "b1 b2"),
            ({"begin": "a", "is_newest_first": True}, "a3 a2 a1"),
            ({"where": ({"flag": True},)}, "a2 b2"),
            ({"begin": "c"}, ""),
        ],
        ids=str,
    )
    def test_a_query_finds_the_items_of_its_range_in_its_order(
        self, store: ActionStore, part: Mapping[str, Any], expected: str
    ) -> None:
        for sort in ("b1", "a2", "a1", "b2", "a3"):
            lay(store, but(flag=sort[1] == "2"), key(sort))
            lay(store, FULL, key(sort, "another"))
        query = Query(kind=SPECIMEN, partition=key().partition, **part)
        assert " ".join(store.items.find(query, _sort)) == expected

    @pytest.mark.parametrize("limit", [1, 2, 5, 9])
    def test_pages_have_all_items_once(self, store: ActionStore, limit: int) -> None:
        sorts = [f"{number}" for number in range(1, 6)]
        for sort in sorts:
            lay(store, FULL, key(sort))
        found, after = list[str](), ""
        while len(found) <= len(sorts):
            query = Query(kind=SPECIMEN, partition=key().partition, after=after, limit=limit)
            page = store.items.page(query, _sort)
            assert len(page.found) <= limit
            found += page.found
            if page.cursor is None:
                break
            after = page.cursor
        assert found == sorts


def _after(item: Item, form: Mapping[str, Any]) -> Item:
    made = write(**form).after(item) or {}
    return {name: value for name, value in made.items() if name not in {"pk", "sk"}}


def _rejected(outcome: Outcome, position: int = 0) -> Item:
    found = outcome.read(unread, position) or {}
    return {name: found[name] for name in found if name not in {"pk", "sk"}}


def _sort(item: Mapping[str, Any]) -> str:
    return str(item["sk"])
