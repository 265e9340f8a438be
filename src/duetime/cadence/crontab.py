"""Cron expressions as cadences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, Unpack

from duetime._english import plural
from duetime.cadence.days import ALL_DAYS, ALL_HOURS, ALL_MONTHS, ALL_SIXTY, ALL_WEEKDAYS, DayFields
from duetime.cadence.expression import CronParts, DayRule, parse_cron
from duetime.cadence.modifiers import CadenceOptions, read_modifiers
from duetime.cadence.walk import DstPolicy, Fields, WallSchedule
from duetime.cadence.wall_cadence import WallCadence, build_wall_schedule
from duetime.cadence.words import (
    WEEKS,
    before_last,
    bits,
    clock_text,
    listed,
    months_words,
    ranges,
    weekdays_words,
)

_SIXTY = 60
_MOST_TIMES = 6
_RUN = 3


def cron_words(parts: CronParts) -> str:
    """Return when it runs, as in ``at 02:30 every day`` or ``every 5 minutes, from 09:00 to 17:59``."""
    hours, minutes, seconds = bits(parts.hours), bits(parts.minutes), bits(parts.seconds)
    days = _days(parts.days)
    if len(hours) * len(minutes) * len(seconds) <= _MOST_TIMES:
        shown = [clock_text(h * 3_600 + m * 60 + s) for h in hours for m in minutes for s in seconds]
        return f"at {listed(shown)}{f', {days}' if days else ' every day'}"
    times = _rhythms(parts, minutes, seconds)
    within = "" if parts.hours == ALL_HOURS else _hours(hours)
    return ", ".join(part for part in (times, within, days) if part)


def _rhythms(parts: CronParts, minutes: list[int], seconds: list[int]) -> str:
    every_hour = "every hour" if parts.hours == ALL_HOURS else "the hour"
    if seconds == [0]:
        return _rhythm(minutes, "minute", f"past {every_hour}")
    if parts.minutes == ALL_SIXTY:
        return _rhythm(seconds, "second", "of every minute")
    return (
        f"{_rhythm(seconds, 'second', 'of the minute')}, {_rhythm(minutes, 'minute', f'past {every_hour}')}"
    )


def _rhythm(values: list[int], unit: str, of: str) -> str:
    if len(values) == _SIXTY:
        return f"every {unit}"
    step = _step(values, _SIXTY)
    if step and _SIXTY % step:
        return f"every {step} {unit}s from {values[0]} to {values[-1]} {of}"
    if step and values[0] == 0:
        return f"every {step} {unit}s"
    if step:
        return f"every {step} {unit}s from {unit} {values[0]}"
    return f"at {plural(len(values), unit)} {_runs(values)} {of}"


def _hours(hours: list[int]) -> str:
    step = _step(hours, 24)
    if step and hours[0] == 0 and 24 % step == 0:
        return f"every {step} hours"
    if hours == list(range(hours[0], hours[-1] + 1)):
        return f"from {hours[0]:02}:00 to {hours[-1]:02}:59"
    return f"in hours {_runs(hours)}"


def _step(values: list[int], count: int) -> int:
    if len(values) < len(("one", "another")):
        return 0
    step = values[1] - values[0]
    if len(values) < _RUN and step * len(values) != count:
        return 0
    return step if values == list(range(values[0], count, step)) and step > 1 and values[0] < step else 0


def _days(days: DayFields) -> str:
    """Return the days, as in ``on Friday in March``; empty for every day."""
    words = [word for word in (_dates(days), _weekdays(days)) if word]
    text = (" or " if days.either else " if it falls ").join(words)
    if days.months != ALL_MONTHS:
        text = f"{text} in {months_words(days.months)}".strip()
    return text


def _dates(days: DayFields) -> str:
    if days.days == ALL_DAYS:
        return ""
    plain = [n + 1 for n in bits(days.days)]
    shown = [f"{plural(len(plain), 'day')} {_runs(plain)}"] if plain else []
    shown += [f"the {before_last(back)}" for back in days.lasts]
    shown += [f"the weekday nearest to day {day}" for day in days.nearest]
    shown += [
        f"the weekday nearest to the {before_last(back)}" if back else "the last weekday"
        for back in days.nearest_lasts
    ]
    return f"on {listed(shown)} of the month"


def _weekdays(days: DayFields) -> str:
    nth = [f"the {WEEKS[n - 1]} {weekdays_words(1 << day)}" for day, n in days.nth]
    if days.weekdays == ALL_WEEKDAYS:
        return ""
    plain = [weekdays_words(days.weekdays)] if days.weekdays else []
    return f"on {listed(plain + nth)}{' of the month' * bool(nth)}"


def _runs(values: list[int]) -> str:
    return listed(ranges(values, [str(n) for n in range(values[-1] + 1)], joint=" to "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron(WallCadence):
    """A cron expression.

    Attributes:
        parts: the parsed expression.
        day_rule: how two restricted day fields combine.
    """

    parts: CronParts
    day_rule: DayRule | None = None

    @classmethod
    def from_expression(
        cls, expression: str, *, day_rule: DayRule | None = None, **options: Unpack[CadenceOptions]
    ) -> Self:
        """Return the cadence of an expression; arguments and errors as of :func:`~duetime.cadence.cron`."""
        parts = parse_cron(expression, day_rule)
        return cls(modifiers=read_modifiers(**options), parts=parts, day_rule=day_rule)

    @property
    def expression(self) -> str:
        """The expression, in capitals and with single spaces."""
        return self.parts.text

    def _rule(self) -> DstPolicy:
        return self.modifiers.dst_policy(interval=self.parts.interval, starred=self.parts.starred)

    def _built(self) -> WallSchedule:
        parts = self.parts
        return build_wall_schedule(
            parts.text, parts.days, Fields(parts.hours, parts.minutes, parts.seconds), self.modifiers
        )

    def _head(self) -> str:
        rule = f" day_rule={self.day_rule}" if self.day_rule else ""
        return f"cron {self.parts.text}{rule}"

    def _label(self) -> str:
        rule = f"_{self.day_rule}" if self.day_rule else ""
        return f"Cron_{_spelled(self.parts.text)}{rule}"

    def _words(self) -> str:

        return cron_words(self.parts)


def _spelled(expression: str) -> str:
    """Return an expression in the characters of names: ``*/5 9-17 * * *`` becomes ``every5_9-17_x_x_x``.

    The seconds of one with six fields end with ``s``, as in ``0s_30_2_x_x_x``.
    """
    if expression.count(" ") == 5:  # noqa: PLR2004 - six fields
        expression = expression.replace(" ", "s ", 1)
    text = expression.lower().replace("*/", "every").replace("*", "x").replace("?", "q").replace("@", "")
    return text.replace("/", "by").replace("#", "-nth").replace(" ", "_")
