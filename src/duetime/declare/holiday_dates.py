"""``holiday_calendar(...)``: a country's holidays, from the library ``holidays``, as a calendar of dates.

The dates become part of the cadence's text, and so of the deployed definition. Lambda functions do not import
the library: where one imports the app, the calendar is unresolved. It can be declared, and answers nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import MAXYEAR, MINYEAR, date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from duetime.cadence.calendars import Calendar, Instead, Weekends
from duetime.cadence.errors import InvalidCadence, did_you_mean
from duetime.cadence.words import WEEKDAYS
from duetime.environment import is_lambda
from duetime.errors import DeclarationError

if TYPE_CHECKING:
    from holidays import HolidayBase

MOST_YEARS = 20
"""Years of a calendar at most, since each run's definition has all dates."""


def holiday_calendar(
    country: str,
    *,
    years: int | Iterable[int],
    subdivision: str | None = None,
    exclude: Iterable[date | str] = (),
    instead: Instead = "skip",
    weekends: Weekends = "move",
    name: str | None = None,
) -> Calendar:
    """Return the calendar of a country's public holidays, with its weekend and its working days on weekends.

    Example: ``holiday_calendar("DE", subdivision="BE", years=range(2027, 2030))``.

    ``duetime app check`` and previews warn ninety days before its last year ends.

    Args:
        country: the code of a country, such as ``"DE"``, or of a market, such as ``"XNYS"``.
        years: a year, or several.
        subdivision: the code of a state or a region, such as ``"BE"``.
        exclude: further days without runs, as of :class:`~duetime.cadence.Calendar`.
        instead: as of :class:`~duetime.cadence.Calendar`, like `weekends`.
        weekends: with `instead`, whether runs of weekends move too.
        name: its part of the cadence's name; by default the codes, as in ``"DE-BE"``.

    Raises:
        DeclarationError: the extra ``holidays`` is not installed.
        InvalidCadence: the country, the subdivision or a year is unknown, or the weekend changes in them.
    """
    numbers = _years(years)
    shown = name or "".join(
        char if char.isascii() and (char.isalnum() or char in "_.") else "-"
        for char in "-".join(map(str, filter(None, (country, subdivision))))[:40]
    )
    through, further = date(numbers[-1], 12, 31), [*exclude]
    make = partial(Calendar, instead=instead, name=shown, through=through, weekends=weekends)
    if is_lambda():
        return make(further, unresolved=shown)
    found = _holidays(country, subdivision, numbers)
    days = [through - timedelta(days=n) for n in range((through - date(numbers[0], 1, 1)).days + 1)]
    weekend = {day.weekday() for day in days[:7] if found.is_weekend(day)}
    if changed := next((day for day in days if found.is_weekend(day) > (day.weekday() in weekend)), None):
        raise InvalidCadence(
            str(changed),
            f"holiday_calendar: the weekend of {country} was another on {changed}",
            "use later years",
        )
    working = {
        day for day in days if found.is_working_day(day) and (day.weekday() in weekend or day in found)
    }
    return make(
        [*(day for day in found if day not in working), *further],
        weekend=[WEEKDAYS[(day + 1) % 7] for day in weekend],
        working=[day for day in working if make(further).leaves((day - date(1970, 1, 1)).days)],
    )


def _holidays(country: str, subdivision: str | None, years: list[int]) -> HolidayBase:
    try:
        import holidays  # noqa: PLC0415 - an extra, and only needed where an app declares jobs
    except ImportError:
        raise DeclarationError(
            f"holiday_calendar({country!r}) needs the library holidays; install duetime[holidays]"
        ) from None
    kinds: tuple[tuple[dict[str, Any], Any], ...] = (
        (holidays.list_supported_countries(include_aliases=True), holidays.country_holidays),
        (holidays.list_supported_financial(include_aliases=True), holidays.financial_holidays),
    )
    for known, read in kinds:
        if country in [*known]:
            if subdivision is not None and subdivision not in known[country]:
                codes = ", ".join(map(str, known[country])) or "none"
                raise InvalidCadence(
                    subdivision, f"holiday_calendar: {country} has no subdivision {subdivision!r}",
                    f"its subdivisions are {codes}",
                )  # fmt: skip
            found: HolidayBase = read(country, subdiv=subdivision, years=years)
            if not found.start_year <= years[0] <= years[-1] <= found.end_year:
                raise InvalidCadence(
                    str(years[0]),
                    f"holiday_calendar: there are no holidays of {country} for {years[0]} to {years[-1]}",
                    f"use {found.start_year} to {found.end_year}",
                )
            return found
    codes_of_all = [code for known, _ in kinds for code in known]
    raise InvalidCadence(
        str(country),
        f"holiday_calendar: there is no country {str(country)[:20]!r}",
        did_you_mean(str(country), codes_of_all)
        or "use the code of a country, as in DE, or of a market, as in XNYS",
    )


def _years(given: int | Iterable[int]) -> list[int]:
    numbers = sorted({*given} if isinstance(given, Iterable) else {given}, key=str)
    if (
        not all(type(year) is int and MINYEAR < year < MAXYEAR for year in numbers)
        or not 1 <= len(numbers) <= MOST_YEARS
        or numbers[-1] - numbers[0] != len(numbers) - 1
    ):
        raise InvalidCadence(
            str(given),
            f"holiday_calendar: {given} are not 1 to {MOST_YEARS} successive years",
            "use years=range(2027, 2030), which is 2027 to 2029",
        )
    return numbers
