"""The fields of a cron expression: values, lists, ranges that may wrap, and steps, parsed to bit masks.

Bit n of a mask stands for the value n. Common texts (``*``, a number, a name, ``*/5``) are looked up; others
are parsed item by item. An error names the problem of the field; the caller adds the position.

The two day fields have Quartz's special items as Cronos reads them: day-of-month ``L``, ``L-3``, ``LW``,
``L-3W`` and ``15W``, day-of-week ``5L`` and ``MON#2``. Fields are in capitals.
"""

from __future__ import annotations

from typing import NamedTuple

from duetime.cadence.errors import did_you_mean
from duetime.cadence.words import MONTHS, WEEKDAYS


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
        steps = {f"*/{n}": self.folded(_span(low, high, n)) for n in range(1, high + 1)}
        self.common = {"*": every, "?": every} | steps

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
        mask = 0
        for item in items:
            mask |= self.values.get(item) or self._item(item)
        return mask

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
        implied = self.high if slash else low
        high = self.value(last) if dash else implied
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
    mask = 0
    for value in range(low, high + 1, step):
        mask |= 1 << value % around
    return mask


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
