"""Calendars of a country's holidays: dates of the definition, and none of the library on Lambda."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import holidays
import pytest

from duetime import App, holiday_calendar
from duetime.cadence import Calendar, InvalidCadence, business_day, cadence_warnings, daily, parse
from duetime.cadence.options import calendar_text, parse_calendar
from duetime.check import report
from duetime.errors import DeclarationError
from tests.cases import for_each

START = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)
END = datetime(2029, 12, 31, 23, 59, tzinfo=UTC)
YEARS = range(2026, 2029)
COUNTRIES = holidays.list_supported_countries(include_aliases=False)
MARKETS = holidays.list_supported_financial(include_aliases=False)
BERLIN = holiday_calendar("DE", subdivision="BE", years=range(2027, 2030))


def test_it_has_the_dates_of_the_library():
    known = holidays.country_holidays("DE", subdiv="BE", years=range(2027, 2030))
    assert BERLIN.exclude == tuple(sorted(day.isoformat() for day in known))
    assert date(2027, 3, 8).isoformat() in BERLIN.exclude  # of Berlin alone
    assert (BERLIN.name, BERLIN.through) == ("DE-BE", "2029-12-31")


def test_the_definition_has_the_dates():
    cadence = daily("09:00", calendar=BERLIN, tz="Europe/Berlin")
    assert "2027-03-08" in cadence.text
    assert "through:2029-12-31" in cadence.text
    assert parse(cadence.text) == cadence
    assert cadence.name == "Daily_09_00_cal-DE-BE_Europe_Berlin"
    silent = {day.isoformat() for day in map(datetime.date, cadence.between(START, END))}
    assert not silent & {*BERLIN.exclude}


@pytest.mark.parametrize(
    ("country", "weekend"), [("DE", {5, 6}), ("SA", {4, 5}), ("IR", {4}), ("BN", {4, 6})]
)
def test_business_days_exclude_the_countrys_weekend(country, weekend):
    calendar = holiday_calendar(country, years=range(2027, 2030))
    known = holidays.country_holidays(country, years=range(2027, 2030))
    cadence = business_day("1,last", "09:00", calendar=calendar)
    assert parse(cadence.text) == cadence
    expected = []
    for month in range(36):
        first = date(2027 + month // 12, month % 12 + 1, 1)
        length = (first.replace(day=28) + timedelta(days=4)).replace(day=1) - first
        days = [first + timedelta(days=n) for n in range(length.days)]
        days = [day for day in days if day.weekday() not in weekend and day not in known]
        expected += [days[0], days[-1]]
    assert [at.date() for at in cadence.between(START, END)] == expected


@for_each("country", [*COUNTRIES, *MARKETS])
def test_business_days_are_the_librarys_working_days(country):
    read = holidays.country_holidays if country in COUNTRIES else holidays.financial_holidays
    known = read(country, years=YEARS)
    years = [year for year in YEARS if year <= known.end_year]
    calendar = holiday_calendar(country, years=years)
    assert parse_calendar(calendar_text(calendar)) == calendar
    for day in (date(years[0], 1, 1) + timedelta(days=n) for n in range(365 * len(years))):
        number = (day - date(1970, 1, 1)).days
        assert calendar.is_business_day(number) == known.is_working_day(day), day
        assert calendar.leaves(number) == (day not in known or known.is_working_day(day)), day


def test_years_in_which_the_weekend_changed_are_rejected():
    with pytest.raises(InvalidCadence, match=r"the weekend of AE was another on 2021-12-31; use later years"):
        holiday_calendar("AE", years=range(2021, 2024))
    assert holiday_calendar("AE", years=range(2022, 2024)).weekend == ("sun", "sat")


def test_a_further_day_is_excluded_even_if_the_country_works_on_it():
    calendar = holiday_calendar("CN", years=2026, exclude=["2026-02-28"])
    assert "2026-02-28" in calendar.exclude
    assert "2026-02-14" in calendar.working


@pytest.mark.parametrize("further", ["2026-02-28", date(2026, 2, 28), "02-28", "sat", "SAT"])
def test_a_further_day_wins_over_the_countrys_working_day_in_each_spelling(further):
    made_up = (date(2026, 2, 28) - date(1970, 1, 1)).days
    assert holiday_calendar("CN", years=2026).is_business_day(made_up)
    calendar = holiday_calendar("CN", years=2026, exclude=[further])
    assert not calendar.is_business_day(made_up)
    assert not calendar.leaves(made_up)


def test_markets_and_further_days_are_accepted():
    calendar = holiday_calendar("XNYS", years=2027, exclude=["sat", "sun", "2027-08-02"], name="nyse")
    assert {"sat", "2027-08-02", "2027-11-25"} < {*calendar.exclude}
    assert calendar.name == "nyse"


@pytest.mark.parametrize(
    ("build", "problem", "remedy"),
    [
        (lambda: holiday_calendar("QQ", years=2027), "there is no country 'QQ'", "as in DE"),
        (lambda: holiday_calendar("de", years=2027), "there is no country 'de'", "did you mean DE?"),
        (lambda: holiday_calendar("DE", subdivision="XX", years=2027), "no subdivision 'XX'", "BE"),
        (lambda: holiday_calendar("DE", years=1500), "no holidays of DE for 1500", "to 2100"),
        (lambda: holiday_calendar("DE", years=[2027, 2029]), "successive years", "range(2027, 2030)"),
        *(
            (lambda years=years: holiday_calendar("DE", years=years), "successive years", "range(2027, 2030)")
            for years in (
                "2027",
                None,
                2027.0,
                [2027.5],
                [2027, None],
                True,
                0,
                9999,
                10**6,
                [],
                {"2027"},
                "",
            )
        ),
        (lambda: holiday_calendar(5, years=2027), "there is no country '5'", "as in DE"),
        (lambda: holiday_calendar([], years=2027), "there is no country '[]'", "as in DE"),
        (lambda: holiday_calendar("DE", subdivision=5, years=2027), "no subdivision 5", "BE"),
        (lambda: holiday_calendar("DE", years=range(2027, 2050)), "successive years", "range(2027, 2030)"),
        (lambda: holiday_calendar("DE", years=[]), "successive years", "range(2027, 2030)"),
        (lambda: Calendar(["sun"], through="soon"), "no such day", "2026-12-25"),
        (lambda: Calendar(["sun"], through="12-25"), "through is no date", "2028-12-31"),
        (lambda: Calendar(["sun"], weekend=["12-25"]), "no such weekend", "fri"),
    ],
)
def test_bad_input_has_a_remedy(build, problem, remedy):
    with pytest.raises(InvalidCadence) as caught:
        build()
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(DeclarationError, match=r"install duetime\[holidays\]"):
        holiday_calendar("DE", years=2027)


def test_a_lambda_function_declares_the_job_without_the_library():
    program = (
        "import sys; sys.modules['holidays'] = None\n"
        "from duetime import App, business_day, holiday_calendar\n"
        "from duetime.cadence import InvalidCadence, parse\n"
        "app = App()\n"
        "calendar = holiday_calendar('DE', years=2027, instead='next_business_day')\n"
        "@app.job(business_day('last', '09:00', calendar=calendar), name='report-send')\n"
        "def send() -> None: ...\n"
        "print(len(app.handlers))\n"
        "cadence = app.handlers['report-send'].cadences[0]\n"
        "assert parse(cadence.text) == cadence and 'unresolved:DE' in cadence.text\n"
        "from datetime import UTC, datetime\n"
        "for ask in (cadence.next_after, cadence.last_before, cadence.matches):\n"
        "    try: ask(datetime(2027, 1, 4, tzinfo=UTC))\n"
        "    except InvalidCadence as refused: assert 'holidays are not known here' in str(refused)\n"
        "    else: raise SystemExit(2)"
    )
    for environ, expected in (({"AWS_LAMBDA_FUNCTION_NAME": "worker"}, 0), ({}, 1)):
        env = environ | {"PYTHONPATH": ":".join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=False)  # noqa: S603
        assert ran.returncode == expected


@pytest.mark.parametrize(
    ("now", "warned"), [("2029-09-01", False), ("2029-10-15", True), ("2031-01-01", True)]
)
def test_check_and_preview_warn_before_the_dates_end(now, warned):
    app = App()

    @app.job(daily("09:00", calendar=BERLIN), name="report-send")
    def send() -> None: ...

    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    notes = [
        note for note in report(app, now=at).notes if "the dates of calendar DE-BE end on 2029-12-31" in note
    ]
    assert bool(notes) == warned
    assert bool(cadence_warnings(daily("09:00", calendar=BERLIN), at)) == warned
    assert not cadence_warnings(daily("09:00", calendar=BERLIN))
    assert cadence_warnings(daily("09:00", calendar=BERLIN), START, datetime(2030, 1, 1, tzinfo=UTC))


def test_a_subdivision_with_a_space_has_a_valid_name():
    assert holiday_calendar("AU", subdivision="NSW Western", years=2027).name == "AU-NSW-Western"
