"""Cadences at one time of day, and the plainest of them: ``daily(...)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from duetime.cadence.cadence import WallCadence
from duetime.cadence.day_fields import ALL_WEEKDAYS, DayFields
from duetime.cadence.modifiers import CadenceOptions, read_modifiers
from duetime.cadence.times import at_time
from duetime.cadence.wall_schedule import build_wall_schedule
from duetime.cadence.words import clock_text, second_of_day

if TYPE_CHECKING:
    from datetime import time

    from duetime.cadence.days import DayCycle
    from duetime.cadence.walk import WallSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class AtATime(WallCadence):
    """A cadence of some days, at one time of day.

    Attributes:
        at: the local time, in seconds since midnight.
    """

    at: int

    def _days(self) -> DayFields:
        return DayFields()

    def _turn(self) -> DayCycle | None:
        return None

    def _built(self) -> WallSchedule:
        return build_wall_schedule(self._head(), self._days(), at_time(self.at), self.scope, self._turn())

    def _named_time(self) -> str:
        return clock_text(self.at).replace(":", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily(AtATime):
    """Each day at a time."""

    def _head(self) -> str:
        return f"daily {clock_text(self.at)}"

    def _label(self) -> str:
        return f"Daily_{self._named_time()}"

    def _words(self) -> str:
        return f"{'every day' if self.scope.days == ALL_WEEKDAYS else 'each day'} at {clock_text(self.at)}"


def daily(
    at: str | time,
    **options: Unpack[CadenceOptions],
) -> Daily:
    """Each day at a local time, as in ``daily("03:15", days="mon-fri")``; options as of :func:`~duetime.cadence.cron`.

    Raises:
        InvalidCadence: the time or an option is mistyped, or nothing is left to fire.
    """
    scope = read_modifiers(**options)
    return Daily(scope=scope, at=second_of_day(at))
