"""Cron expressions as cadences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, Unpack

from duetime.cadence.expression import CronParts, DayRule, parse_cron
from duetime.cadence.modifiers import CadenceOptions, read_modifiers
from duetime.cadence.walk import DstPolicy, Fields, WallSchedule
from duetime.cadence.wall_cadence import WallCadence, build_wall_schedule


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
        from duetime.cadence.cron_words import cron_words  # noqa: PLC0415 - only needed for descriptions

        return cron_words(self.parts)


def _spelled(expression: str) -> str:
    """Return an expression in the characters of names: ``*/5 9-17 * * *`` becomes ``every5_9-17_x_x_x``.

    The seconds of one with six fields end with ``s``, as in ``0s_30_2_x_x_x``.
    """
    if expression.count(" ") == 5:  # noqa: PLR2004 - six fields
        expression = expression.replace(" ", "s ", 1)
    text = expression.lower().replace("*/", "every").replace("*", "x").replace("?", "q").replace("@", "")
    return text.replace("/", "by").replace("#", "-nth").replace(" ", "_")
