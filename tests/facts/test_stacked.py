"""Several cadences read as one."""

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


def stacked(*texts, anchor=NOON):
    return CadenceSet.parse(texts, anchor)


def test_two_that_are_due_at_one_instant_make_one_occurrence_with_both_names():
    both = stacked("daily 09:00", "0 9 * * *", "daily 21:00")
    assert [*both.between(NOON, NOON + timedelta(days=1))] == [
        DueTime(NOON + 9 * HOUR, ("Daily_21_00",)),
        DueTime(NOON + 21 * HOUR, ("Daily_09_00", "Cron_0_9_x_x_x")),
    ]


@settings(max_examples=50)
@given(
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5, unique=True),
    after=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400)),
)
def test_it_is_due_whenever_one_of_them_is_and_then_only(texts, after):
    start, end = NOON + after, NOON + after + timedelta(days=3)
    together = stacked(*texts)
    expected = {}
    for text in texts:
        [alone] = stacked(text).cadences
        for at in alone.between(start, end):
            expected.setdefault(at, set()).add(alone.name)
    assert {due.at: {*due.cadences} for due in together.between(start, end)} == expected
    assert [due.at for due in together.between(start, end)] == sorted(expected)
    assert together.next_after(start) == next((due.at for due in together.after(start)), None)


def test_the_end_belongs_to_a_span_and_the_start_does_not():
    nine = NOON + 21 * HOUR
    assert [*stacked("daily 09:00").between(nine, nine + timedelta(days=1))] == [
        DueTime(nine + timedelta(days=1), ("Daily_09_00",))
    ]


def test_what_is_over_or_has_no_times_is_never_due():
    for texts in (("once 2020-01-01T09:00",), ("manual",), ("on_event orders Placed", "manual")):
        assert stacked(*texts).next_after(NOON) is None
        assert [*stacked(*texts).after(NOON)] == []


def test_one_that_ends_leaves_the_others_going():
    both = stacked("once 2026-06-01T15:00", "daily 14:00")
    assert [due.at for due in islice(both.after(NOON), 3)] == [
        NOON + 2 * HOUR,
        NOON + 3 * HOUR,
        NOON + 26 * HOUR,
    ]


def test_an_interval_counts_from_the_anchor_unless_it_says_its_start():
    since = NOON + timedelta(minutes=3)
    assert stacked("interval 5h", anchor=since).next_after(NOON) == since + 5 * HOUR
    assert stacked("interval 5h start=2026-06-01T12:00:00Z", anchor=since).next_after(NOON) == NOON + 5 * HOUR


def test_each_is_found_by_its_name():
    both = stacked("daily 09:00", "on_event orders Placed")
    assert both.by_name == {
        "Daily_09_00": parse("daily 09:00"),
        "OnEvent_orders_Placed": parse("on_event orders Placed"),
    }
    assert both.triggers == (parse("on_event orders Placed"),)
    assert stacked("manual", "daily 09:00").triggers == ()


def test_wakes_that_two_of_them_share_are_set_once():
    one, both = stacked("daily 09:00"), stacked("daily 09:00", "0 9 * * *")
    assert len(one.wakes) == len({*one.wakes}) == 1
    assert both.wakes == one.wakes
    assert stacked("manual").wakes == ()


def test_what_no_wake_comes_for_is_planned_until_no_instant():
    assert stacked("manual").planned_until(NOON, 2) is None
    assert stacked("daily 09:00").planned_until(NOON, 2) >= NOON + 21 * HOUR


def test_a_text_that_says_no_cadence_is_refused():
    with pytest.raises(InvalidCadence):
        stacked("daily 09:00", "hourly")
