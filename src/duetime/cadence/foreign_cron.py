"""Cron expressions of other schedulers, in duetime's spelling.

Each field is read in the other language's own ranges and steps. A field that duetime reads in the same way
stays as it is written; another is written anew, by its values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from duetime.cadence.fields import CronField, FieldError, weekdays
from duetime.cadence.words import MONTH_NAMES, WEEKDAY_NAMES, WEEKDAYS, bits, weekdays_text

FIVE = ("minute", "hour", "day", "month", "weekday")
SIX = ("second", *FIVE)
FIRST_YEAR, LAST_YEAR = 1970, 2199
_ANY = ("*", "?")
_FULL_NAMES = frozenset(name.upper() for name in (*WEEKDAY_NAMES, *MONTH_NAMES))


class Suggestion(NamedTuple):
    """A text of another scheduler, in duetime's spelling.

    Attributes:
        text: the cadence's text.
        caveat: what differs, or what else to do; empty for nothing.
        start: where the foreign part begins.
    """

    text: str
    caveat: str = ""
    start: int = 0

    def remedy(self) -> str:
        """Return what to write, and the caveat."""
        return "; ".join(filter(None, (f'write "{self.text}"', self.caveat)))


class Weekdays(CronField):
    """The day-of-week field of another language, whose number of Sunday is ``sunday``."""

    def __init__(self, low: int, high: int, names: tuple[str, ...], first_named: int, sunday: int) -> None:
        self._sunday = sunday
        super().__init__("day-of-week", low, high, names, first_named)

    def folded(self, mask: int) -> int:
        """See :meth:`CronField.folded`."""
        return sum(1 << day for day in {(n - self._sunday) % 7 for n in bits(mask)})


class Language(NamedTuple):
    """What distinguishes a language from duetime's.

    Attributes:
        weekdays: its day-of-week field.
        day_rule: how two restricted day fields combine; vixie cron's rule is ``and`` if one begins with a
            star, else ``or``.
        ends_names: whether it ignores what follows the three letters of a name, as Quartz does.
    """

    weekdays: Weekdays
    day_rule: Literal["and", "vixie"] = "and"
    ends_names: bool = False


_FROM_MONDAY = (*WEEKDAYS[1:], WEEKDAYS[0])
QUARTZ = Language(Weekdays(1, 7, WEEKDAYS, 1, sunday=1), ends_names=True)
SPRING = Language(Weekdays(1, 7, ("0", *_FROM_MONDAY), 0, sunday=0))
CELERY = Language(Weekdays(0, 6, WEEKDAYS, 0, sunday=0))
APSCHEDULER = Language(Weekdays(0, 6, _FROM_MONDAY, 0, sunday=6))
JENKINS = Language(Weekdays(0, 7, WEEKDAYS, 0, sunday=0))
CRONTAB = Language(Weekdays(0, 7, WEEKDAYS, 0, sunday=0), "vixie")
KUBERNETES = Language(Weekdays(0, 6, WEEKDAYS, 0, sunday=0), "vixie")


def named(names: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """Return fields by their names, in capitals if they are names of days or months.

    Raises:
        FieldError: there are more or fewer fields.
    """
    if len(names) != len(texts):
        raise FieldError("fields", f"it has {len(names)} of them, and this has {len(texts)}", "write all")
    return dict(zip(names, texts, strict=True))


def cron_text(language: Language, fields: Mapping[str, str], options: str = "") -> str:
    """Return the cadence of the fields of :data:`SIX`, of which ``second`` and a ``year`` may be missing.

    Raises:
        FieldError: the language has no such weekday, or no cadence has such years.
    """
    day, month, weekday = fields["day"], fields["month"], fields["weekday"]
    is_and = language.day_rule == "and" or "*" in (day[:1], weekday[:1])
    if language.ends_names and re.search(r"[A-Z]{5}|[A-Z]/", f"{month} {weekday}".upper()):
        remedy = "use numbers, or list the names"
        raise FieldError("names", "what follows their three letters is ignored there", remedy)
    month, weekday = short_names(month), _weekday(language, short_names(weekday))
    second = [fields["second"]] if "second" in fields else []
    texts = " ".join([*second, fields["minute"], fields["hour"], day, month, weekday])
    rule = "" if day in _ANY or weekday in _ANY else f" day_rule={'and' if is_and else 'or'}"
    return f"{texts}{rule}{_years(fields)}{options}"


def short_names(text: str) -> str:
    """Return a text with the first three letters of the full names of weekdays and months."""
    return re.sub(
        r"[A-Za-z]{4,10}",
        lambda name: name[0][:3] if name[0].upper().removesuffix("S") in _FULL_NAMES else name[0],
        text,
    )


def _weekday(language: Language, text: str) -> str:
    """Return a day-of-week field as duetime reads it."""
    written = "7" if language is QUARTZ and text.upper() == "L" else text.upper()
    if language is SPRING:  # where a range that begins with Sunday begins with 0
        written = re.sub(r"\b(?:7|SUN)-", "0-", written)
    mask, nth = theirs = weekdays(written, language.weekdays)
    try:
        if weekdays(text.upper()) == theirs:
            return text
    except FieldError:
        pass
    texts = [weekdays_text(mask)] * bool(mask)
    texts += [f"{WEEKDAYS[day]}{f'#{n}' if n else 'L'}" for day, n in nth]
    return ",".join(texts).upper()


def _years(fields: Mapping[str, str]) -> str:
    """Return the options of a field of years."""
    text = fields.get("year", "*")
    if text in _ANY:
        return ""
    years = set[int]()
    for item in text.split(","):
        found = re.fullmatch(r"(\*|\d{4})(?:-(\d{4}))?(?:/([1-9]\d{0,2}))?", item)
        if not found:
            raise FieldError("year", f"{item[:20]!r} is no year", "write it as in 2027-2029")
        first = FIRST_YEAR if found[1] == "*" else int(found[1])
        last = LAST_YEAR if found[3] or found[1] == "*" else first
        years |= {*range(first, int(found[2] or last) + 1, int(found[3] or 1))}
    if not years or max(years) - min(years) >= len(years):
        raise FieldError("year", "the years do not follow each other", "declare a cadence for each")
    return f" start={min(years)}-01-01 end={max(years)}-12-31"
