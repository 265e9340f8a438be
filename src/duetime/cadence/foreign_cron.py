"""Cron expressions of other schedulers, in duetime's spelling.

Each field is read in the other language's own ranges and steps. A field that duetime reads in the same way
stays as it is written; another is written by its values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from duetime.cadence.aws_fields import year_values
from duetime.cadence.fields import CronField, FieldError, weekdays
from duetime.cadence.words import MONTH_NAMES, WEEKDAY_NAMES, WEEKDAYS, bits, weekdays_text

FIVE = ("minute", "hour", "day", "month", "weekday")
SIX = ("second", *FIVE)
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


class Language(CronField):
    """A language, by its day-of-week field.

    Attributes:
        day_rule: how two restricted day fields combine, ``and`` or ``or``; or a pattern of fields that are
            not restricted: with one of them the rule is ``and``, else ``or``.
    """

    def __init__(
        self, low: int, high: int, names: tuple[str, ...], *, sunday: int = 0, day_rule: str = "and"
    ) -> None:
        self._sunday, self.day_rule = sunday, day_rule
        super().__init__("day-of-week", low, high, names, first_named=min(low, 1) if names[0] != "0" else 0)

    def folded(self, mask: int) -> int:
        """See :meth:`CronField.folded`; ``sunday`` is the number of Sunday."""
        return sum(1 << day for day in {(n - self._sunday) % 7 for n in bits(mask)})


_FROM_MONDAY = (*WEEKDAYS[1:], WEEKDAYS[0])
QUARTZ = Language(1, 7, WEEKDAYS, sunday=1)
SPRING = Language(1, 7, ("0", *_FROM_MONDAY))
CELERY = Language(0, 6, WEEKDAYS)
APSCHEDULER = Language(0, 6, _FROM_MONDAY, sunday=6)
APSCHEDULER_EITHER = Language(0, 6, _FROM_MONDAY, sunday=6, day_rule="or")
JENKINS = Language(0, 7, WEEKDAYS)
CRONTAB = Language(0, 7, WEEKDAYS, day_rule=r"\*.*")
ACTIONS = Language(0, 6, WEEKDAYS, day_rule=r"\*.*")
KUBERNETES = Language(0, 6, WEEKDAYS, day_rule=r"(.*,)?[*?](/1)?(,.*)?")
"""Go's cron: a star with a step restricts the field."""


def cron_text(language: Language, names: Sequence[str], texts: Sequence[str], options: str = "") -> str:
    """Return the cadence of the fields of these names, which are those of :data:`SIX` and ``year``.

    Raises:
        FieldError: the language has no such field.
        InvalidExpression: there is no such year.
    """
    if len(names) != len(texts):
        raise FieldError(
            "fields", f"there must be {len(names)}, and this has {len(texts)}", "write all of them"
        )
    fields = {"year": "*", **dict(zip(names, texts, strict=True))}
    if language is QUARTZ and re.search(r"[A-Z]{5}|[A-Z]/", f"{fields['month']} {fields['weekday']}".upper()):
        raise FieldError(
            "name", "what follows its three letters is ignored there", "use numbers, or list names"
        )
    rule = language.day_rule
    if rule not in {"and", "or"}:
        rule = "and" if any(re.fullmatch(rule, fields[name]) for name in ("day", "weekday")) else "or"
    fields |= {
        "month": short_names(fields["month"]),
        "weekday": _weekday(language, short_names(fields["weekday"])),
    }
    is_both = not {fields["day"], fields["weekday"]} & {"*", "?"}
    text = " ".join(fields[name] for name in SIX if name in fields)
    return f"{text}{f' day_rule={rule}' * is_both}{_years(fields['year'])}{options}"


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
    mask, nth = theirs = weekdays(written, language)
    try:
        if weekdays(text.upper()) == theirs:
            return text
    except FieldError:
        pass
    texts = [weekdays_text(mask)] * bool(mask)
    texts += [f"{WEEKDAYS[day]}{f'#{n}' if n else 'L'}" for day, n in nth]
    return ",".join(texts).upper()


def _years(text: str) -> str:
    """Return the options of a field of years."""
    if text in ("*", "?"):
        return ""
    years = year_values(text)
    if years[-1] - years[0] >= len(years):
        raise FieldError("year", "the years do not follow each other", "declare a cadence for each")
    return f" start={years[0]}-01-01 end={years[-1]}-12-31"
