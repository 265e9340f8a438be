"""A comparison of a cron expression's occurrences with croniter's.

duetime's own evaluator decides. The comparison finds mistakes of either evaluator. It covers only what
croniter is known to compute correctly: times on a clock that never changes, and the common part of the cron
language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from duetime.cadence.crontab import Cron
from duetime.cadence.day_fields import ALL_DAYS
from duetime.cadence.modifiers import PLAIN
from duetime.cadence.words import MONTHS, WEEKDAYS

START = datetime(2027, 12, 30, 21, 47, 13, tzinfo=UTC)
"""The start of the comparison: it crosses a year's end into a leap year, and is no round time."""
_RANGE = re.compile(r"(?P<first>\w+)-(?P<last>\w+)(/\d+)?", re.ASCII)
_OPEN_STEP = re.compile(r"(^|,)\w+/", re.ASCII)
_LAST_WEEKDAY = re.compile(r"\b(?P<day>[0-7]|[A-Z]{3})L\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One occurrence on which the two differ.

    Attributes:
        after: the instant after which both searched.
        ours: duetime's occurrence, in UTC.
        theirs: croniter's; None if croniter found none or rejected the expression.
    """

    after: datetime
    ours: datetime | None
    theirs: datetime | None

    def __str__(self) -> str:
        return f"after {self.after.isoformat()}: {_shown(self.ours)}, but croniter says {_shown(self.theirs)}"


def compare_with_croniter(cadence: Cron, *, start: datetime = START, count: int = 20) -> list[Disagreement]:
    """Return where croniter's next ``count`` occurrences of the bare expression differ; empty if they agree.

    Zone, clock rule and filters are ignored. An expression with an :func:`incomparable_reason` is not
    compared.
    """
    if incomparable_reason(cadence) is not None:
        return []
    from croniter import croniter  # noqa: PLC0415 - the import takes 30 ms

    bare = replace(cadence, modifiers=PLAIN)
    expression = _LAST_WEEKDAY.sub(
        lambda last: f"L{_number(last['day']) % 7}", cadence.expression.replace("?", "*")
    )
    found: list[Disagreement] = []
    ours: datetime | None = start
    for _ in range(count):
        if ours is None:
            break
        after = ours
        ours = bare.next_after(after)
        try:
            fields = croniter(expression, after, day_or=cadence.day_rule != "and", second_at_beginning=True)
            theirs = fields.get_next(datetime)
        except (ValueError, KeyError):
            theirs = None
        if ours != theirs:
            found.append(Disagreement(after, ours, theirs))
    return found


def incomparable_reason(cadence: Cron) -> str | None:
    """Return why this expression is not compared with croniter, or None if it is."""
    days = cadence.parts.days
    if days.nearest or days.nearest_lasts or any(days.lasts):
        return "croniter does not know W and L-n"
    if days.nth and (days.weekdays or len(days.nth) > 1 or days.days != ALL_DAYS or days.lasts):
        return "croniter reads the L and # of a weekday correctly only if they are alone in their field"
    if _OPEN_STEP.search(cadence.expression.split()[-1]):
        return "croniter ends FRI/2 on Saturday, before day 7"
    for item in re.split("[ ,]", cadence.expression):
        bounds = _RANGE.fullmatch(item)
        if bounds and _number(bounds["first"]) >= _number(bounds["last"]):
            return "croniter reads a range that wraps, or has one value, differently"
    return None


def _number(text: str) -> int:
    """Return the number of a weekday or month: enough to see whether a range ascends."""
    for names, low in ((WEEKDAYS, 0), (MONTHS, 1)):
        if text.lower() in names:
            return names.index(text.lower()) + low
    return int(text)


def _shown(instant: datetime | None) -> str:
    return "never" if instant is None else instant.isoformat()
