"""Declarations that may never run, arguments of another type, and texts that are read back."""

from __future__ import annotations

import inspect
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime import App
from duetime.cadence import (
    Calendar,
    InvalidCadence,
    NeverFires,
    business_day,
    cadence_warnings,
    cron,
    daily,
    every,
    from_rrule,
    from_systemd,
    interval,
    monthly,
    nth_weekday,
    on_event,
    once,
    parse,
    weekly,
    yearly,
)
from duetime.cadence.modifiers import CadenceOptions
from duetime.errors import DeclarationError
from tests.cases import for_each

START = datetime(2027, 1, 4, 8, 0, 17, tzinfo=UTC)
OFFICE = ("09:00", "17:00")
MOVED = Calendar(exclude=["sat", "sun"], instead="next_business_day")


@pytest.mark.parametrize(
    ("options", "longest"),
    [
        ({"hours": 24, "window": OFFICE}, "8h"),
        ({"hours": 12, "window": OFFICE}, "8h"),
        ({"hours": 6, "window": ("22:00", "02:00")}, "4h"),
        ({"hours": 6, "window": ("22:00", "02:00"), "days": "fri"}, "2h"),
        ({"hours": 42, "days": "mon"}, "1d"),
        ({"hours": 168, "days": "mon-fri"}, "5d"),
        ({"days": 365, "weeks": "first"}, "7d"),
        ({"days": 3, "weeks": "fifth", "months": "feb"}, "1d"),
        ({"days": 365, "months": "jan"}, "31d"),
        ({"hours": 30, "calendar": Calendar(include=["2027-03-01"])}, "1d"),
        ({"hours": 42, "calendar": Calendar(exclude=["tue", "wed", "thu", "fri", "sat", "sun"])}, "1d"),
    ],
)
def test_an_interval_that_may_never_run_is_rejected_with_the_longest_step(options, longest):
    with pytest.raises(InvalidCadence, match="it may never run") as caught:
        interval(**options)
    assert caught.value.remedy.startswith(f"use at most {longest}, ")


@for_each(
    "options",
    [
        {"hours": 8, "window": OFFICE},
        {"hours": 4, "window": ("22:00", "02:00")},
        {"hours": 2, "window": ("22:00", "02:00"), "days": "fri"},
        {"hours": 24, "days": "mon"},
        {"hours": 120, "days": "mon-fri"},
        {"days": 7, "weeks": "first"},
        {"days": 28, "months": "jan"},
        {"minutes": 7, "calendar": Calendar(exclude=["12-25"])},
        {"days": 30},
        {"hours": 48, "days": "mon"},
        {"hours": 48, "days": "mon,wed"},
        {"hours": 144, "days": "mon-fri"},
        {"hours": 25, "days": "mon"},
        {"minutes": 61, "window": ("09:00", "10:00")},
        {"hours": 25, "window": ("09:00", "10:00")},
        {"days": 8, "weeks": "first"},
        {"days": 1, "window": ("00:00", "23:30")},
    ],
)
@for_each("second", [0, 17, 43_211, 86_399])
def test_an_accepted_interval_runs_from_each_second_of_its_first_reconcile(options, second):
    cadence = interval(**options, tz="Europe/Paris").starting(START + timedelta(seconds=second))
    year = START + timedelta(days=370)
    assert next(cadence.between(year, year + timedelta(days=370)), None) is not None


def test_a_stored_interval_of_an_earlier_release_still_reads_and_has_a_note():
    stored = parse("interval 1d window=09:00-17:00")
    assert parse(stored.text) == stored
    assert "it may never run" in cadence_warnings(stored)[0]


@pytest.mark.parametrize(
    "written",
    [
        "interval 1d window=09:00-17:00",
        "interval 1h calendar=exclude:sat;instead:next_business_day",
        "once 2027-03-28T02:30 tz=Europe/Paris dst=eventbridge",
    ],
)
def test_a_job_with_such_a_text_is_rejected(written):
    app = App()
    with pytest.raises(DeclarationError, match=r"never run|cannot move|does not exist"):

        @app.job(written)
        def report_send() -> None: ...


def test_an_interval_moves_no_run():
    with pytest.raises(InvalidCadence, match="its runs cannot move") as caught:
        interval(hours=1, calendar=MOVED)
    assert caught.value.remedy.startswith('use instead="skip"')


def test_a_single_time_that_a_clock_change_skips_is_rejected():
    with pytest.raises(NeverFires, match="2027-03-28T02:30 does not exist in Europe/Paris"):
        once("2027-03-28 02:30", tz="Europe/Paris", dst="eventbridge")
    assert once("2027-03-28 02:30", tz="Europe/Paris").next_after(START) is not None
    assert once("2027-03-28 03:30", tz="Europe/Paris", dst="eventbridge").next_after(START) is not None


def test_that_time_is_rejected_by_the_default_zone_of_its_app_too():
    app = App(default_tz="Europe/Paris")
    with pytest.raises(DeclarationError, match="does not exist in Europe/Paris"):

        @app.job(once("2027-03-28 02:30", dst="eventbridge"))
        def report_send() -> None: ...


@pytest.mark.parametrize("included", [["2027-01-04"], ["2027-01-04", "2027-06-01"]])
@pytest.mark.parametrize(
    "cadence",
    [lambda c: monthly(31, "09:00", calendar=c), lambda c: cron("0 9 31 12 *", calendar=c)],
)
def test_a_run_moves_over_new_year_into_the_first_dated_year(included, cadence):
    moved = cadence(Calendar(include=included, instead="next_business_day"))
    assert moved.next_after(datetime(2026, 12, 1, tzinfo=UTC)) == datetime(2027, 1, 4, 9, tzinfo=UTC)


def test_different_calendars_of_one_name_are_rejected():
    app = App()
    one, other = Calendar(exclude=["12-25"], name="fr"), Calendar(exclude=["12-24"], name="fr")
    with pytest.raises(DeclarationError, match="2 different calendars are named 'fr'"):

        @app.job(daily("09:00", calendar=one), daily("10:00", calendar=other))
        def report_send() -> None: ...


def test_dates_beside_a_list_of_included_ones_are_described():
    calendar = Calendar(include=["mon", "2027-06-01"], exclude=["06-07"])
    words = "only on 2027-06-01 and mon and except on 06-07"
    assert words in daily("09:00", calendar=calendar).describe()


@pytest.mark.parametrize(
    ("cadence", "text"),
    [
        (lambda: every(days=2, anchor=datetime(2027, 1, 4, 9)), "every 2d anchor=2027-01-04"),
        (
            lambda: weekly("mon", "06:00", every=2, anchor=datetime(2027, 1, 4, tzinfo=UTC)),
            "weekly mon 06:00 every=2 anchor=2027-01-04",
        ),
        (lambda: every(days=1.0), "every 1d"),
        (lambda: daily("09:00", tz=ZoneInfo("Europe/Paris")), "daily 09:00 tz=Europe/Paris"),
        (lambda: cron("0 9 * * *", tz=ZoneInfo("Asia/Tokyo")), "cron 0 9 * * * tz=Asia/Tokyo"),
        (lambda: interval(hours=1, tz=ZoneInfo("UTC"), days="mon"), "interval 1h days=mon tz=UTC"),
        (lambda: once("2027-06-01 09:00", tz=ZoneInfo("UTC")), "once 2027-06-01T09:00 tz=UTC"),
    ],
)
def test_arguments_of_related_types_are_accepted(cadence, text):
    assert cadence().text == text
    assert parse(text) == cadence()


@for_each(
    "cadence",
    [
        lambda: Calendar(exclude=[None]),
        lambda: Calendar(exclude=5),
        lambda: Calendar(exclude=["12-25"], name="a b"),
        lambda: cron(5),
        lambda: cron(None),
        lambda: daily(None),
        lambda: daily("09:00", tz=5),
        lambda: daily("09:00", days=5),
        lambda: daily("09:00", months=[None]),
        lambda: daily("09:00", window=5),
        lambda: daily("09:00", window=(None,)),
        lambda: daily("09:00", calendar="12-25"),
        lambda: weekly(None, "09:00"),
        lambda: monthly(None, "09:00"),
        lambda: nth_weekday("first", None, "09:00"),
        lambda: every(days=1.5),
        lambda: every(days=True),
        lambda: every(days=2, anchor=5),
        lambda: interval(days=None, hours="x"),
        lambda: once(None),
        lambda: on_event("orders", None),
        lambda: on_event(None, "OrderPlaced"),
        lambda: on_event("orders", "OrderPlaced", tenant=5),
        lambda: on_event("orders", "OrderPlaced", match=5),
        lambda: daily("09:00", tz=[]),
        lambda: Calendar(exclude=["12-25"], weekend="sat"),
        lambda: Calendar(exclude=["12-25"], weekend=5),
        lambda: parse(None),
        lambda: from_rrule(5),
        lambda: from_systemd(b"Mon 09:00"),
    ],
)
def test_arguments_of_other_types_are_invalid_cadences(cadence):
    with pytest.raises(InvalidCadence) as caught:
        cadence()
    assert caught.value.remedy


ODD = [
    None,
    True,
    -1,
    1.5,
    float("nan"),
    10**30,
    "",
    b"x",
    [],
    [None],
    {},
    (),
    object(),
    date(2027, 1, 1),
    START,
]
ODD += [timedelta(1), Calendar(["sat"]), "\u00a0", "a" * 2_000, {1, 2}, range(3), "1,,2", "-", "9" * 5_000]
ARGUMENTS = {
    cron: {"expression": "0 9 * * *", "day_rule": "or"},
    daily: {"at": "09:00"},
    weekly: {"on": "mon", "at": "09:00", "every": 1, "anchor": "2027-01-04"},
    monthly: {"on": "1", "at": "09:00", "every": 1, "anchor": "2027-01-04"},
    nth_weekday: {"nth": "first", "on": "mon", "at": "09:00"},
    business_day: {"on": "1", "at": "09:00", "every": 1, "anchor": "2027-01-04"},
    yearly: {"on": "06-30", "at": "09:00", "every": 1, "anchor": "2027-01-04"},
    once: {"at": "2027-01-01 09:00"},
    every: {"minutes": 10},
    interval: {"minutes": 10},
    on_event: {"source": "a", "type": "b"},
    Calendar: {"exclude": ["sat"]},
    parse: {"text": "daily 09:00"},
    from_rrule: {"text": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0"},
    from_systemd: {"text": "Mon 09:00"},
}


@pytest.mark.parametrize("build", ARGUMENTS)
def test_each_argument_of_any_value_is_read_or_an_invalid_cadence(build):
    names = inspect.signature(build).parameters
    options = [*CadenceOptions.__annotations__] * ("options" in names)
    for name in {*names, *options} - {"options"}:
        for value in ODD:
            try:
                built = build(**{**ARGUMENTS[build], name: value})
            except InvalidCadence:
                continue
            assert isinstance(built, Calendar) or parse(built.text) == built


calendars = st.builds(
    Calendar,
    exclude=st.lists(st.sampled_from(["sat", "12-25", date(2027, 5, 6), "2028-02-29"]), min_size=1),
    include=st.lists(st.sampled_from(["mon", "tue", "01-31", "2027-03-01"])),
    instead=st.sampled_from(["skip", "next_business_day", "previous_business_day", "business_day_of_month"]),
    name=st.none() | st.sampled_from(["fr", "be-2027"]),
    through=st.none() | st.just("2029-12-31"),
    weekend=st.sampled_from([("sat", "sun"), ("fri", "sat")]),
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "tz": st.sampled_from(["Europe/Paris", "Pacific/Apia", ZoneInfo("UTC")]),
        "days": st.sampled_from(["mon-fri", ["sun"], "fri-mon,wed"]),
        "months": st.sampled_from(["jan,jun-aug", [1, 6], "nov-feb"]),
        "weeks": st.sampled_from(["first", "last,2", [5]]),
        "window": st.sampled_from([OFFICE, "22:00-02:00", ("00:00", "23:59:30")]),
        "calendar": calendars,
    },
)
clocks = st.fixed_dictionaries({}, optional={"dst": st.sampled_from(["cronos", "vixie", "eventbridge"])})
times = st.sampled_from(["09:00", "23:59:59", "00:00"])
anchors = st.sampled_from([date(2027, 1, 4), datetime(2027, 1, 4, 9), "2026-12-31"])
kinds = st.one_of(
    st.builds(lambda at, a, b: lambda: daily(at, **a, **b), times, filters, clocks),
    st.builds(
        lambda n, anchor, a, b: lambda: weekly("mon,thu", "06:00", every=n, anchor=anchor, **a, **b),
        st.integers(1, 5),
        anchors,
        filters,
        clocks,
    ),
    st.builds(
        lambda on, n, anchor, a, b: lambda: monthly(on, "00:30", every=n, anchor=anchor, **a, **b),
        st.sampled_from(["1,last", "last-2", 31, "15w,lastw"]),
        st.sampled_from([1, 3, 12]),
        anchors,
        filters,
        clocks,
    ),
    st.builds(
        lambda on, a, b: lambda: nth_weekday(on, "mon,fri", "06:00", **a, **b),
        st.sampled_from(["first", 5, "last,2"]),
        filters,
        clocks,
    ),
    st.builds(
        lambda n, anchor, a, b: lambda: every(anchor=anchor, at="09:30", **{**a, "days": n}, **b),
        st.integers(1, 9),
        anchors,
        filters,
        clocks,
    ),
    st.builds(
        lambda on, offset, a, b: lambda: business_day(on, "06:00", offset=offset, **a, **b),
        st.sampled_from(["1,last", "third", "last-22,23"]),
        st.sampled_from([None, "-1d", "5b"]),
        filters,
        clocks,
    ),
    st.builds(
        lambda on, n, anchor, a, b: lambda: yearly(on, "06:00", every=n, anchor=anchor, **a, **b),
        st.sampled_from(["02-29", "12-31,01-01"]),
        st.sampled_from([1, 4, 7]),
        anchors,
        filters,
        clocks,
    ),
    st.builds(
        lambda n, a, b: lambda: every(minutes=n, **a, **b), st.sampled_from([1, 7, 90]), filters, clocks
    ),
    st.builds(lambda n, a: lambda: interval(minutes=n, **a), st.sampled_from([1, 7, 90]), filters),
    st.builds(
        lambda n, a: lambda: interval(minutes=n, **a).starting(START), st.sampled_from([1, 7, 90]), filters
    ),
    st.builds(lambda b: lambda: once("2027-10-31 02:30", tz="Europe/Paris", **b), clocks),
)


@given(kinds)
def test_every_cadence_is_read_back_from_its_own_text(build):
    try:
        cadence = build()
    except InvalidCadence:
        assume(False)
    again = parse(cadence.text)
    assert again == cadence
    assert again.text == cadence.text
    assert again.next_after(START) == cadence.next_after(START)
