"""Recurrence rules of iCalendar, read and written, against the rules of python-dateutil."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest
from dateutil.rrule import rrulestr
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    business_day,
    cron,
    daily,
    every,
    from_rrule,
    interval,
    manual,
    monthly,
    nth_weekday,
    once,
    to_rrule,
    weekly,
    yearly,
)
from duetime.cadence.bounds import MOST_EXCLUDED
from tests.cases import for_each

START = datetime(2027, 1, 4, 9, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MOST = 150


def of_dateutil(text, after=START, count=MOST):
    rule = rrulestr(text, forceset=True)
    return [*islice(rule.xafter(after - SECOND), count)]


def of_cadence(cadence, after=START, count=MOST):
    found, at = [], after - SECOND
    while len(found) < count and (at := cadence.next_after(at)) is not None:
        found.append(at)
    return found


def agree(cadence, text, after=START):
    found, expected = of_cadence(cadence, after), of_dateutil(text, after)
    count = min(len(found), len(expected)) if MOST in (len(found), len(expected)) else MOST
    assert found[:count] == expected[:count]


# The texts of RFC 5545, section 3.8.5.3, at 09:00 in UTC, as far as cadences have them.
PUBLISHED = [
    "FREQ=DAILY;COUNT=10",
    "FREQ=DAILY;UNTIL=20271224T000000Z",
    "FREQ=DAILY;INTERVAL=2",
    "FREQ=DAILY;INTERVAL=10;COUNT=5",
    "FREQ=YEARLY;UNTIL=20300131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
    "FREQ=DAILY;UNTIL=20300131T140000Z;BYMONTH=1",
    "FREQ=WEEKLY;COUNT=10",
    "FREQ=WEEKLY;UNTIL=20271224T000000Z",
    "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO",
    "FREQ=WEEKLY;UNTIL=20271007T000000Z;WKST=SU;BYDAY=TU,TH",
    "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
    "FREQ=WEEKLY;INTERVAL=2;UNTIL=20271224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
    "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
    "FREQ=MONTHLY;UNTIL=20271224T000000Z;BYDAY=1FR",
    "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU",
    "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=-1SU",
    "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
    "FREQ=MONTHLY;BYMONTHDAY=-3",
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
    "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
    "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
    "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
    "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
    "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
    "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYMONTHDAY=2",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
    "FREQ=HOURLY;INTERVAL=3;UNTIL=20270105T170000Z",
    "FREQ=MINUTELY;INTERVAL=15;COUNT=6",
    "FREQ=MINUTELY;INTERVAL=90;COUNT=4",
    "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40",
    "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16",
    "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
    "FREQ=MONTHLY;BYDAY=WE;BYSETPOS=3",
    "FREQ=SECONDLY;INTERVAL=45;COUNT=9",
    "FREQ=YEARLY",
    "FREQ=DAILY;INTERVAL=2;BYHOUR=8,9,17;COUNT=7",
    "FREQ=WEEKLY;INTERVAL=2;BYHOUR=9,17;BYMINUTE=0,30;BYDAY=MO,WE",
    "FREQ=MONTHLY;INTERVAL=2;BYHOUR=9,17;BYMONTHDAY=-1",
    "FREQ=YEARLY;INTERVAL=2;BYHOUR=9,17;BYSECOND=0,30",
]


@for_each("rule", PUBLISHED)
def test_a_published_rule_has_the_occurrences_of_dateutil_and_is_written_back(rule):
    text = f"DTSTART:20270104T093000Z\nRRULE:{rule}"
    cadence = from_rrule(text)
    agree(cadence, text)
    written = to_rrule(cadence, start=START)
    agree(cadence, written)
    assert of_cadence(from_rrule(written)) == of_cadence(cadence)


def choices(values, most=3):
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True).map(
        lambda found: ",".join(map(str, found))
    )


codes = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
rules = st.tuples(
    st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"]),
    st.fixed_dictionaries(
        {},
        optional={
            "INTERVAL": st.sampled_from([1, 2, 3, 5, 7, 12, 90]),
            "BYMONTH": choices([*range(1, 13)], 6),
            "BYMONTHDAY": choices([*range(1, 32), *range(-31, 0)], 9),
            "BYDAY": choices(codes)
            | st.just("MO,TU,WE,TH,FR")
            | choices([f"{n}{c}" for n in (1, 3, -1, -2) for c in codes], 2)
            | choices([f"{n}{c}" for n in (5, -5, 6, -6, 30) for c in codes], 2),
            "BYHOUR": choices([*range(24)]),
            "BYMINUTE": choices([0, 7, 30, 59]),
            "BYSETPOS": choices([1, 2, -1, -3, 5, 6, -23, 24, 31]),
            "COUNT": st.integers(1, 40),
            "WKST": st.sampled_from(codes),
        },
    ),
)


@given(rules, st.datetimes(datetime(2026, 1, 1), datetime(2028, 12, 31)))
def test_a_rule_is_read_as_dateutil_reads_it_or_rejected(rule, begin):
    frequency, parts = rule
    begin = begin.replace(microsecond=0, second=0, tzinfo=UTC)
    pieces = [f"FREQ={frequency}", *(f"{name}={value}" for name, value in parts.items())]
    text = f"DTSTART:{begin:%Y%m%dT%H%M%SZ}\nRRULE:{';'.join(pieces)}"
    try:
        cadence = from_rrule(text)
    except InvalidCadence:
        return
    found = of_cadence(cadence, begin, 25)
    assert found == of_dateutil(text, begin, 25)
    try:
        written = to_rrule(cadence, start=begin)
    except InvalidCadence:
        return
    assert of_dateutil(written, begin, 25) == found
    assert of_cadence(from_rrule(written), begin, 25) == found


cadences = st.sampled_from(
    [
        lambda **options: daily("09:00", **options),
        lambda **options: weekly("mon,thu", "06:00", every=3, anchor=date(2027, 1, 4), **options),
        lambda **options: weekly("mon-sun", "06:00", every=2, anchor=date(2027, 1, 4), **options),
        lambda **options: monthly("1,15,last-2,last", "00:30", **options),
        lambda **options: monthly("31", "00:30", every=2, anchor="2027-01-01", **options),
        lambda **options: monthly(range(1, 32), "00:30", every=2, anchor="2027-01-01", **options),
        lambda **options: nth_weekday("first,last", "mon,fri", "06:00", **options),
        lambda **options: every(days=3, anchor="2027-01-05", at="07:00", **options),
        lambda **options: every(minutes=20, **options),
        lambda **options: every(minutes=1, **options),
        lambda **options: cron("*/15 * 1-10 * MON", day_rule="and", **options),
        lambda **options: cron("30 0 9,17 * * *", **options),
        lambda **options: cron("0 0 * JAN-MAR FRI#2", **options),
        lambda **options: business_day("1,last-1", "09:00", **options),
        lambda **options: yearly("03-01,03-15", "09:00", **options),
        lambda **options: yearly("03-01", "09:00", every=2, anchor="2027-01-01", **options),
    ]
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "days": st.sampled_from(["mon-fri", "sat,sun,mon"]),
        "months": st.sampled_from(["jan,jul", "mar-oct"]),
        "weeks": st.sampled_from(["first", "second,third", "last"]),
        "window": st.sampled_from([("06:00", "09:00"), [("00:00", "06:30"), ("08:00", "17:00")]]),
        "calendar": st.sampled_from([Calendar(["sun"]), Calendar(["2027-03-01", "2027-04-01", "sat"])]),
        "start": st.sampled_from(["2027-02-01", "2027-02-03T06:00Z"]),
        "end": st.sampled_from(["2028-02-01", "2027-12-31T06:00Z"]),
        "except_at": st.sampled_from([["2027-03-15T09:00", "2027-02-08T06:00"]]),
    },
)


@given(cadences, filters, st.booleans())
def test_a_cadence_is_written_as_dateutil_reads_it(build, options, counted):
    if counted and "start" in options:
        options["count"] = 7
    try:
        cadence = build(**options)
        written = to_rrule(cadence, start=START)
    except (InvalidCadence, TypeError):
        assume(False)
    agree(cadence, written)
    has_few_exceptions = written.partition("EXDATE")[2].count(",") < MOST_EXCLUDED
    if has_few_exceptions and not ("BYMONTHDAY" in written and "DAILY;INTERVAL" in written):
        assert of_cadence(from_rrule(written)) == of_cadence(cadence)


def test_zones_are_those_of_the_text():
    text = (
        "DTSTART;TZID=Europe/Paris:20270104T093000\nRRULE:FREQ=WEEKLY;COUNT=3\n"
        "EXDATE;TZID=Europe/Paris:20270111T093000"
    )
    cadence = from_rrule(text)
    assert of_cadence(cadence) == [datetime(2027, 1, 18, 8, 30, tzinfo=UTC)]
    assert cadence.text == (
        "cron 30 9 * * MON start=2027-01-04T09:30 count=3 except_at=2027-01-11T08:30Z tz=Europe/Paris"
    )
    assert of_cadence(from_rrule(to_rrule(cadence))) == of_cadence(cadence)
    assert from_rrule("FREQ=DAILY;BYHOUR=9;BYMINUTE=0", tz="Asia/Tokyo").tz == "Asia/Tokyo"
    folded = "DTSTART:20270104T093000\r\nRRULE:FREQ=DAILY;\r\n COUNT=2\r\n"
    assert len(of_cadence(from_rrule(folded), START - SECOND)) == 2


def test_what_is_written():
    assert to_rrule(daily("09:00", tz="Europe/Paris", days="mon-fri", end="2027-12-31"), start=START) == (
        "DTSTART;TZID=Europe/Paris:20270105T090000\n"
        "RRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYSECOND=0;BYMINUTE=0;BYHOUR=9;UNTIL=20271231T225959Z"
    )
    assert to_rrule(interval(minutes=90), start=START) == (
        "DTSTART:20270104T110000Z\nRRULE:FREQ=MINUTELY;INTERVAL=90"
    )
    assert to_rrule(once("2027-06-01 09:00", tz="Europe/Paris")) == (
        "DTSTART;TZID=Europe/Paris:20270601T090000\nRRULE:FREQ=DAILY;COUNT=1"
    )


def test_an_interval_is_written_with_its_count_and_its_exceptions():
    cadence = interval(hours=5, start=START, count=4, except_at=START + timedelta(hours=10))
    written = to_rrule(cadence)
    assert of_cadence(cadence) == of_dateutil(written)
    assert len(of_dateutil(written)) == 3


D = "DTSTART:20270104T093000Z\n"


@for_each(
    ("text", "problem"),
    [
        ("RRULE:FREQ=FORTNIGHTLY", "FREQ is not one of its words"),
        ("hello", "hello is no line of a rule"),
        ("EXDATE:20270105T093000Z", "there is no FREQ"),
        (D + "EXDATE:20270104T093000Z", "it never fires"),
        (D + "RRULE:", "FREQ is not one of its words"),
        (D + D, "DTSTART occurs twice"),
        (D + "DTSTART:20270105T093000Z\nRRULE:FREQ=DAILY", "DTSTART occurs twice"),
        (D + "RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", "RRULE occurs twice"),
        (D + "RRULE:FREQ=DAILY\nRDATE:20270105T093000Z", "RDATE has no equivalent"),
        (D + "RRULE:FREQ=YEARLY;BYYEARDAY=100", "BYYEARDAY has no equivalent"),
        (D + "RRULE:FREQ=YEARLY;BYWEEKNO=20", "BYWEEKNO has no equivalent"),
        (D + "RRULE:FREQ=DAILY;INTERVAL=0", "INTERVAL is not one number from 1 on"),
        (D + "RRULE:FREQ=DAILY;INTERVAL=x", "INTERVAL is not one number"),
        (D + "RRULE:FREQ=DAILY;INTERVAL=2,3", "INTERVAL is not one number"),
        (D + "RRULE:FREQ=DAILY;INTERVAL=", "INTERVAL is not one number"),
        (D + "RRULE:FREQ=DAILY;COUNT=2,3", "COUNT is not one number"),
        (D + "RRULE:FREQ=DAILY;COUNT=", "COUNT is not one number"),
        (D + "RRULE:FREQ=DAILY;UNTIL=", "UNTIL is not one date"),
        (D + "RRULE:FREQ=DAILY;UNTIL=20270105,20270106", "UNTIL is not one date"),
        (D + "RRULE:FREQ=DAILY;UNTIL=20271305", "UNTIL has no date"),
        (D + "RRULE:FREQ=DAILY;WKST=", "WKST is not one weekday"),
        (D + "RRULE:FREQ=DAILY;WKST=MO,TU", "WKST is not one weekday"),
        ("DTSTART;TZID=Europe/Paris;TZID=Asia/Tokyo:20270104T093000", "TZID is given twice"),
        ("DTSTART;VALUE=DATE;VALUE=DATE-TIME:20270104T093000", "VALUE is given twice"),
        (D + "RRULE:FREQ=DAILY\nEXDATE;TZID=UTC;tzid=UTC:20270105T093000", "TZID is given twice"),
        (D + "RRULE:FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1;BYHOUR=9,10", "BYSETPOS has several times of day"),
        (
            D + "RRULE:FREQ=DAILY;INTERVAL=2;BYHOUR=9,10;BYMINUTE=" + "0,5,10,15,20,25,30,35,40,45,50,55,59",
            "26 times",
        ),
        (D + "RRULE:FREQ=DAILY;UNTIL=2027", "UNTIL is not one date"),
        (D + "RRULE:FREQ=MINUTELY;COUNT=9\nEXDATE;VALUE=DATE:20270105", "except_at: it lists 1440 times"),
        (D + "RRULE:FREQ=WEEKLY;BYDAY=1MO", "BYDAY counts weekdays, which only months have"),
        (D + "RRULE:FREQ=MONTHLY;BYDAY=1MO,2TU", "BYDAY counts its weekdays differently"),
        (D + "RRULE:FREQ=MONTHLY;BYDAY=XX", "BYDAY has no weekday 'XX'"),
        (D + "RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,SU", "WKST differs from Monday"),
        (D + "RRULE:FREQ=MONTHLY;BYMONTHDAY=1,15;BYSETPOS=1", "BYSETPOS chooses neither"),
        (D + "RRULE:FREQ=YEARLY;INTERVAL=2;BYMONTH=1,2;BYDAY=1MO", "INTERVAL of years has no fixed dates"),
        ("DTSTART;TZID=Europe/Paris:20270104T093000\nRRULE:FREQ=HOURLY;INTERVAL=7", "no elapsed time in UTC"),
        ("DTSTART:2027\nRRULE:FREQ=DAILY", "DTSTART has no date and time"),
        ("DTSTART;TZID=Mars/X:20270104T093000\nRRULE:FREQ=DAILY", "Mars/X"),
        ("FREQ=DAILY", "DAILY needs BYMINUTE, or DTSTART"),
        ("FREQ=DAILY;BYMINUTE=0", "DAILY needs BYHOUR, or DTSTART"),
        ("FREQ=DAILY;BYMINUTE=0;BYHOUR=9;COUNT=3", "COUNT has no DTSTART to count from"),
        ("FREQ=WEEKLY;BYMINUTE=0;BYHOUR=9", "WEEKLY needs BYDAY or DTSTART"),
        (D + "RRULE:FREQ=DAILY;BYHOUR=25", "hour: 25 is out of range"),
    ],
)
def test_what_no_cadence_expresses_is_named(text, problem):
    with pytest.raises(InvalidCadence) as caught:
        from_rrule(text)
    assert problem in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("cadence", "problem"),
    [
        (daily("09:00", spread="10m"), "spread="),
        (monthly(1, "09:00", offset="-1d"), "offset="),
        (monthly("15w", "09:00"), "the weekday nearest to a day"),
        (cron("0 9 1 * MON", day_rule="or"), 'day_rule="or"'),
        (cron("0 9 * * MON,FRI#2"), "counted weekdays beside others"),
        (every(minutes=7), "these times of day"),
        (daily("09:00", calendar=Calendar(["12-25"])), "the date 12-25 of every year"),
        (daily("09:00", calendar=Calendar(include=["mon"])), "the dates that a calendar includes"),
        (daily("09:00", calendar=Calendar(["sun"], instead="next_business_day")), "a calendar that moves"),
        (business_day(1, "09:00", calendar=Calendar(["2027-01-01"])), "the business days of a calendar"),
        (business_day(1, "09:00", days="mon"), "filtered business days"),
        (business_day(1, "09:00,17:00"), "business days at several times of day"),
        (daily("09:00,17:30"), "these times of day, which are no list of hours and minutes"),
        (yearly("01-02,03-04", "09:00"), "different days of different months"),
        (interval(hours=1, days="mon"), "an interval with filters"),
        (manual(), "a trigger"),
        (daily("09:00", end="2026-01-01"), "a cadence without a later time"),
    ],
)
def test_what_a_rule_cannot_express_is_named(cadence, problem):
    with pytest.raises(InvalidCadence) as caught:
        to_rrule(cadence, start=START)
    assert f"an RRULE cannot express {problem}" in str(caught.value)
    assert caught.value.remedy


def test_a_rule_needs_a_start():
    for cadence in (daily("09:00"), interval(hours=1)):
        with pytest.raises(InvalidCadence, match="without a start"):
            to_rrule(cadence)
    assert to_rrule(daily("09:00", start="2027-01-04")).startswith("DTSTART:20270104T090000Z\n")


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ("FREQ=MONTHLY;BYDAY=1MO;BYSETPOS=1", "BYSETPOS stands beside weekdays that BYDAY counts"),
        ("FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1", "BYSETPOS chooses only from a month here"),
        ("FREQ=YEARLY;BYDAY=MO;BYSETPOS=1", "BYSETPOS chooses only from a month here"),
        ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS has no days to choose from"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=0", "BYSETPOS chooses a position that is none of 1 to 5"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6", "BYSETPOS chooses a position that is none of 1 to 5"),
        ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-24", "BYSETPOS chooses a position that is none of 1 to 23"),
        ("FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=1,2;BYSETPOS=1", "BYSETPOS stands beside both BYDAY and BYMON"),
        ("FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=1", "BYSETPOS chooses neither weekdays nor the last"),
        ("FREQ=MONTHLY;BYDAY=6MO", "BYDAY counts further than five"),
        ("FREQ=MONTHLY;BYDAY=-6MO", "BYDAY counts further than five"),
        ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY has no weekday '0MO'"),
    ],
)
def test_the_reason_is_that_of_the_part(parts, problem):
    with pytest.raises(InvalidCadence) as caught:
        from_rrule(f"{parts};BYHOUR=9;BYMINUTE=0")
    assert caught.value.problem.startswith(f"RRULE: {problem}")
    assert caught.value.text[caught.value.start :].startswith(problem.split()[0])


weekly_events = "BEGIN:VEVENT\nDTSTART:20270104T090000Z\nRRULE:FREQ=WEEKLY\n{}END:VEVENT"


def test_an_event_that_moves_one_time_of_another_is_named():
    moved = "BEGIN:VEVENT\nRECURRENCE-ID:20270111T090000Z\nDTSTART:20270111T100000Z\nEND:VEVENT"
    for text in (moved, weekly_events.format("RECURRENCE-ID;TZID=Europe/Paris:20270111T090000\n")):
        with pytest.raises(InvalidCadence, match="RECURRENCE-ID has no equivalent"):
            from_rrule(text)
    with pytest.raises(
        InvalidCadence, match=r"occurs several times; .*RECURRENCE-ID moves one time of another"
    ):
        from_rrule(weekly_events.format("") + "\n" + moved)
    with pytest.raises(InvalidCadence) as caught:
        from_rrule("\n".join([weekly_events.format("")] * 2))
    assert "RECURRENCE-ID" not in caught.value.remedy
