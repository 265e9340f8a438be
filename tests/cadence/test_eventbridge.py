"""EventBridge Scheduler's expressions: valid and invalid ones, and when they fire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.cadence import NaiveInstant
from duetime.cadence.eventbridge import InvalidExpression, at_expression, parse_expression
from tests.cadence.oracle import occurrences
from tests.cadence.strategies import zoned_starts
from tests.cases import for_each

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)

DOCUMENTED = [
    "at(2022-11-20T13:00:00)",
    "rate(5 minutes)",
    "rate(1 minutes)",
    "rate(1 minute)",
    "rate(2 hours)",
    "rate(1 day)",
    "rate(30 days)",
    "cron(0 10 * * ? *)",
    "cron(15 12 * * ? *)",
    "cron(0 18 ? * MON-FRI *)",
    "cron(0 8 1 * ? *)",
    "cron(0/10 * ? * MON-FRI *)",
    "cron(0/5 8-17 ? * MON-FRI *)",
    "cron(15 10 ? * 6L 2022-2023)",
    "cron(0 9 ? * 2#1 *)",
    "cron(0 9 L * ? *)",
    "cron(0 9 3W * ? *)",
    "cron(0 9 ? * L *)",
    "cron(0,30 0-23/2 1,15 JAN,JUL-SEP ? 2026,2030-2040)",
    "cron(*/15 * * * ? *)",
    "cron(0 0 29 2 ? 2028/4)",
    "cron(0 0 ? 1/3 7 1970-2199)",
]

REFUSED = [
    ("hello", "not an expression"),
    ("", "not an expression"),
    ("Rate(5 minutes)", "not an expression"),
    ("rate(5 minutes) ", "not an expression"),
    ("rate(0 minutes)", "not an expression"),
    ("rate(-5 minutes)", "not an expression"),
    ("rate(1.5 hours)", "not an expression"),
    ("rate(5  minutes)", "not an expression"),
    ("rate(5 seconds)", "not an expression"),
    ("rate(2 weeks)", "not an expression"),
    ("rate(5 minute)", "minute is for one"),
    ("at(2026-02-30T00:00:00)", "no such date"),
    ("at(2026-01-01T24:00:00)", "no such date"),
    ("at(2026-01-01T00:00:00Z)", "not an expression"),
    ("at(2026-01-01 00:00:00)", "not an expression"),
    ("at(2026-01-01T00:00)", "not an expression"),
    ("at(1969-12-31T23:59:59)", "out of range"),
    ("at(2200-01-01T00:00:00)", "out of range"),
    ("cron(99 99 * * * *)", "exactly one"),
    ("cron(0 0 * * * *)", "exactly one"),
    ("cron(0 0 ? * ? *)", "exactly one"),
    ("cron(0 0 1 * MON *)", "exactly one"),
    ("cron(0 9 * * ?)", "six fields, and this has 5"),
    ("cron(0 0 9 * * ? *)", "six fields, and this has 7"),
    ("cron()", "six fields, and this has 0"),
    ("cron(60 9 * * ? *)", "minutes: '60'"),
    ("cron(0 24 * * ? *)", "hours: '24'"),
    ("cron(0 9 32 * ? *)", "day-of-month: '32'"),
    ("cron(0 9 0 * ? *)", "day-of-month: '0'"),
    ("cron(0 9 * 13 ? *)", "month: '13'"),
    ("cron(0 9 ? * 0 *)", "day-of-week: '0'"),
    ("cron(0 9 ? * 8 *)", "day-of-week: '8'"),
    ("cron(0 9 ? * mon *)", "day-of-week: 'mon'"),
    ("cron(0 9 ? * MON/2 *)", "/ is no wildcard of this field"),
    ("cron(0 9 ? * 3#1,6#3 *)", "no week of a month"),
    ("cron(0 9 ? * 3#6 *)", "no week of a month"),
    ("cron(0 9 ? * TUE#2 *)", "no weekday's number"),
    ("cron(0 9 ? * FRIL *)", "no weekday's number"),
    ("cron(0 9 L-3 * ? *)", "day-of-month"),
    ("cron(0 9 LW * ? *)", "day-of-month"),
    ("cron(0 9 1W,15W * ? *)", "day-of-month"),
    ("cron(0 9 1,L * ? *)", "day-of-month"),
    ("cron(17-5 9 * * ? *)", "runs backwards"),
    ("cron(0 22-2 * * ? *)", "runs backwards"),
    ("cron(0/0 9 * * ? *)", "no increment"),
    ("cron(0/60 9 * * ? *)", "no increment"),
    ("cron(0 9 * * ? 1969)", "year: '1969'"),
    ("cron(0 9 * * ? 2200)", "year: '2200'"),
    ("cron(0 9 * * ? ?)", "year"),
    ("cron(L 9 * * ? *)", "minutes"),
    ("cron(٣ 9 * * ? *)", "not an expression"),
    ("cron(, 9 * * ? *)", "minutes: ''"),
    (
        f"cron({','.join(map(str, range(60)))} {','.join(map(str, range(24)))} 1,2,3,4,5,6,7,8,9 * ? *)",
        "use at most 256",
    ),
]


@pytest.mark.parametrize("text", DOCUMENTED)
def test_documented_expressions_are_accepted(text):
    assert parse_expression(text).expression == text


@for_each(("text", "message"), REFUSED)
def test_undocumented_expressions_are_rejected(text, message):
    with pytest.raises(InvalidExpression) as caught:
        parse_expression(text)

    assert message in str(caught.value)
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    ("tz", "message"), [("Mars/X", "no time zone"), ("A" * 51, "use at most 50"), ("", "no time zone")]
)
def test_an_invalid_zone_is_rejected(tz, message):
    with pytest.raises(InvalidExpression, match=message):
        parse_expression("rate(5 minutes)", tz)


def next_few(text, after, count=3, tz="UTC", **options):
    found = []
    expression = parse_expression(text, tz)
    while len(found) < count and (after := expression.next_after(after, **options)) is not None:
        found.append(f"{after:%Y-%m-%dT%H:%M}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cron(15 10 ? * 6L 2027-2028)", ["2027-01-29T10:15", "2027-02-26T10:15", "2027-03-26T10:15"]),
        ("cron(0 9 ? * 2#1 *)", ["2026-02-02T09:00", "2026-03-02T09:00", "2026-04-06T09:00"]),
        ("cron(0 9 3W * ? *)", ["2026-02-03T09:00", "2026-03-03T09:00", "2026-04-03T09:00"]),
        ("cron(0 9 ? * L *)", ["2026-01-17T09:00", "2026-01-24T09:00", "2026-01-31T09:00"]),
        ("cron(0 9 ? * 1 *)", ["2026-01-18T09:00", "2026-01-25T09:00", "2026-02-01T09:00"]),
        ("cron(0 0 L 2 ? *)", ["2026-02-28T00:00", "2027-02-28T00:00", "2028-02-29T00:00"]),
        ("cron(0 0 29 2 ? 2028/40)", ["2028-02-29T00:00", "2068-02-29T00:00", "2108-02-29T00:00"]),
        ("cron(0 0 1 1 ? 2199)", ["2199-01-01T00:00"]),
        ("cron(0 0 1 1 ? 2020)", []),
        ("cron(0 0 30 2 ? *)", []),
        ("at(2026-02-01T00:00:00)", ["2026-02-01T00:00"]),
        ("at(2026-01-01T00:00:00)", []),
    ],
)
def test_it_fires_as_documented(text, expected):
    assert next_few(text, NOON) == expected


def test_a_local_time_is_read_in_its_zone():
    assert next_few("at(2026-02-01T09:00:00)", NOON, tz="Asia/Tokyo") == ["2026-02-01T00:00"]


def test_a_time_that_does_not_exist_is_skipped():
    paris = "Europe/Paris"

    assert next_few("cron(30 2 * * ? *)", datetime(2026, 3, 28, 12, tzinfo=UTC), 1, paris) == [
        "2026-03-30T00:30"
    ]
    assert next_few("at(2026-03-29T02:30:00)", NOON, 1, paris) == []


def test_a_time_that_comes_twice_fires_once_in_either_pass():
    eve = datetime(2026, 10, 24, 12, tzinfo=UTC)
    hourly, nightly = "cron(0 * * * ? *)", "cron(30 2 * * ? *)"

    assert next_few(nightly, eve, 2, "Europe/Paris") == ["2026-10-25T00:30", "2026-10-26T01:30"]
    assert next_few(nightly, eve, 2, "Europe/Paris", last_pass=True) == [
        "2026-10-25T01:30",
        "2026-10-26T01:30",
    ]
    midnight = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)
    assert next_few(hourly, midnight, 3, "Europe/Paris") == [
        "2026-10-24T23:00",
        "2026-10-25T00:00",
        "2026-10-25T02:00",
    ]
    assert next_few(hourly, midnight, 2, "Europe/Paris", last_pass=True) == [
        "2026-10-24T23:00",
        "2026-10-25T01:00",
    ]


def test_a_rate_counts_elapsed_time_from_its_start_and_fires_there_first():
    rate = parse_expression("rate(7 minutes)", "Europe/Paris")

    assert rate.next_after(NOON - timedelta(hours=1), start=NOON) == NOON
    assert rate.next_after(NOON, start=NOON) == NOON + timedelta(minutes=7)
    assert rate.next_after(NOON + timedelta(minutes=8), start=NOON) == NOON + timedelta(minutes=14)
    assert rate.next_after(NOON) == NOON + timedelta(minutes=7)


def test_an_instant_is_written_in_utc_without_its_fraction():
    instant = datetime.fromisoformat("2026-06-01T09:00:00.750+02:00")

    wake = at_expression(instant)

    assert (wake.expression, wake.tz) == ("at(2026-06-01T07:00:00)", "UTC")
    assert wake.next_after(NOON) == datetime(2026, 6, 1, 7, tzinfo=UTC)


def test_a_datetime_without_a_zone_is_no_instant():
    with pytest.raises(NaiveInstant):
        at_expression(datetime(2026, 1, 1))
    with pytest.raises(NaiveInstant):
        parse_expression("rate(5 minutes)").next_after(datetime(2026, 1, 1))


def aws_values(low, high):
    plain = st.integers(low, high).map(str)
    step = st.integers(1, high - low).map(lambda n: f"/{n}")
    ranges = st.tuples(st.integers(low, high), st.integers(low, high)).map(
        lambda ends: f"{min(ends)}-{max(ends)}"
    )
    return st.just("*") | st.lists(
        plain | ranges | st.tuples(plain, step).map("".join), min_size=1, max_size=3
    ).map(",".join)


@given(minutes=aws_values(0, 59), hours=aws_values(0, 23), where=zoned_starts(), last_pass=st.booleans())
def test_every_minute_of_two_days_is_as_in_the_oracle(minutes, hours, where, last_pass):
    tz, start = where
    end = start + timedelta(days=2)
    expression = parse_expression(f"cron({minutes} {hours} * * ? *)", tz)

    def matches(local):
        return plain(minutes, local.minute, 59) and plain(hours, local.hour, 23)

    first_pass = occurrences(matches, tz, start, end, dst="eventbridge")
    found, at = [], start
    while (at := expression.next_after(at, last_pass=last_pass)) is not None and at <= end:
        found.append(at)

    if not last_pass:
        assert found == first_pass
    local = [at.astimezone(ZoneInfo(tz)).replace(fold=0) for at in found]
    assert len(set(local)) == len(local)
    assert all(matches(at) for at in local)
    assert abs(len(found) - len(first_pass)) <= 24 * 60


def plain(text, value, high):
    """Return whether a value is in a documented field."""
    for item in text.split(","):
        values, _, step = item.partition("/")
        low, _, last = values.partition("-")
        first = 0 if values == "*" else int(low)
        end = int(last) if last else (high if step or values == "*" else first)
        if first <= value <= end and (value - first) % int(step or 1) == 0:
            return True
    return False


def test_equal_texts_in_equal_zones_are_equal():
    assert parse_expression("rate(5 minutes)") == parse_expression("rate(5 minutes)")
    assert parse_expression("cron(0 9 * * ? *)", "Asia/Tokyo") != parse_expression("cron(0 9 * * ? *)", "UTC")
