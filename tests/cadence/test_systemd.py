"""Calendar events of systemd, read and written, against published results and a search in steps."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    business_day,
    cron,
    daily,
    every,
    from_systemd,
    interval,
    monthly,
    nth_weekday,
    once,
    to_systemd,
    weekly,
    yearly,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START = datetime(2027, 2, 20, tzinfo=UTC)
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


# Spellings and their normal forms, as systemd.time(7) and systemd's own tests list them.
NORMAL_FORMS = {
    "Sat,Thu,Mon-Wed,Sat-Sun": "Mon..Thu,Sat,Sun *-*-* 00:00:00",
    "Mon,Sun 12-*-* 2,1:23": "Mon,Sun 2012-*-* 01,02:23:00",
    "Wed *-1": "Wed *-*-01 00:00:00",
    "Wed, 17:48": "Wed *-*-* 17:48:00",
    "*-*-7 0:0:0": "*-*-07 00:00:00",
    "10-15": "*-10-15 00:00:00",
    "monday *-12-* 17:00": "Mon *-12-* 17:00:00",
    "Mon,Fri *-*-3,1,2 *:30:45": "Mon,Fri *-*-01,02,03 *:30:45",
    "12,14,13,12:20,10,30": "*-*-* 12,13,14:10,20,30:00",
    "mon,fri *-1/2-1,3 *:30:45": "Mon,Fri *-01/2-01,03 *:30:45",
    "08:05:40": "*-*-* 08:05:40",
    "Sat,Sun 12-05 08:05:40": "Sat,Sun *-12-05 08:05:40",
    "daily": "*-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "yearly": "*-01-01 00:00:00",
    "semi-annually": "*-01,07-01 00:00:00",
    "*:2/3": "*-*-* *:02/3:00",
    "9..11,13:00,30": "*-*-* 09,10,11,13:00,30:00",
    "1..3-1..3 1..3:1..3": "*-01,02,03-01,02,03 01,02,03:01,02,03:00",
    "*-*~05,3": "*-*~03,05 00:00:00",
    "*-*~* 00:00:00": "*-*-* 00:00:00",
    "Monday": "Mon *-*-* 00:00:00",
    "*-*~1 Utc": "*-*~01 00:00:00 UTC",
}


def normal_occurrences(text):
    cadence = from_systemd(text)
    return [*islice(cadence.between(EPOCH, EPOCH + timedelta(days=30_000)), 300)]


@pytest.mark.parametrize("text", NORMAL_FORMS)
def test_a_spelling_has_the_occurrences_of_its_normal_form(text):
    assert normal_occurrences(text) == normal_occurrences(NORMAL_FORMS[text])


@pytest.mark.parametrize(
    ("text", "tz", "after", "expected"),
    [
        ("2016-03-27 03:17:00", "UTC", 12_345, 1_459_048_620),
        ("2016-03-27 03:17:00", "CET", 12_345, 1_459_041_420),
        ("2016-03-27 03:17:00 UTC", "EET", 12_345, 1_459_048_620),
        ("Sun 16:00:00", "CET", 1_456_041_600, 1_456_066_800),
        ("2016-02~01 UTC", "UTC", 12_345, 1_456_704_000),
        ("Mon 2017-05~01..07 UTC", "UTC", 12_345, 1_496_016_000),
        ("Mon 2017-05~07/1 UTC", "UTC", 12_345, 1_496_016_000),
    ],
)
def test_the_next_time_is_the_published_one(text, tz, after, expected):
    found = from_systemd(text, tz=tz).next_after(EPOCH + timedelta(seconds=after))
    assert found == EPOCH + timedelta(seconds=expected)


def is_listed(text, value, low, high):
    for item in text.split(","):
        ends, _, step = item.partition("/")
        first, dots, last = ends.partition("..")
        start = low if first == "*" else int(first)
        end = high if first == "*" or (step and not dots) else int(last or first)
        if start <= value <= end and (value - start) % int(step or 1) == 0:
            return True
    return False


def date_and_time(text):
    """Return the parts of a normal form: its weekdays, year, month, sign and days, and its time of day."""
    tokens = text.split()
    weekdays = [*range(7)]
    if re.fullmatch(r"[A-Z][a-z]{2}[A-Za-z.,]*", tokens[0]):
        names = tokens.pop(0).split(",")
        spans = (range(DAYS.index(name[:3]), DAYS.index(name[-3:]) + 1) for name in names)
        weekdays = [day for span in spans for day in span]
    return weekdays, *re.fullmatch(r"([^-]+)-([^-~]+)([-~])(.+)", tokens[0]).groups(), tokens[1]


def has_day(event, at):
    """Return whether an event has a date."""
    weekdays, year, month, sign, day, _ = event
    if at.weekday() not in weekdays:
        return False
    if sign == "~":
        number = calendar.monthrange(at.year, at.month)[1] - at.day + 1
        found = day.partition("/")
        is_day = number <= int(found[0]) if found[1] else is_listed(day, number, 1, 31)
    else:
        is_day = is_listed(day, at.day, 1, 31)
    return is_day and is_listed(year, at.year, 1970, 2199) and is_listed(month, at.month, 1, 12)


def has_time(event, since_midnight):
    """Return whether an event has a time of day."""
    hour, minute, second = event[-1].split(":")
    at, left = divmod(since_midnight, timedelta(hours=1))
    return (
        is_listed(hour, at, 0, 23)
        and is_listed(minute, left // timedelta(minutes=1), 0, 59)
        and is_listed(second, 0, 0, 59)
    )


def searched(text, start, days=100, step=30):
    """Search the days from a midnight on in steps of so many minutes."""
    event = date_and_time(text)
    times = [at for n in range(24 * 60 // step) if has_time(event, at := timedelta(minutes=step * n))]
    dates = [at for n in range(days) if has_day(event, at := start + timedelta(days=n))]
    return [day + at for day in dates for at in times]


def on_the_half_hour(cadence, days=100):
    begin = START - timedelta(seconds=1)
    found = cadence.between(begin, begin + timedelta(days=days))
    return [at for at in found if at.minute % 30 == 0 and at.second == 0]


def values(low, high):
    one = st.integers(low, high).map(lambda n: f"{n:02}")
    span = st.tuples(st.integers(low, high), st.integers(low, high)).map(
        lambda pair: f"{min(pair):02}..{max(pair):02}"
    )
    step = st.tuples(st.integers(low, high), st.integers(1, 12)).map(lambda pair: f"{pair[0]:02}/{pair[1]}")
    return st.just("*") | st.lists(one | span | step, min_size=1, max_size=3).map(",".join)


events = st.builds(
    lambda weekday, month, day, hour, minute: f"{weekday}*-{month}{day} {hour}:{minute}:00 UTC",
    st.sampled_from(["", "Mon ", "Mon..Fri ", "Sat,Sun ", "Tue,Thu..Sat "]),
    values(1, 12),
    values(1, 31).map(lambda day: f"-{day}") | st.sampled_from(["~01", "~03,05", "~02..04", "~07/1"]),
    values(0, 23),
    st.sampled_from(["00", "00/30", "30"]),
)


@given(events)
def test_an_event_has_the_times_that_a_search_finds(text):
    try:
        cadence = from_systemd(text)
    except InvalidCadence as refused:
        assert " ever " in refused.problem or "never fires" in refused.problem  # noqa: PT017 - some drawn days do not exist
        return
    assert on_the_half_hour(cadence) == searched(text, START)
    try:
        written = to_systemd(cadence)
    except InvalidCadence:
        return
    assert searched(written, START) == searched(text, START)


@pytest.mark.parametrize(
    ("cadence", "text"),
    [
        (daily("02:30", days="mon-fri", tz="Europe/Paris"), "Mon..Fri *-*-* 02:30:00 Europe/Paris"),
        (every(minutes=15), "*-*-* *:00,15,30,45:00 UTC"),
        (cron("* * * * * *"), "*-*-* *:*:* UTC"),
        (monthly("1,15", "09:00", months="jan-mar"), "*-01..03-01,15 09:00:00 UTC"),
        (monthly("last-2,last", "09:00"), "*-*~01,03 09:00:00 UTC"),
        (nth_weekday("first", "mon,tue", "09:00"), "Mon,Tue *-*-01..07 09:00:00 UTC"),
        (nth_weekday("last", "fri", "09:00"), "Fri *-*~01..07 09:00:00 UTC"),
        (nth_weekday("second,fifth", "sun", "09:00"), "Sun *-*-08..14,29..31 09:00:00 UTC"),
        (daily("09:00", calendar=Calendar(["sat", "sun"])), "Mon..Fri *-*-* 09:00:00 UTC"),
        (daily("09:00", weeks="last"), "*-*~01..07 09:00:00 UTC"),
        (cron("*/30 * * * *", window=("09:00", "16:59")), "*-*-* 09..16:00,30:00 UTC"),
        (yearly("03-01", "09:00"), "*-03-01 09:00:00 UTC"),
        (once("2027-06-01 09:00", tz="Asia/Tokyo"), "2027-06-01 09:00:00 Asia/Tokyo"),
    ],
)
def test_what_is_written_is_read_back(cadence, text):
    assert to_systemd(cadence) == text
    again = from_systemd(text)
    end = START + timedelta(days=800)
    assert [*islice(again.between(START, end), 500)] == [*islice(cadence.between(START, end), 500)]
    if cadence.tz == "UTC" and "2027" not in text and ":*:" not in text:
        assert on_the_half_hour(cadence) == searched(text, START)


def test_years_are_a_start_and_an_end():
    cadence = from_systemd("2027..2028-06-01 09:00:00 Asia/Tokyo")
    assert cadence.text == "cron 0 9 1 6 * start=2027-01-01 end=2028-12-31 tz=Asia/Tokyo"
    assert len([*cadence.between(EPOCH, START + timedelta(days=9_000))]) == 2
    assert from_systemd("2027-06-01 09:00") == once("2027-06-01 09:00")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no date and no time"),
        ("test", "zone"),
        ("7", "'7' is no weekday, date or time"),
        ("*-*-* 10:00 11:00", "'11:00' is no weekday, date or time in its place"),
        ("10:00 *-*-*", "'*-*-*' is no weekday, date or time in its place"),
        ("00:00:1.125..2.125", "is a fraction of a second"),
        ("Foo *-*-* 10:00", "'Foo' is no weekday"),
        ("*-13-01", "13 is out of range"),
        ("*-*-* 25:00", "25 is out of range"),
        ("*-*-* 12..9:00", "the range 12..9 runs backwards"),
        ("*-*~5/5", "a step beyond the last day"),
        ("2027,2029-*-* 10:00", "its years do not follow each other"),
        ("*-04-31", "no month ever has such a day"),
        ("*-*-* 10:00 Mars/X", "Mars/X"),
    ],
)
def test_what_no_cadence_expresses_is_named(text, problem):
    with pytest.raises(InvalidCadence) as caught:
        from_systemd(text)
    assert problem in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("cadence", "problem"),
    [
        (weekly("mon", "09:00", every=2, anchor="2027-01-04"), "a cycle"),
        (business_day(1, "09:00"), "business days"),
        (daily("09:00", start="2027-01-04"), "start="),
        (daily("09:00", except_at="2027-01-04 09:00"), "except_at="),
        (daily("09:00", spread="10m"), "spread="),
        (daily("09:00", calendar=Calendar(["2027-12-24"])), "the dates of a calendar"),
        (monthly("1,last", "09:00"), "days from both ends of the month"),
        (cron("0 9 * * MON#1,FRI#2"), "these weekdays of the month"),
        (interval(hours=1), "elapsed time"),
        (every(minutes=7), "these times of day"),
    ],
)
def test_what_an_event_cannot_express_is_named(cadence, problem):
    with pytest.raises(InvalidCadence) as caught:
        to_systemd(cadence)
    assert f"OnCalendar cannot express {problem}" in str(caught.value)
    assert caught.value.remedy


def test_a_word_of_systemd_is_read_with_a_zone():
    assert from_systemd("daily UTC").text == "daily 00:00 tz=UTC"
    assert from_systemd("Weekly Europe/Paris").text == "daily 00:00 days=mon tz=Europe/Paris"
    with pytest.raises(InvalidCadence, match="'09:00' is no weekday, date or time in its place"):
        from_systemd("daily 09:00")
