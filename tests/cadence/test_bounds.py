"""Bounds of cadences: start, end, count, excluded instants, several windows, and the spread of jobs."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime import App
from duetime.cadence import (
    Calendar,
    InvalidCadence,
    NeverFires,
    cadence_warnings,
    cron,
    daily,
    every,
    interval,
    monthly,
    parse,
    weekly,
)
from duetime.check import report
from duetime.errors import DeclarationError
from tests.cadence.few import few
from tests.cadence.oracle import Plain, occurrences
from tests.cadence.strategies import timely, zoned_starts

START = datetime(2027, 1, 4, 8, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def test_nothing_is_due_before_the_start_and_after_the_end():
    cadence = daily("09:00", start="2027-01-10", end=date(2027, 1, 12))
    assert few(cadence) == ["01-10 09:00", "01-11 09:00", "01-12 09:00"]
    assert cadence.text == "daily 09:00 start=2027-01-10 end=2027-01-12"
    assert cadence.describe() == "every day at 09:00, from 2027-01-10 on, until 2027-01-12, UTC"
    assert cadence.last_before(START + 900 * DAY) == datetime(2027, 1, 12, 9, tzinfo=UTC)
    assert cadence.last_before(datetime(2027, 1, 10, 9, tzinfo=UTC)) is None


def test_both_ends_are_included():
    cadence = cron("0 * * * *", start="2027-01-04 10:00", end="2027-01-04 12:00")
    assert few(cadence, shown="%H") == ["10", "11", "12"]


def test_a_count_begins_with_the_start():
    cadence = weekly("mon,thu", "06:00", start="2027-01-05", count=3)
    assert few(cadence) == ["01-07 06:00", "01-11 06:00", "01-14 06:00"]
    assert parse(cadence.text) == cadence
    assert few(every(hours=5, start="2027-01-04", end="2027-01-04T08:00", count=9)) == [
        "01-04 00:00",
        "01-04 05:00",
    ]


@given(st.integers(1, 30), st.lists(st.tuples(st.booleans(), st.integers(-5, 40)), max_size=8), st.booleans())
def test_a_count_is_the_same_for_questions_in_any_order(count, questions, ends):
    times = [datetime(2027, 1, 5, 9, tzinfo=UTC) + n * DAY for n in range(min(count, 20) if ends else count)]
    end = {"end": "2027-01-24"} if ends else {}
    cadence = daily("09:00", start="2027-01-05", count=count, **end)
    for is_past, days in questions:
        at = datetime(2027, 1, 5, 8, tzinfo=UTC) + days * DAY
        assert cadence.is_within(int(at.timestamp())) == (
            datetime(2027, 1, 5, tzinfo=UTC) <= at <= (cadence.ends_at if ends and count > 20 else times[-1])
        )
        if is_past:
            assert cadence.last_before(at) == max((time for time in times if time < at), default=None)
        else:
            assert cadence.next_after(at) == min((time for time in times if time > at), default=None)


@given(
    st.sampled_from(["* * * * *", "*/7 * * * *", "0-30/3 1-4 * * *", "* 0-2 * * *", "*/2 2 * * sun"]),
    st.sampled_from(["cronos", "vixie", "eventbridge"]),
    zoned_starts(),
    st.integers(1, 10_000),
    st.integers(0, 20_000),
)
def test_a_count_of_many_times_a_day_ends_with_the_last_of_them(expression, dst, zoned, count, minutes):
    tz, start = zoned
    options = {"tz": tz, "dst": dst, "start": start}
    times = cron(expression, **options).between(start - DAY, start + 40_000 * DAY)
    last = next(islice(times, count - 1, None))
    cadence = cron(expression, count=count, **options)
    cadence.next_after(start + timedelta(minutes=minutes))
    assert cadence.ends_at == last
    assert cadence.next_after(last) is None
    assert cadence.next_after(last - timedelta(seconds=1)) == last


def test_excluded_instants_are_counted():
    cadence = daily("09:00", start="2027-01-04", count=3, except_at=["2027-01-05 09:00", "2027-01-06T09:00Z"])
    assert few(cadence) == ["01-04 09:00"]
    assert cadence.text.endswith("count=3 except_at=2027-01-05T09:00,2027-01-06T09:00Z")
    assert "3 times, except at 2027-01-05T09:00 and 2027-01-06T09:00Z" in cadence.describe()


def test_an_interval_has_a_start_a_count_and_an_end():
    cadence = interval(minutes=7, start="2027-01-04T09:00+01:00", count=3)
    assert few(cadence) == ["01-04 08:07", "01-04 08:14", "01-04 08:21"]
    assert cadence.text == "interval 7m start=2027-01-04T08:00:00Z count=3"
    assert few(interval(hours=1, count=2).starting(START)) == ["01-04 09:00", "01-04 10:00"]
    assert few(interval(hours=1, end="2027-01-04T09:30Z").starting(START)) == ["01-04 09:00"]
    assert few(interval(hours=1, except_at="2027-01-04T10:00Z", count=3).starting(START)) == [
        "01-04 09:00",
        "01-04 11:00",
    ]


def test_bounds_are_local_times_of_the_cadences_zone():
    cadence = cron("0 * * * *", start="2027-01-04 09:00", tz="Asia/Tokyo")
    assert cadence.next_after(START - DAY) == datetime(2027, 1, 4, 0, tzinfo=UTC)
    assert cron("0 * * * *", start="2027-01-04").with_default_tz("Asia/Tokyo").next_after(
        START - DAY
    ) == datetime(2027, 1, 3, 15, tzinfo=UTC)


def test_a_local_bound_includes_both_passes_of_an_overlap_and_the_end_of_a_gap():
    between = {"start": "2027-10-31 02:30", "end": "2027-10-31 02:30", "tz": "Europe/Paris"}
    assert few(cron("*/30 * * * *", **between)) == ["10-31 00:30", "10-31 01:00", "10-31 01:30"]
    gap = {"start": "2027-03-28 02:30", "end": "2027-03-28 02:30", "tz": "Europe/Paris"}
    assert few(daily("02:30", **gap)) == ["03-28 01:00"]
    both = {"except_at": "2027-10-31 02:30", "start": "2027-10-31", "tz": "Europe/Paris"}
    assert few(cron("30 * * * *", **both)) == ["10-30 22:30", "10-30 23:30", "10-31 02:30", "10-31 03:30"]
    assert few(daily("02:30", except_at="2027-03-28 02:30", tz="Europe/Paris", start="2027-03-27")) == [
        "03-27 01:30",
        "03-29 00:30",
        "03-30 00:30",
        "03-31 00:30",
    ]


@given(
    timely,
    zoned_starts(),
    st.tuples(st.integers(0, 3_000), st.integers(0, 3_000)),
    st.integers(1, 20),
    st.sets(st.integers(0, 30), max_size=3),
)
def test_bounds_are_as_in_the_oracle(expression, zoned, lengths, count, excluded):
    tz, begin = zoned
    start = begin + timedelta(minutes=lengths[0])
    end = start + timedelta(minutes=lengths[1])
    plain = Plain.parse(expression)
    inside = occurrences(
        plain.matches,
        tz,
        start - timedelta(minutes=1),
        end,
        interval=plain.interval,
        starred=plain.starred,
    )
    silent = [inside[index] for index in excluded if index < len(inside)]
    expected = [at for at in inside[:count] if at not in silent]
    options = {"start": start, "end": end, "count": count, "tz": tz}
    try:
        cadence = cron(expression, **options, **({"except_at": silent} if silent else {}))
    except NeverFires:
        assert not expected
        return
    assert [*cadence.between(begin - 5 * DAY, end + 5 * DAY)] == expected
    assert parse(cadence.text) == cadence
    assert cadence.last_before(end + 400 * DAY) == expected[-1]


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: daily("09:00", start="2027-01-01", count=0), "count: 0 is no number of runs; use 1-10000"),
        (lambda: daily("09:00", start="2027-01-01", count=True), "count: True is no number of runs"),
        (lambda: daily("09:00", count=3), "count: there is no start to count from"),
        (lambda: daily("09:00", start="2027-02-01", end="2027-01-31"), "end: it is before the start"),
        (lambda: daily("09:00", start="2027-01-01T10:00", end="2027-01-02T08:00"), "leave no run"),
        (lambda: daily("09:00", start="soon"), "start: no such date or time"),
        (lambda: daily("09:00", end=5), "end: no such date or time"),
        (lambda: daily("09:00", end=datetime(2027, 1, 1, 0, 0, 0, 5)), "end: a fraction of a second"),
        (lambda: daily("09:00", except_at="2027-01-01"), "except_at: a date has no time of day"),
        (lambda: daily("09:00", except_at=[]), "except_at: it lists 0 times"),
        (lambda: daily("09:00", except_at=5), "except_at: not a list of times"),
        (lambda: interval(hours=1, start="2027-01-01T09:00"), "start: the instant has no zone"),
        (lambda: daily("09:00", spread="2d"), "spread: 2d is longer than a day"),
        (lambda: cron("*/5 * * * *", spread="10m"), "10m is longer than the 5m between two runs"),
        (lambda: every(hours=7, spread="4h"), "4h is longer than the 3h between two runs"),
        (lambda: cron("0 9,17 * * *", window=("09:00", "17:00"), spread="9h"), "longer than the 8h"),
        (lambda: interval(minutes=3, spread="4m"), "4m is longer than the 3m between two runs"),
        (lambda: daily("09:00", spread="soon"), "spread: 'soon' is no length of time"),
        (lambda: daily("09:00", spread=5), "spread: 5 is no length of time"),
        (lambda: daily("09:00", spread=timedelta(0)), "spread: seconds=0.0 takes no time"),
        (lambda: daily("09:00", window=[("08:00", "10:00"), "11:00"]), "window: it must have a start"),
        (lambda: daily("09:00", window="08:00-10:00,"), "window: it must have a start"),
    ],
)
def test_invalid_bounds_are_rejected_with_a_remedy(build, problem):
    with pytest.raises(InvalidCadence) as caught:
        build()
    assert problem in str(caught.value)
    assert caught.value.remedy


def test_the_text_of_a_bound_marks_its_mistake():
    for written in ("daily 09:00 start=soon", "daily 09:00 start=2027-01-01 count=x", "daily 09:00 spread=x"):
        with pytest.raises(InvalidCadence) as caught:
            parse(written)
        at = caught.value.start
        assert written[at : at + caught.value.width] == written.rpartition("=")[2]


def test_an_excluded_time_that_is_none_has_a_note():
    cadence = daily("09:00", except_at=["2027-01-05 09:00", "2027-01-05 09:30"])
    [note] = cadence_warnings(cadence)
    assert note == "except_at 2027-01-05T09:30 excludes nothing: it is no time of the cadence"


OFFICE = [("09:00", "12:00"), ("13:00", "17:00")]


def test_a_window_has_several_parts():
    cadence = cron("*/30 * * * *", window=OFFICE)
    day = [at.strftime("%H:%M") for at in cadence.between(START - HOUR, START + 16 * HOUR)]
    assert (day[0], day[6], day[7], day[-1], len(day)) == ("09:00", "12:00", "13:00", "17:00", 16)
    assert cadence.text == "cron */30 * * * * window=09:00-12:00,13:00-17:00"
    assert "from 09:00 to 12:00 and from 13:00 to 17:00" in cadence.describe()
    assert parse(cadence.text) == cadence
    assert cron("*/30 * * * *", window="13:00-17:00,09:00-12:00") == cadence
    assert cron("*/30 * * * *", window=["13:00-17:00", ("09:00", "12:00")]) == cadence


clocks = st.integers(0, 24 * 60 - 1).map(lambda minute: f"{minute // 60:02}:{minute % 60:02}")


@given(st.lists(st.tuples(clocks, clocks), min_size=1, max_size=4), st.sampled_from([1, 7, 25, 90]))
def test_a_time_of_any_window_is_due(windows, step):
    def inside(at):
        now = at.strftime("%H:%M")
        return any(
            opens <= now <= shuts if opens <= shuts else now >= opens or now <= shuts
            for opens, shuts in windows
        )

    day = [START.replace(hour=0) + timedelta(minutes=minute) for minute in range(0, 1440, step)]
    expected = [at for at in day if inside(at)]
    try:
        cadence = every(minutes=step, window=windows)
    except InvalidCadence:
        assert not expected
        return
    first = START.replace(hour=0) - timedelta(seconds=1)
    assert [*cadence.between(first, first + DAY)] == expected
    assert parse(cadence.text) == cadence


@given(
    st.lists(st.tuples(clocks, clocks), min_size=1, max_size=4),
    st.integers(1, 1_500),
    st.integers(0, 86_399),
    st.booleans(),
)
def test_an_accepted_interval_runs_in_its_windows_from_each_start(windows, minutes, second, fridays):
    try:
        cadence = interval(minutes=minutes, window=windows, days="fri" if fridays else None)
    except InvalidCadence:
        assume(False)
    started = cadence.starting(START + timedelta(seconds=second))
    assert started.next_after(START + 200 * DAY) is not None


def test_the_longest_step_joins_windows_that_meet():
    with pytest.raises(InvalidCadence, match="use at most 8h, or"):
        interval(hours=12, window=[("09:00", "12:00"), ("12:00", "17:00")])
    with pytest.raises(InvalidCadence, match="use at most 4h, or"):
        interval(hours=6, window=OFFICE)


KEYS = st.tuples(st.sampled_from(["system", "acme", "zeta"]), st.text("abc-", min_size=1, max_size=9)).map(
    "/".join
)


@given(KEYS, st.sampled_from(["45s", "1m", "10m", "1h", "10m1s"]), zoned_starts())
def test_a_spread_is_stable_and_within_its_bound(key, spread, zoned):
    tz, start = zoned
    plain = daily("02:30", tz=tz)
    cadence = daily("02:30", tz=tz, spread=spread)
    delayed = cadence.delayed_for(key)
    delay = timedelta(seconds=delayed.delay)
    length = timedelta(seconds={"45s": 45, "1m": 60, "10m": 600, "1h": 3_600, "10m1s": 601}[spread])
    assert timedelta(0) <= delay < length
    assert delayed == parse(cadence.text).delayed_for(key)
    assert delayed.text == cadence.text
    assert [*delayed.between(start, start + 3 * DAY)] == [
        at + delay for at in plain.between(start - delay, start + 3 * DAY - delay)
    ]
    assert (delayed.precision == "minute") == (spread in ("10m", "1h"))
    if delayed.precision == "minute":
        assert not delay.total_seconds() % 60


def test_the_delays_of_many_jobs_fill_the_spread():
    cadence = daily("09:00", spread="10m")
    delays = [cadence.delayed_for(f"system/job-{n}").delay // 60 for n in range(1_000)]
    assert all(60 <= delays.count(minute) <= 140 for minute in range(10))
    assert cadence.delayed_for("a/job-1").delay != cadence.delayed_for("b/job-1").delay


def test_a_spread_is_explained():
    cadence = daily("09:00", spread="10m")
    assert cadence.describe() == "every day at 09:00, spread over 10 minutes, UTC"
    delayed = cadence.delayed_for("system/job-3")
    assert (
        delayed.describe() == f"every day at 09:00, spread over 10 minutes: {delayed.delay // 60}m later, UTC"
    )


def test_a_spread_is_added_after_filters_and_clock_changes():
    late = daily("02:30", tz="Europe/Paris", spread="10m", start="2027-03-27", end="2027-03-28")
    delayed = late.delayed_for("system/job-3")
    delay = timedelta(seconds=delayed.delay)
    assert delay
    assert [*delayed.between(START, START + 200 * DAY)] == [
        datetime(2027, 3, 27, 1, 30, tzinfo=UTC) + delay,
        datetime(2027, 3, 28, 1, tzinfo=UTC) + delay,
    ]
    window = cron("0 * * * *", window=("09:00", "10:00"), spread="1h").delayed_for("system/job-3")
    assert len([*window.between(START, START + DAY)]) == 2


def test_a_check_of_an_app_accepts_a_named_end_and_reports_a_past_one():
    app = App()

    @app.job(daily("09:00", start="2027-02-01", count=2), name="report-first")
    def first() -> None: ...

    @app.job(daily("09:00", end="2026-01-01"), name="report-second")
    def second() -> None: ...

    @app.job(daily("09:00", start="2026-01-01", end="2026-02-01", count=1_000), name="report-third")
    def third() -> None: ...

    found = report(app, now=START)
    assert not found.problems
    [other, note] = found.notes
    assert "is over: it has no further due time" in other
    assert "is over: it has no further due time" in note
    notes = report(app, now=START + 100 * DAY).notes
    assert [note for note in notes if "is over: its count of 2 is used up; give a larger count" in note]


def test_a_job_whose_text_leaves_no_run_is_rejected():
    app = App()
    with pytest.raises(DeclarationError, match="spread: 10m is longer than the 5m"):

        @app.job("*/5 * * * * spread=10m")
        def report_send() -> None: ...


bounds = st.fixed_dictionaries(
    {"start": st.sampled_from(["2027-01-04", datetime(2027, 1, 4, 9), START, date(2026, 2, 28)])},
    optional={
        "end": st.sampled_from(["2031-01-04", datetime(2031, 1, 4, 9), "2031-01-04T09:00Z"]),
        "count": st.integers(1, 200),
        "except_at": st.lists(st.sampled_from(["2027-02-03 09:00", START + 30 * DAY]), min_size=1),
        "spread": st.sampled_from(["10m", "45s", timedelta(hours=1)]),
        "window": st.sampled_from([OFFICE, "22:00-02:00,08:00-10:00"]),
        "tz": st.sampled_from(["Europe/Paris", ZoneInfo("Pacific/Apia")]),
        "calendar": st.just(Calendar(exclude=["sun", "2027-03-03"])),
    },
)
builders = st.sampled_from(
    [
        lambda **options: daily("09:00", **options),
        lambda **options: weekly("mon,thu", "09:00", every=2, anchor="2027-01-04", **options),
        lambda **options: monthly("1,last", "09:00", **options),
        lambda **options: cron("0 9-11 * * *", **options),
        lambda **options: every(hours=1, **options),
        lambda **options: interval(hours=2, **{**options, "start": START}),
    ]
)


@given(builders, bounds)
def test_a_cadence_with_bounds_is_read_back_from_its_own_text(build, options):
    try:
        cadence = build(**options)
    except InvalidCadence:
        assume(False)
    again = parse(cadence.text)
    assert again == cadence
    assert (again.text, again.name) == (cadence.text, cadence.name)
    assert again.next_after(START) == cadence.next_after(START)
    assert len(cadence.name) <= 64
