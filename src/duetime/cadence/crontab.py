"""``cron(...)``: a cron expression as a cadence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from duetime.cadence.cadence import WallCadence
from duetime.cadence.errors import InvalidCron
from duetime.cadence.expression import CronParts, DayRule, parse_cron
from duetime.cadence.modifiers import Dst, Window, Words, scope_of
from duetime.cadence.times import Fields
from duetime.cadence.wall_schedule import wall_of

if TYPE_CHECKING:
    from duetime.cadence.calendars import Calendar
    from duetime.cadence.walk import DstPolicy, WallSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron(WallCadence):
    """A cron expression.

    Attributes:
        parts: the expression, read.
        day_rule: what was said of two restricted day fields.
    """

    parts: CronParts
    day_rule: DayRule | None = None

    @property
    def expression(self) -> str:
        """The expression, in capitals and with single spaces."""
        return self.parts.text

    def _rule(self) -> DstPolicy:
        return self.scope.clock(interval=self.parts.interval, starred=self.parts.starred)

    def _built(self) -> WallSchedule:
        parts = self.parts
        return wall_of(parts.text, parts.days, Fields(parts.hours, parts.minutes, parts.seconds), self.scope)

    def _head(self) -> str:
        rule = f" day_rule={self.day_rule}" if self.day_rule else ""
        return f"cron {self.parts.text}{rule}"

    def _label(self) -> str:
        rule = f"_{self.day_rule}" if self.day_rule else ""
        return f"Cron_{_spelled(self.parts.text)}{rule}"

    def _words(self) -> str:
        from duetime.cadence.cron_words import cron_words  # noqa: PLC0415 - only who describes needs it

        return cron_words(self.parts)


def cron(
    expression: str,
    *,
    tz: str | None = None,
    dst: Dst = "cronos",
    day_rule: DayRule | None = None,
    days: Words | None = None,
    months: Words | None = None,
    weeks: Words | None = None,
    window: Window | None = None,
    calendar: Calendar | None = None,
) -> Cron:
    """A cron expression: five fields, six with leading seconds, or one of the ``@daily`` family.

    Args:
        expression: as in ``"30 2 * * *"``; ``L``, ``L-3``, ``LW``, ``15W``, ``FRIL`` and ``MON#1`` are understood, ranges may wrap.
        tz: the IANA zone of its wall clock; UTC, or the app's default, if not said.
        dst: what changes of the clocks do to it: ``cronos`` runs what a gap skips once at the gap's end, and in an overlap
            runs intervals in both passes and fixed times in the first; ``vixie`` and ``eventbridge`` as those schedulers do.
        day_rule: must be said where day-of-month and day-of-week are both restricted (neither ``*`` nor ``?``): ``"and"`` for
            days that match both, ``"or"`` for days that match either.
        days: only on these weekdays, as in ``"mon-fri"``.
        months: only in these months, as in ``"jan,jun-aug"``.
        weeks: only in these weeks of the month, as in ``"first,last"``; the first is the 1st to the 7th.
        window: only from the first time of day to the second, both included, as in ``("09:00", "17:00")``.
        calendar: dates to stay silent on, or to keep to.

    Raises:
        InvalidCron: the expression is not of the language; a caret shows where.
        NeverFires: no date ever matches.
        InvalidCadence: an option is mistyped.
    """
    try:
        parts = parse_cron(expression, day_rule)
    except InvalidCron as refused:
        from duetime.cadence.dialects import told  # noqa: PLC0415 - only a mistake needs it

        raise told(refused, expression) from None
    scope = scope_of(tz=tz, dst=dst, days=days, months=months, weeks=weeks, window=window, calendar=calendar)
    return Cron(scope=scope, parts=parts, day_rule=day_rule)


def _spelled(expression: str) -> str:
    """An expression in characters that names have: ``*/5 9-17 * * *`` is ``every5_9-17_x_x_x``."""
    text = expression.lower().replace("*/", "every").replace("*", "x").replace("?", "q").replace("@", "")
    return text.replace("/", "by").replace("#", "-nth").replace(" ", "_")
