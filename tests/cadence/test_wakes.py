"""The wakes of cadences: their expressions, and that a planner woken by them plans in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from duetime.cadence import (
    Cadence,
    Calendar,
    NeverFires,
    cron,
    daily,
    every,
    interval,
    manual,
    monthly,
    nth_weekday,
    on_event,
    once,
    parse,
    planned_until,
    weekly,
)
from duetime.cadence.eventbridge import parse_expression
from tests.cadence.strategies import expressions, timely, zoned_starts
from tests.cases import for_each

SWEEP = timedelta(minutes=1)
DAY = timedelta(days=1)


def texts(cadence):
    return [wake.expression for wake in cadence.wakes()]


@for_each(
    ("cadence", "expected"),
    [
        (cron("30 2 * * *"), ["cron(30 2 * * ? *)"]),
        (cron("*/5 * * * *"), ["cron(0/5 * * * ? *)"]),
        (cron("* * * * *"), ["cron(* * * * ? *)"]),
        (cron("0 9 * * MON-FRI"), ["cron(0 9 ? * MON-FRI *)"]),
        (cron("0 9 * * 1-5"), ["cron(0 9 ? * MON-FRI *)"]),
        (cron("0 9 * * 0"), ["cron(0 9 ? * SUN *)"]),
        (cron("0 9 * * 7"), ["cron(0 9 ? * SUN *)"]),
        (cron("0 0 1 * *"), ["cron(0 0 1 * ? *)"]),
        (cron("0 0 L * *"), ["cron(0 0 L * ? *)"]),
        (cron("0 0 15W * *"), ["cron(0 0 15W * ? *)"]),
        (cron("0 8 * * MON#1"), ["cron(0 8 ? * 2#1 *)"]),
        (cron("0 8 * * FRIL"), ["cron(0 8 ? * 6L *)"]),
        (cron("0 9-17 * * *"), ["cron(0 9-17 * * ? *)"]),
        (cron("15 10,22 1-5 1,7 *"), ["cron(15 10,22 1-5 1,7 ? *)"]),
        (cron("@yearly"), ["cron(0 0 1 1 ? *)"]),
        (cron("@hourly"), ["cron(0 * * * ? *)"]),
        (cron("0 0 1 * MON", day_rule="or"), ["cron(0 0 1 * ? *)", "cron(0 0 ? * MON *)"]),
        (daily("09:00"), ["cron(0 9 * * ? *)"]),
        (daily("09:00", days="mon-fri"), ["cron(0 9 ? * MON-FRI *)"]),
        (every(minutes=10), ["cron(0/10 * * * ? *)"]),
        (every(hours=2), ["cron(0 0/2 * * ? *)"]),
        (every(minutes=10, window=("09:00", "17:00")), ["cron(0/10 9-16 * * ? *)", "cron(0 17 * * ? *)"]),
        (weekly("mon,fri", "06:00", every=2, anchor=date(2026, 1, 5)), ["cron(0 6 ? * MON,FRI *)"]),
        (monthly("1,last", "00:30"), ["cron(30 0 1 * ? *)", "cron(30 0 L * ? *)"]),
        (nth_weekday("first", "mon", "06:00"), ["cron(0 6 ? * 2#1 *)"]),
        (once("2027-06-01 09:00", tz="Europe/Paris"), ["at(2027-06-01T07:00:00)"]),
        (interval(minutes=7), ["rate(7 minutes)"]),
        (interval(hours=6), ["rate(6 hours)"]),
        (interval(seconds=20), ["rate(1 minutes)"]),
        (manual(), []),
        (on_event("orders", "OrderPlaced"), []),
    ],
)
def test_a_simple_cadence_compiles_to_the_usual_aws_expression(cadence, expected):
    assert texts(cadence) == expected


@pytest.mark.parametrize(
    ("cadence", "expected"),
    [
        (every(minutes=7), ["cron(0 * * * ? *)"]),
        (cron("0 0 L-3 * *"), ["cron(0 0 25-28 * ? *)"]),
        (cron("0 0 LW * *"), ["cron(0 0 26-31 * ? *)"]),
        (cron("0 0 13 * FRI", day_rule="and"), ["cron(0 0 13 * ? *)"]),
        (cron("*/20 * * * * *"), ["cron(* * * * ? *)"]),
        (every(minutes=1, calendar=Calendar(exclude=["sat"])), ["cron(0 * * * ? *)"]),
    ],
    ids=str,
)
def test_other_cadences_have_wakes_with_additional_firings(cadence, expected):
    assert texts(cadence) == expected


def test_wakes_have_the_cadences_zone_and_a_single_instant_is_in_utc():
    assert {wake.tz for wake in daily("09:00", tz="Asia/Tokyo").wakes()} == {"Asia/Tokyo"}
    assert {wake.tz for wake in daily("09:00").with_default_tz("Asia/Tokyo").wakes()} == {"Asia/Tokyo"}
    assert {wake.tz for wake in once("2026-03-29 02:30", tz="Europe/Paris").wakes()} == {"UTC"}
    assert texts(once("2026-03-29 02:30", tz="Europe/Paris")) == ["at(2026-03-29T01:00:00)"]


def test_an_instant_that_is_skipped_or_outside_eventbridges_years_has_no_wake():
    assert texts(parse("once 2026-03-29T02:30 tz=Europe/Paris dst=eventbridge")) == []
    assert texts(once("2250-01-01 00:00")) == []


OTHERS = st.sampled_from(
    [
        every(minutes=7),
        every(minutes=90),
        every(hours=5),
        every(minutes=10, window=("22:15", "02:35")),
        every(minutes=1, days="mon-fri", window=("09:05", "17:55")),
        every(seconds=50),
        weekly("mon", "02:30", every=2, anchor="2026-01-05"),
        monthly("1,15w,last-2,lastw", "01:30"),
        nth_weekday("first,third,last", "sun,mon", "02:00"),
        daily("02:15", weeks="last"),
        every(minutes=5, calendar=Calendar(exclude=["sat", "12-25"])),
        daily("02:30", calendar=Calendar(exclude=["sun"], instead="next_business_day")),
        monthly("1,last", "02:30", every=3, anchor="2026-01-05", tz="Europe/Paris"),
        monthly(1, "02:30", calendar=Calendar(exclude=["sat", "sun"], instead="business_day_of_month")),
        every(days=3, at="23:45", anchor="2026-01-05"),
        interval(minutes=7),
        interval(seconds=95),
        interval(hours=30),
        interval(minutes=5, window=("09:00", "10:00")),
    ]
)
DST = st.sampled_from(["cronos", "vixie", "eventbridge"])


@st.composite
def cadences(draw, tz):
    if draw(st.integers(0, 2)) == 0:
        return draw(OTHERS).with_default_tz(tz)
    expression = draw(timely | expressions)
    if draw(st.booleans()):
        expression = f"{draw(st.sampled_from(['0', '15,45', '*/20']))} {expression}"
    try:
        return cron(expression, tz=tz, dst=draw(DST), day_rule=draw(st.sampled_from(["and", "or"])))
    except NeverFires:
        assume(False)


@dataclass(frozen=True, repr=False)
class Night:
    """A cadence, days near a clock change, and the wakes of EventBridge in these days."""

    cadence: Cadence
    start: datetime
    end: datetime
    last_pass: bool
    wakes: tuple[datetime, ...]

    def __repr__(self) -> str:
        return f"{self.cadence} from {self.start}, last pass: {self.last_pass}"

    def delayed(self, late: list[int], lost: int | None = None) -> list[datetime]:
        """Return the wakes, late by these seconds in turn, without the two lost ones."""
        wakes = [wake + timedelta(seconds=late[n % len(late)]) for n, wake in enumerate(self.wakes)]
        if wakes and lost is not None:
            del wakes[lost % len(wakes) : lost % len(wakes) + 2]
        return wakes


@st.composite
def nights(draw, days=2):
    tz, start = draw(zoned_starts())
    cadence = draw(cadences(tz))
    cadence = cadence.starting(start) if hasattr(cadence, "starting") else cadence
    end = start + days * DAY
    last_pass = draw(st.booleans())
    created = start - timedelta(seconds=draw(st.integers(0, 86_400)))
    wakes = set()
    for wake in cadence.wakes():
        at = start
        while (at := wake.next_after(at, last_pass=last_pass, start=created)) is not None and at <= end:
            wakes.add(at)
    return Night(cadence, start, end, last_pass, tuple(sorted(wakes)))


def lateness(night, wakes, *, sweep, wakes_ahead=1):
    """Return how late an occurrence in (start, end] was planned; at most zero if all were in time.

    The planner begins with the reconcile at ``start``. Each wake plans what is due up to ``planned_until``,
    and always the next occurrence; with a sweep, the next whole minute plans what is overdue by then.
    """
    cadence, start, end = night.cadence, night.start, night.end
    cursor, worst = start, timedelta(-1)
    heartbeat = cadence.wakes()
    moments = [start, *wakes, end + SWEEP]
    for now, following_wake in pairwise(moments):
        until = planned_until(heartbeat, now, wakes_ahead=wakes_ahead)
        until = end if until is None else min(until, end)
        while (
            (due := cadence.next_after(cursor)) is not None and due <= end and (due <= until or cursor <= now)
        ):
            worst, cursor = max(worst, now - due), due
        while (
            sweep and due is not None and due <= end and (swept := after_a_sweep(start, due)) < following_wake
        ):
            worst, cursor = max(worst, swept - due), due
            due = cadence.next_after(cursor)
    due = cadence.next_after(cursor)
    return worst if due is None or due > end else timedelta.max


def after_a_sweep(start, due):
    """Return the first sweep at or after an instant; there is one each minute from ``start``."""
    return start + -((start - due) // SWEEP) * SWEEP


@settings(max_examples=max(40, settings().max_examples // 3))
@given(night=nights(), late=st.lists(st.integers(0, 60), min_size=1, max_size=9))
def test_with_wakes_a_minute_late_everything_is_planned_before_it_is_due(night, late):
    assert lateness(night, night.delayed(late), sweep=False) <= timedelta(0)


@settings(max_examples=max(40, settings().max_examples // 3))
@given(night=nights(), late=st.lists(st.integers(0, 60), min_size=1, max_size=9), lost=st.integers(0, 10_000))
def test_with_any_two_wakes_in_a_row_lost_everything_is_planned_within_one_sweep(night, late, lost):
    assert lateness(night, night.delayed(late, lost), sweep=True) <= SWEEP


@settings(max_examples=max(40, settings().max_examples // 3))
@given(night=nights(), late=st.lists(st.integers(0, 60), min_size=1, max_size=9), lost=st.integers(0, 10_000))
def test_a_planner_three_wakes_ahead_tolerates_two_lost_wakes_without_a_sweep(night, late, lost):
    assert lateness(night, night.delayed(late, lost), sweep=False, wakes_ahead=3) <= timedelta(0)


@settings(max_examples=max(40, settings().max_examples // 3))
@given(night=nights(days=4))
def test_no_local_day_has_more_wakes_than_two_an_occurrence_and_twenty_four(night):
    cadence, start, end = night.cadence, night.start, night.end
    zone = ZoneInfo(cadence.tz)
    first_day = start.astimezone(zone).date() + DAY
    last_day = end.astimezone(zone).date() - DAY
    occurrences = [at.astimezone(zone).date() for at in cadence.between(start, end)]
    woken = [at.astimezone(zone).date() for at in night.wakes]

    day = first_day
    while day <= last_day:
        assert woken.count(day) <= 2 * occurrences.count(day) + 24, day
        day += DAY


@given(st.data(), zoned_starts())
def test_eventbridge_accepts_every_wake_and_fires_it_at_the_same_instants(data, zoned_start):
    tz, start = zoned_start
    wakes = data.draw(cadences(tz)).wakes()

    assert 1 <= len(wakes) <= 4
    for wake in wakes:
        read = parse_expression(wake.expression, wake.tz)
        assert read == wake
        for last_pass in (False, True):
            at = start
            for _ in range(30):
                following = wake.next_after(at, last_pass=last_pass)
                assert following == read.next_after(at, last_pass=last_pass)
                at = following or at
