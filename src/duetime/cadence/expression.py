"""The parser of cron expressions.

An expression has five fields (minute hour day-of-month month day-of-week), six with a leading second, or is a
macro such as ``@daily``. A field has values, lists, ranges that may wrap, and steps, and becomes a bit mask:
bit n stands for the value n. Common texts (``*``, a number, a name, ``*/5``) are looked up; others are parsed
item by item. An error of a field names its problem; the parser of expressions adds the position.

The special items are Quartz's as Cronos reads them. Day-of-month has ``L``, ``L-3``, ``LW``, ``L-3W`` and
``15W``; day-of-week has ``5L`` and ``MON#2``. Fields are in capitals.
"""

from __future__ import annotations

import re
from functools import reduce
from operator import or_
from typing import Literal, NamedTuple, NoReturn, get_args

from duetime.cadence.days import DayFields
from duetime.cadence.errors import AmbiguousDays, InvalidCadence, InvalidCron, NeverFires, did_you_mean
from duetime.cadence.words import MONTHS, PLAIN, WEEKDAYS, is_plain


class FieldError(Exception):
    """An invalid field: its name, the problem and the remedy."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        self.field = field
        self.problem = f"{field}: {problem}"
        self.remedy = remedy
        super().__init__(self.problem)


class CronField:
    """One field of the language: values from ``low`` to ``high``."""

    def __init__(
        self, name: str, low: int, high: int, names: tuple[str, ...] = (), first_named: int = 0
    ) -> None:
        self.name = name
        self.low = low
        self.high = high
        self.names = {text.upper(): first_named + n for n, text in enumerate(names)}
        numbers = {text: n for n in range(low, high + 1) for text in (str(n), f"{n:02}")}
        self.values = {text: self.folded(1 << n) for text, n in (numbers | self.names).items()}
        every = self.folded(_span(low, high, 1))
        self.common = {"*": every, "?": every} | (
            {f"*/{n}": self.folded(_span(low, high, n)) for n in range(1, high + 1)}
        )

    def folded(self, mask: int) -> int:
        """Return the mask with one bit for each value: weekdays have two numbers for Sunday, 0 and 7."""
        return mask

    def mask(self, text: str) -> int:
        """Return the values of a field.

        Raises:
            FieldError: the field is invalid.
        """
        return self.common.get(text) or self.values.get(text) or self.listed(text.split(","))

    def listed(self, items: list[str]) -> int:
        """Return the values of a list's items.

        Raises:
            FieldError: an item is invalid, or the list has more items than the field has values.
        """
        if len(items) > self.high - self.low + 1:
            raise FieldError(
                self.name,
                f"a list of {len(items)} items",
                f"list its {self.high - self.low + 1} values at most",
            )
        return reduce(or_, (self.values.get(item) or self._item(item) for item in items))

    def value(self, text: str) -> int:
        """Return one value, by number or name.

        Raises:
            FieldError: the field has no such value.
        """
        if text in self.names:
            return self.names[text]
        if text.isdigit() and len(text) <= _DIGITS and self.low <= int(text) <= self.high:
            return int(text)
        raise FieldError(self.name, *self._not_a_value(text))

    def _item(self, item: str) -> int:
        values, slash, step = item.partition("/")
        if values in ("*", "?"):
            if not slash:
                raise FieldError(self.name, f"{values} already means every value", f"write {values} alone")
            return self.common.get(item) or self._ranged(self.low, self.high, self._step(step))
        first, dash, last = values.partition("-")
        low = self.value(first)
        high = self.value(last) if dash else (self.high if slash else low)
        return self._ranged(low, high, self._step(step) if slash else 1)

    def _ranged(self, low: int, high: int, step: int) -> int:
        if low <= high:
            return self.folded(_span(low, high, step))
        first = _span(low, self.high, step)
        onward = low + (self.high - low) // step * step + step - (self.high - self.low + 1)
        return self.folded(first | _span(onward, high, step))

    def _step(self, text: str) -> int:
        if text.isdigit() and len(text) <= _DIGITS and 1 <= int(text) <= self.high:
            return int(text)
        beyond = " is beyond the field's range" if text.isdigit() else " is no step"
        raise FieldError(self.name, f"{text[:20] or 'nothing'} after the /{beyond}", f"use 1-{self.high}")

    def _not_a_value(self, text: str) -> tuple[str, str]:
        names = f" or {next(iter(self.names))}-{list(self.names)[-1]}" if self.names else ""
        remedy = f"use {self.low}-{self.high}{names}"
        if not text:
            return "a value is missing", remedy
        if text.isdigit():
            return f"{text[:20]} is out of range", remedy
        if text[:3] in self.names and text.isalpha():
            return f"{text[:20]} is not a name in cron", f"use its three letters, {text[:3]}"
        if set(text) & set("LW#") and not set(text) - set("LW#-0123456789"):
            return (
                f"{text[:20]} means nothing in this field",
                f"{remedy}; L and W belong to days, # to weekdays",
            )
        return f"{text[:20]!r} is not one of its values", did_you_mean(text, self.names) or remedy


class WeekdayField(CronField):
    """Day-of-week, where Sunday is 0 and 7: ranges may end on 7 (``FRI-7``) and begin on it (``7-2``)."""

    def folded(self, mask: int) -> int:
        """See :meth:`CronField.folded`."""
        return mask & _WEEK | mask >> _SEVEN

    def _ranged(self, low: int, high: int, step: int) -> int:
        if low <= high:
            return self.folded(_span(low, high, step))
        low %= _SEVEN
        return self.folded(_span(low, high if low <= high else high + _SEVEN, step, around=_SEVEN))


def _span(low: int, high: int, step: int, around: int = 64) -> int:
    if step == 1 and high < around:
        return (1 << high + 1) - (1 << low) if low <= high else 0
    return sum({1 << value % around for value in range(low, high + 1, step)})


_DIGITS = 5
_MOST_WEEKS = 5
_FURTHEST_BACK = 30
_SEVEN = 7
_WEEK = 0b111_1111

SECOND = CronField("second", 0, 59)
MINUTE = CronField("minute", 0, 59)
HOUR = CronField("hour", 0, 23)
DAY = CronField("day-of-month", 1, 31)
MONTH = CronField("month", 1, 12, MONTHS, first_named=1)
WEEKDAY = WeekdayField("day-of-week", 0, 7, WEEKDAYS)


class MonthDays(NamedTuple):
    """A parsed day-of-month field; see the attributes of the same names of ``DayFields``."""

    days: int
    lasts: tuple[int, ...] = ()
    nearest: tuple[int, ...] = ()
    nearest_lasts: tuple[int, ...] = ()
    capped: tuple[int, ...] = ()


def month_days(text: str) -> MonthDays:
    """Return a parsed day-of-month field, in capitals.

    Raises:
        FieldError: the field is invalid.
    """
    if "L" not in text and "W" not in text:
        return MonthDays(DAY.mask(text) >> 1)
    plain: list[str] = []
    lasts: list[int] = []
    nearest: list[int] = []
    nearest_lasts: list[int] = []
    for item in text.split(","):
        back = _from_the_end(item.removesuffix("W"))
        if back is not None:
            (nearest_lasts if item.endswith("W") else lasts).append(back)
        elif item.endswith("W"):
            nearest.append(DAY.value(item[:-1]))
        else:
            plain.append(item)
    return MonthDays(
        DAY.listed(plain) >> 1 if plain else 0, tuple(lasts), tuple(nearest), tuple(nearest_lasts)
    )


def _from_the_end(item: str) -> int | None:
    """Return the n of ``L-n``, 0 for ``L``, None for anything else."""
    if item == "L":
        return 0
    if not item.startswith("L-"):
        return None
    back = item[2:]
    if back.isdigit() and len(back) <= len(str(_FURTHEST_BACK)) and int(back) <= _FURTHEST_BACK:
        return int(back)
    raise FieldError(DAY.name, f"{item[:20]} is before the month begins", f"use L-0 to L-{_FURTHEST_BACK}")


def weekdays(text: str, field: CronField = WEEKDAY) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return a day-of-week field: a mask with Sunday as bit 0, and (weekday, n) of each # or L.

    An n of 0 means the last. Another ``field`` has another language's numbers.

    Raises:
        FieldError: the field is invalid.
    """
    if "L" not in text and "#" not in text:
        return field.mask(text), ()
    plain: list[str] = []
    nth: list[tuple[int, int]] = []
    for item in text.split(","):
        _reject_foreign_last(item)
        if item.endswith("L"):
            nth.append((_weekday_before(item[:-1], "L", field), 0))
        elif "#" in item:
            weekday, _, week = item.partition("#")
            nth.append((_weekday_before(weekday, "#", field), _week(week)))
        else:
            plain.append(item)
    return field.listed(plain) if plain else 0, tuple(nth)


def _reject_foreign_last(item: str) -> None:
    """Reject other languages' last weekday of a month: ``FRI#L``, ``FRI#-1``, ``L5``."""
    weekday, sign, week = item.partition("#")
    if sign and week in ("L", "-1"):
        found = weekday
    elif item.startswith("L") and not sign:
        found = item[1:]
    else:
        return
    if found in WEEKDAY.values:
        name = WEEKDAYS[WEEKDAY.value(found) % _SEVEN].upper()
        raise FieldError(WEEKDAY.name, f"{item} is not how cron names the last weekday", f"write {name}L")


def _weekday_before(text: str, sign: str, field: CronField) -> int:
    if not text:
        raise FieldError(
            WEEKDAY.name,
            f"{sign} needs a weekday before it",
            "write FRIL for the last Friday, MON#1 for the first Monday",
        )
    return field.folded(1 << field.value(text)).bit_length() - 1


def _week(text: str) -> int:
    if text.isdigit() and len(text) == 1 and 1 <= int(text) <= _MOST_WEEKS:
        return int(text)
    raise FieldError(
        WEEKDAY.name, f"{text[:20] or 'nothing'} after # is no week of a month", f"use 1-{_MOST_WEEKS}"
    )


DayRule = Literal["and", "or"]

LONGEST = 1_000
"""Characters of an expression at most: a list of all values of all fields has fewer."""
_MACROS = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
    "@EVERY_MINUTE": "* * * * *",
    "@EVERY_SECOND": "* * * * * *",
}
_UNRESTRICTED = ("*", "?")
_FEWEST, _MOST = 5, 6
_BOTH = "days"
_NAMES = tuple(field.name for field in (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY))


class CronParts(NamedTuple):
    """A valid expression.

    Attributes:
        text: the expression, in capitals and with single spaces.
        seconds: bit mask of the seconds; ``minutes`` and ``hours`` likewise.
        days: the day and month fields.
        interval: whether second, minute or hour is a ``*``, a ``?``, a range or a step (Cronos's definition).
        starred: whether second, minute or hour begins with a star (vixie cron's definition).
    """

    text: str
    seconds: int
    minutes: int
    hours: int
    days: DayFields
    interval: bool
    starred: bool


def parse_cron(given: str, day_rule: DayRule | None = None) -> CronParts:
    """Return the parts of a cron expression.

    Raises:
        InvalidCron: the expression is invalid; :class:`AmbiguousDays` if both day fields are restricted
            without a ``day_rule``.
        NeverFires: no month has such a day.
    """
    if day_rule is not None and day_rule not in get_args(DayRule):
        raise InvalidCadence(str(day_rule), "day_rule: not a rule", "use and, or or")
    text = _readable(given)
    tokens = text.split(" ")
    if text[0] == "@":
        tokens = _macro(given, text).split(" ")
    if len(tokens) == _FEWEST:
        tokens.insert(0, "0")
    if len(tokens) != _MOST:
        remedy = "write minute hour day-of-month month day-of-week, with second before them if need be"
        count = len(text.split(" "))
        raise InvalidCron(given, f"a cron expression has 5 or 6 fields, and this has {count}", remedy)
    try:
        parts = _read(text.lower() if text[0] == "@" else text, tokens, day_rule)
    except FieldError as error:
        _fail(given, error)
    if not parts.days.ever():
        start, width = _position(given, _NAMES.index(DAY.name))
        when = f"day-of-month {tokens[3]}, month {tokens[4]}, day-of-week {tokens[5]}"
        problem, remedy = f"no month ever has such a day ({when})", "choose a day that exists"
        raise NeverFires(given, problem, remedy, start=start, width=width)
    return parts


def _readable(given: str) -> str:
    """Return the expression in capitals with single spaces, after checking its length and characters."""
    if not isinstance(given, str):
        raise InvalidCron(str(given), "a cron expression is a text", 'write it as in "30 2 * * *"')
    if len(given) > LONGEST:
        raise InvalidCron(given, f"{len(given)} characters are no cron expression", f"use at most {LONGEST}")
    at = next((n for n, char in enumerate(given) if not is_plain(char)), None)
    if at is not None:
        raise InvalidCron(
            given, f"{given[at]!r} is not {PLAIN}", "use 0-9, A-Z and * , - / ?", start=at, width=1
        )
    text = " ".join(given.upper().split())
    if not text:
        raise InvalidCron(given, "the expression is empty", "write five fields, as in 30 2 * * *")
    return text


def _macro(given: str, text: str) -> str:
    if text in _MACROS:
        return _MACROS[text]
    if text == "@REBOOT":
        raise InvalidCron(given, "@reboot names no time", "use once(...), on_event(...) or manual()")
    known = [macro.lower() for macro in _MACROS]
    raise InvalidCron(
        given, f"there is no {text[:20].lower()}", did_you_mean(text, known) or f"use {', '.join(known)}"
    )


def _read(text: str, tokens: list[str], day_rule: DayRule | None) -> CronParts:
    second, minute, hour, day, month, weekday = tokens
    seconds, minutes, hours = SECOND.mask(second), MINUTE.mask(minute), HOUR.mask(hour)
    dates = month_days(day)
    months = MONTH.mask(month)
    days_of_week, nth = weekdays(weekday)
    both = day not in _UNRESTRICTED and weekday not in _UNRESTRICTED
    if both and day_rule is None:
        remedy = (
            'give day_rule="and" for days that match both, or day_rule="or" for days that match either,'
            " as a crontab does"
        )
        raise FieldError(_BOTH, "day-of-month and day-of-week are both restricted", remedy)
    return CronParts(
        text,
        seconds,
        minutes,
        hours,
        DayFields(*dates, days_of_week, nth, both and day_rule == "or", months),
        not f"{second},{minute},{hour}".replace(",", "").isdigit(),
        second[0] == "*" or minute[0] == "*" or hour[0] == "*",
    )


def _fail(given: str, error: FieldError) -> NoReturn:
    if error.field == _BOTH:
        start, _ = _position(given, _NAMES.index(DAY.name))
        problem = error.problem.removeprefix(f"{_BOTH}: ")
        last, width = _position(given, _NAMES.index(WEEKDAY.name))
        raise AmbiguousDays(given, problem, error.remedy, start=start, width=last + width - start)
    start, width = _position(given, _NAMES.index(error.field))
    raise InvalidCron(given, error.problem, error.remedy, start=start, width=width)


def _position(given: str, field: int) -> tuple[int, int]:
    """Return where a field begins in the given text, and its width; ``field`` counts from the seconds."""
    words = [*re.finditer(r"\S+", given)]
    word = words[field - (_MOST - len(words))]
    return word.start(), len(word.group())
