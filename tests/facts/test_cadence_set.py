"""Cadence sets: the due times of several cadences."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duetime.cadence import InvalidCadence, parse
from duetime.model.cadence_set import CadenceSet, DueTime

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

TEXTS = (
    "daily 09:00",
    "cron 0 9 * * *",
    "every 7h",
    "weekly mon 09:00",
    "interval 5h",
    "once 2026-06-02T09:00",
    "daily 02:30 tz=Europe/Paris",
    "manual",
    "on_event orders Placed",
)


def cadence_set(*texts, anchor=NOON):
    return CadenceSet.parse(texts, anchor)


def test_two_cadences_due_at_one_instant_make_one_occurrence():
    both = cadence_set("daily 09:00", "0 9 * * *", "daily 21:00")
    assert [*both.between(NOON, NOON + timedelta(days=1))] == [
        DueTime(NOON + 9 * HOUR, ("Daily_21_00",)),
        DueTime(NOON + 21 * HOUR, ("Daily_09_00", "Cron_0_9_x_x_x")),
    ]


@settings(max_examples=50)
@given(
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5, unique=True),
    after=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400)),
)
def test_set_is_due_exactly_when_a_cadence_is_due(texts, after):
    start, end = NOON + after, NOON + after + timedelta(days=3)
    together = cadence_set(*texts)
    expected = {}
    for text in texts:
        [alone] = cadence_set(text).cadences
        for at in alone.between(start, end):
            expected.setdefault(at, set()).add(alone.name)
    assert {due.at: {*due.cadences} for due in together.between(start, end)} == expected
    assert [due.at for due in together.between(start, end)] == sorted(expected)
    assert together.next_after(start) == next((due.at for due in together.after(start)), None)


def test_between_excludes_start_and_includes_end():
    nine = NOON + 21 * HOUR
    assert [*cadence_set("daily 09:00").between(nine, nine + timedelta(days=1))] == [
        DueTime(nine + timedelta(days=1), ("Daily_09_00",))
    ]


def test_ended_or_timeless_cadence_is_never_due():
    for texts in (("once 2020-01-01T09:00",), ("manual",), ("on_event orders Placed", "manual")):
        assert cadence_set(*texts).next_after(NOON) is None
        assert [*cadence_set(*texts).after(NOON)] == []


def test_ended_cadence_does_not_stop_others():
    both = cadence_set("once 2026-06-01T15:00", "daily 14:00")
    assert [due.at for due in islice(both.after(NOON), 3)] == [
        NOON + 2 * HOUR,
        NOON + 3 * HOUR,
        NOON + 26 * HOUR,
    ]


def test_interval_counts_from_anchor_unless_it_has_start():
    since = NOON + timedelta(minutes=3)
    assert cadence_set("interval 5h", anchor=since).next_after(NOON) == since + 5 * HOUR
    assert (
        cadence_set("interval 5h start=2026-06-01T12:00:00Z", anchor=since).next_after(NOON)
        == NOON + 5 * HOUR
    )


def test_cadences_are_found_by_name():
    both = cadence_set("daily 09:00", "on_event orders Placed")
    assert both.by_name == {
        "Daily_09_00": parse("daily 09:00"),
        "OnEvent_orders_Placed": parse("on_event orders Placed"),
    }
    assert both.triggers == (parse("on_event orders Placed"),)
    assert cadence_set("manual", "daily 09:00").triggers == ()


def test_shared_wakes_are_listed_once():
    one, both = cadence_set("daily 09:00"), cadence_set("daily 09:00", "0 9 * * *")
    assert len(one.wakes) == len({*one.wakes}) == 1
    assert both.wakes == one.wakes
    assert cadence_set("manual").wakes == ()


def test_cadence_without_wake_is_not_planned():
    assert cadence_set("manual").planned_until(NOON, 2) is None
    assert cadence_set("daily 09:00").planned_until(NOON, 2) >= NOON + 21 * HOUR


def test_invalid_cadence_is_rejected():
    with pytest.raises(InvalidCadence):
        cadence_set("daily 09:00", "hourly")
