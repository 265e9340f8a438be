"""systemd's calendar events (``OnCalendar=``), as cadences of duetime.

The rules are those of systemd.time(7): a run needs a matching weekday and a matching date; ``..`` is a range,
``a/n`` every n-th value from a on, ``~n`` the n-th last day.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from duetime.cadence.cadence import Cadence
from duetime.cadence.days import ALL_WEEKDAYS
from duetime.cadence.errors import InvalidCadence, UnknownZone
from duetime.cadence.eventbridge import values_text
from duetime.cadence.foreign_cron import Suggestion
from duetime.cadence.text import read_translated
from duetime.cadence.words import WEEKDAY_NAMES, WEEKDAYS, as_text, weekdays_mask, weekdays_text
from duetime.cadence.zones import zone

_WORDS = {
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "daily": "*-*-* 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00",
    "quarterly": "*-01,04,07,10-01 00:00:00",
    "semiannually": "*-01,07-01 00:00:00",
    "semi-annually": "*-01,07-01 00:00:00",
    "yearly": "*-01-01 00:00:00",
    "annually": "*-01-01 00:00:00",
}
_DUETIMES = ("daily", "weekly", "monthly", "yearly")
_VALUES = r"[\d*.,/]+"
_DATE = re.compile(rf"(?:(?P<year>{_VALUES})-)?(?P<month>{_VALUES})(?P<sign>[-~])(?P<day>{_VALUES})")
_TIME = re.compile(rf"(?P<hour>{_VALUES}):(?P<minute>{_VALUES})(?::(?P<second>{_VALUES}))?")
_WEEKDAYS = re.compile(r"[A-Za-z]{3,9}(?:(?:\.\.|,|-)[A-Za-z]{3,9})*,?")
_YEARS = (1970, 2199)
_LIMITS = {
    "year": _YEARS,
    "month": (1, 12),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}
_TWO_DIGITS, _OF_2000 = 2, 70
_FIFTH_ENDS = 31


class _Event(NamedTuple):
    """A calendar event: values in ascending order, the weekdays as a mask."""

    weekdays: int
    years: tuple[int, ...]
    months: tuple[int, ...]
    days: tuple[int, ...]
    from_the_end: bool
    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...]
    zone: str | None


def systemd_suggestion(text: str) -> Suggestion | None:
    """Return the cadence of a calendar event; None for another text, or a word of duetime too.

    Raises:
        InvalidCadence: the text is a calendar event that no cadence can express.
    """
    word = text.strip().lower()
    is_dated = any(_DATE.fullmatch(token) or _WEEKDAYS.fullmatch(token) for token in text.split())
    is_plain_time = not is_dated and re.fullmatch(r"[\d:]+", text)
    if word in _DUETIMES or is_plain_time or not (is_dated or word in _WORDS or _TIME.match(text)):
        return None
    try:
        _Reader(text).event()
    except InvalidCadence:
        return None
    return Suggestion(from_systemd(text).text.removeprefix("cron "))


def from_systemd(text: str, *, tz: str | None = None) -> Cadence:
    """Return the cadence of a calendar event of systemd, as in ``"Mon..Fri *-*-* 02:30:00 Europe/Paris"``.

    Args:
        text: the value of ``OnCalendar=``.
        tz: the zone of a text without one.

    Raises:
        InvalidCadence: the text is no calendar event, or names what no cadence can express.
    """
    event = _Reader(text).event()
    options = f" tz={event.zone or tz}" if event.zone or tz else ""
    first, last = event.years[0], event.years[-1]
    is_once = (
        all(len(values) == 1 for values in (*event[1:4], *event[5:8])) and event.weekdays == ALL_WEEKDAYS
    )
    if is_once and not event.from_the_end:
        clock = f"{event.hours[0]:02}:{event.minutes[0]:02}:{event.seconds[0]:02}"
        return read_translated(
            f"once {first}-{event.months[0]:02}-{event.days[0]:02}T{clock}{options}", text, "systemd"
        )
    if event.years != (*range(first, last + 1),):
        raise InvalidCadence(text, "systemd: its years do not follow each other", "declare several cadences")
    if (first, last) != _YEARS:
        options = f" start={first}-01-01 end={last}-12-31{options}"
    return read_translated(_head(event) + options, text, "systemd")


def _head(event: _Event) -> str:
    """Return the shorter text of one time of day, else a cron expression."""
    all_days, all_months = len(event.days) == _FIFTH_ENDS, len(event.months) == 12  # noqa: PLR2004 - months
    is_one_time = len(event.hours) == len(event.minutes) == len(event.seconds) == 1
    filtered = f" days={weekdays_text(event.weekdays)}" * (event.weekdays != ALL_WEEKDAYS)
    if is_one_time and all_months and not event.from_the_end:
        clock = f"{event.hours[0]:02}:{event.minutes[0]:02}:{event.seconds[0]:02}".removesuffix(":00")
        kind = "daily" if all_days else f"monthly {','.join(map(str, event.days))}"
        return f"{kind} {clock}{filtered}"
    if event.from_the_end:
        day = "*" if all_days else ",".join("L" if n == 1 else f"L-{n - 1}" for n in event.days)
    else:
        day = _cron(event.days, "day")
    weekday = "*" if event.weekdays == ALL_WEEKDAYS else weekdays_text(event.weekdays).upper()
    second, minute, hour = (
        _cron(values, unit)
        for values, unit in ((event.seconds, "second"), (event.minutes, "minute"), (event.hours, "hour"))
    )
    leading = "" if second == "0" else f"{second} "
    rule = " day_rule=and" if "*" not in (day, weekday) else ""
    return f"cron {leading}{minute} {hour} {day} {_cron(event.months, 'month')} {weekday}{rule}"


def _cron(values: tuple[int, ...], unit: str) -> str:
    low, high = _LIMITS[unit]
    return re.sub(rf"^{low}/", "*/", values_text(sum(1 << value for value in values), low, high))


class _Reader:
    """One text, while it is read."""

    def __init__(self, text: str) -> None:
        self._text = as_text(text, "Mon..Fri 02:30")

    def _fail(self, part: str, problem: str, remedy: str) -> NoReturn:
        at = max(0, self._text.find(part))
        raise InvalidCadence(self._text, f"systemd: {problem}", remedy, start=at, width=len(part) or None)

    def event(self) -> _Event:
        """Return the event of the text."""
        tokens = re.sub(
            r"^\S+", lambda word: _WORDS.get(word[0].lower(), word[0]), self._text.strip()
        ).split()
        where = self._zone(tokens)
        weekdays, found = ALL_WEEKDAYS, dict[str, str]()
        patterns = [("weekday", _WEEKDAYS), ("date", _DATE), ("time", _TIME)]
        for token in tokens:
            while patterns and not patterns[0][1].fullmatch(token):
                patterns.pop(0)
            if not patterns:
                self._fail(
                    token,
                    f"{token!r} is no weekday, date or time in its place",
                    "write it as in Mon..Fri *-*-* 02:30:00",
                )
            kind, pattern = patterns.pop(0)
            if kind == "weekday":
                weekdays = self._weekdays(token)
            elif match := pattern.fullmatch(token):
                found |= {unit: value for unit, value in match.groupdict().items() if value}
        if not tokens:
            self._fail(self._text, "there is no date and no time", "write it as in Mon..Fri *-*-* 02:30:00")
        is_from_end = found.get("sign") == "~"
        return _Event(
            weekdays=weekdays,
            years=self._expanded(found.get("year", "*"), "year"),
            months=self._expanded(found.get("month", "*"), "month"),
            days=self._days_from_end(found["day"])
            if is_from_end
            else self._expanded(found.get("day", "*"), "day"),
            from_the_end=is_from_end,
            hours=self._expanded(found.get("hour", "0"), "hour"),
            minutes=self._expanded(found.get("minute", "0"), "minute"),
            seconds=self._expanded(found.get("second", "0"), "second"),
            zone=where,
        )

    def _zone(self, tokens: list[str]) -> str | None:
        """Return the zone at the end, and remove it from the tokens."""
        if not tokens or not re.fullmatch(r"[A-Za-z][\w+/-]*", tokens[-1]) or _is_weekdays(tokens[-1]):
            return None
        name = tokens.pop()
        if name.upper() == "UTC":
            return "UTC"
        try:
            zone(name)
        except UnknownZone as error:
            self._fail(name, error.problem, error.remedy)
        return name

    def _weekdays(self, token: str) -> int:
        items = [re.split(r"\.\.|-", item) for item in token.strip(",").split(",")]
        if unknown := next((name for names in items for name in names if not _is_weekdays(name)), None):
            self._fail(unknown, f"{unknown!r} is no weekday", "use Mon, Tue, Wed, Thu, Fri, Sat or Sun")
        return weekdays_mask(f"{names[0][:3]}-{names[-1][:3]}" for names in items)

    def _days_from_end(self, text: str) -> tuple[int, ...]:
        """Return days counted from the last, which is 1; a step counts towards the last day."""
        found = set[int]()
        for item in text.split(","):
            values, slash, step = item.partition("/")
            if not slash:
                found |= {*self._expanded(item, "day")}
                continue
            first = _FIFTH_ENDS if values == "*" else self._number(values, 1, _FIFTH_ENDS)
            number = self._number(step, 1, _FIFTH_ENDS)
            if number >= first:
                self._fail(item, f"{item} has a step beyond the last day", "use a smaller step")
            found |= {*range(first, 0, -number)}
        return tuple(sorted(found))

    def _expanded(self, text: str, unit: str) -> tuple[int, ...]:
        (low, high), found = _LIMITS[unit], set[int]()
        for item in text.split(","):
            values, slash, step = item.partition("/")
            first, dots, last = values.partition("..")
            if values == "*":
                start, end = low, high
            else:
                start = self._number(first, low, high)
                end = self._number(last, low, high) if dots else high if slash else start
            if end < start:
                self._fail(item, f"the range {values} runs backwards", "let it ascend")
            found |= {*range(start, end + 1, self._number(step, 1, high) if slash else 1)}
        return tuple(sorted(found))

    def _number(self, text: str, low: int, high: int) -> int:
        if "." in text:
            self._fail(text, f"{text} is a fraction of a second", "use whole seconds")
        number = int(text) if text.isdigit() else -1
        if low == _YEARS[0] and len(text) == _TWO_DIGITS:
            number += 2_000 if number < _OF_2000 else 1_900
        if not low <= number <= high:
            self._fail(text, f"{text or 'nothing'} is out of range", f"use {low}-{high}")
        return number


def _is_weekdays(token: str) -> bool:
    names = re.split(r"\.\.|,|-", token.strip(",").lower())
    return all(name in WEEKDAYS or name.title() in WEEKDAY_NAMES for name in names)
