"""The moves of a key's slots, and which rows may become holders."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime.model.action import Action, Status
from duetime.model.row_parts import Concurrency
from duetime.model.slots import FEW_WAITING, MOST_WAITING, KeySlots, SlotMove, TailEntry, tail_position, waits

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK, SKEW = timedelta(microseconds=1), timedelta(seconds=5)
ROW = Action(
    tenant_id="acme",
    id="a",
    type="mail",
    due_at=NOON,
    due_shard="3",
    created_by="ada",
    payload="{}",
    concurrency=Concurrency("k"),
    fence=2,
)
SLOTS = KeySlots("acme", "k", {"a": 2, "b": 1}, ("x", "y", "z"), NOON)


def named(*names):
    return tuple(f"{name:02}" for name in names)


def test_a_row_has_a_token_only_if_it_holds_a_slot_with_its_fence():
    assert SLOTS.has_token(ROW)
    assert not SLOTS.has_token(replace(ROW, fence=3))
    assert not SLOTS.has_token(replace(ROW, id="x"))


@pytest.mark.parametrize(
    ("action_id", "limit", "is_full"), [("x", 2, True), ("x", 3, False), ("a", 1, False)]
)
def test_a_key_is_full_for_an_action_without_a_slot_if_as_many_as_its_limit_hold_one(
    action_id, limit, is_full
):
    assert SLOTS.is_full_for(replace(ROW, id=action_id, concurrency=Concurrency("k", limit))) is is_full


def test_the_line_before_the_tail_is_bounded():
    line = named(*range(MOST_WAITING - 1))
    assert replace(SLOTS, waiting=line).has_room()
    assert not replace(SLOTS, waiting=(*line, "last")).has_room()
    assert not replace(SLOTS, has_tail=True).has_room()


@pytest.mark.parametrize(
    "change",
    [
        {"freed": "a"},
        {"dropped": frozenset({0})},
        {"passed": (ROW,)},
        {"appended": ("w",)},
        {"ends_tail": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_move_that_changes_anything_is_not_empty(change):
    assert SlotMove(before=SLOTS, at=NOON, tail_left=(TailEntry("p", "w", NOON),)).is_empty
    assert not SlotMove(before=SLOTS, at=NOON, **change).is_empty


def test_a_move_shortens_the_line_appends_the_tail_and_passes_the_slots():
    passed = replace(ROW, id="y", fence=5)
    move = SlotMove(
        before=SLOTS, freed="a", passed=(passed,), dropped=frozenset({1}), appended=("w",), at=NOON
    )
    assert move.waiting == ("x", "z", "w")
    assert move.holders == {"b": 1, "y": 5}
    assert not move.needs_same_line
    assert replace(move, passed=()).needs_same_line
    assert not replace(move, passed=(), freed=None).needs_same_line


def test_a_line_is_short_below_a_few_and_has_room_up_to_its_bound():
    for length, is_short, room in (
        (FEW_WAITING - 1, True, MOST_WAITING - FEW_WAITING + 1),
        (FEW_WAITING, False, MOST_WAITING - FEW_WAITING),
        (MOST_WAITING, False, 0),
        (MOST_WAITING + 1, False, 0),
    ):
        move = SlotMove(before=replace(SLOTS, waiting=named(*range(length))), at=NOON)
        assert (move.is_short, move.room) == (is_short, room)


def test_a_move_is_done_if_the_slots_are_as_it_leaves_them():
    passed = replace(ROW, id="y", fence=5)
    move = SlotMove(
        before=SLOTS, freed="a", passed=(passed,), dropped=frozenset({1}), appended=("w", "v"), at=NOON
    )
    done = KeySlots("acme", "k", {"b": 1, "y": 5, "v": 0}, ("x", "z", "w"), NOON)
    assert move.is_done_in(done)
    assert not move.is_done_in(replace(done, holders={**done.holders, "a": 2}))
    assert not move.is_done_in(replace(done, holders={**done.holders, "y": 4}))
    assert not move.is_done_in(replace(done, waiting=("x", "z")))
    assert replace(move, freed=None).is_done_in(replace(done, holders={**done.holders, "a": 2}))
    alone = SlotMove(before=SLOTS, appended=("w",), at=NOON)
    assert alone.is_done_in(KeySlots("acme", "k", {}, ("w",)))


def test_the_tail_is_in_the_order_of_due_times():
    assert (
        tail_position(ROW)
        < tail_position(replace(ROW, id="b"))
        < tail_position(replace(ROW, due_at=NOON + TICK))
    )


@pytest.mark.parametrize(
    ("change", "may"),
    [
        ({}, True),
        ({"status": Status.PROCESSING}, False),
        ({"status": Status.CANCELLED}, False),
        ({"concurrency": Concurrency("other")}, False),
        ({"due_at": NOON + SKEW}, True),
        ({"due_at": NOON + SKEW + TICK}, False),
        ({"expires_at": NOON + TICK}, True),
        ({"expires_at": NOON}, False),
        ({"expires_at": NOON, "due_at": NOON - SKEW}, False),
    ],
    ids=str,
)
def test_a_row_waits_for_a_slot_while_it_is_pending_due_and_not_expired(change, may):
    assert waits(replace(ROW, **change), "k", NOON, SKEW) is may
    assert not waits(None, "k", NOON, SKEW)
