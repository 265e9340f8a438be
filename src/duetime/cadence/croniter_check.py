"""A second opinion on a cron expression, from croniter.

Our evaluator decides; croniter is asked whenever a cron is declared, so that a mistake of either is seen. It is asked only
where it is known to be right: times on a clock that never changes, and the part of the language that it reads as cron
does. A disagreement is reported, never settled in silence. croniter is imported when it is first asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from duetime.cadence.day_fields import ALL_DAYS
from duetime.cadence.modifiers import PLAIN
from duetime.cadence.words import MONTHS, WEEKDAYS

if TYPE_CHECKING:
    from duetime.cadence.crontab import Cron

START = datetime(2027, 12, 30, 21, 47, 13, tzinfo=UTC)
"""From where opinions are compared: over a turn of the year and into a leap year, on no round time."""
_RANGE = re.compile(r"(?P<first>\w+)-(?P<last>\w+)(/\d+)?", re.ASCII)
_OPEN_STEP = re.compile(r"(^|,)\w+/", re.ASCII)
_LAST_WEEKDAY = re.compile(r"\b(?P<day>[0-7]|[A-Z]{3})L\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One occurrence that the two see differently.

    Attributes:
        after: the instant that both were asked about.
        ours: our answer, in UTC.
        theirs: croniter's; None if it found none or refused the expression.
    """

    after: datetime
    ours: datetime | None
    theirs: datetime | None

    def __str__(self) -> str:
        return f"after {self.after.isoformat()}: {_shown(self.ours)}, but croniter says {_shown(self.theirs)}"


def second_opinion(cadence: Cron, *, start: datetime = START, count: int = 20) -> list[Disagreement]:
    """Where croniter sees the next ``count`` occurrences of the bare expression otherwise; empty if it agrees.

    Zone, clock rule and filters are left out of the comparison, for croniter has its own ideas of the first and none of the
    rest. An expression that :func:`not_comparable` names a reason for is not compared.
    """
    if not_comparable(cadence) is not None:
        return []
    from croniter import croniter  # noqa: PLC0415 - 30 ms that only a declaration pays

    bare = replace(cadence, scope=PLAIN)
    found: list[Disagreement] = []
    ours: datetime | None = start
    for _ in range(count):
        if ours is None:
            break
        after = ours
        ours = bare.next_after(after)
        try:
            fields = croniter(
                _for_croniter(cadence), after, day_or=cadence.day_rule != "and", second_at_beginning=True
            )
            theirs = fields.get_next(datetime)
        except (ValueError, KeyError):
            theirs = None
        if ours != theirs:
            found.append(Disagreement(after, ours, theirs))
    return found


def not_comparable(cadence: Cron) -> str | None:
    """Why croniter is not asked about this expression, or None if it is."""
    days = cadence.parts.days
    if days.nearest or days.nearest_lasts or any(days.lasts):
        return "croniter does not know W and L-n"
    if days.nth and (days.weekdays or len(days.nth) > 1 or days.days != ALL_DAYS or days.lasts):
        return "croniter reads the L and # of a weekday rightly only where they stand alone"
    if _OPEN_STEP.search(cadence.expression.split()[-1]):
        return "croniter ends FRI/2 on Saturday, where day 7 is still to come"
    for item in _items(cadence.expression):
        bounds = _RANGE.fullmatch(item)
        if bounds and _number(bounds["first"]) >= _number(bounds["last"]):
            return "croniter reads a range that wraps, or has one value, as another"
    return None


def _items(expression: str) -> list[str]:
    return [item for field in expression.split() for item in field.split(",")]


def _number(text: str) -> int:
    """A value's number, weekdays and months alike: enough to see whether a range ascends."""
    for names, low in ((WEEKDAYS, 0), (MONTHS, 1)):
        if text.lower() in names:
            return names.index(text.lower()) + low
    return int(text)


def _for_croniter(cadence: Cron) -> str:
    """The expression in croniter's spelling: no ``?``, and the last Friday is ``L5``."""
    return _LAST_WEEKDAY.sub(
        lambda last: f"L{_number(last['day']) % 7}", cadence.expression.replace("?", "*")
    )


def _shown(instant: datetime | None) -> str:
    return "never" if instant is None else instant.isoformat()
