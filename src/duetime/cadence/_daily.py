"""``daily(...)``, and the base of all cadences at one time of day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from typing import Unpack

from duetime.cadence.cadence import declared
from duetime.cadence.day_fields import ALL_WEEKDAYS, DayFields
from duetime.cadence.days import Cycle
from duetime.cadence.modifiers import CadenceOptions, read_modifiers
from duetime.cadence.times import at_time
from duetime.cadence.walk import WallSchedule
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.wall_schedule import build_wall_schedule
from duetime.cadence.words import clock_text, second_of_day


@dataclass(frozen=True, slots=True, kw_only=True)
class AtATime(WallCadence):
    """A cadence of some days, at one time of day.

    Attributes:
        at: the local time, in seconds since midnight.
    """

    at: int

    def _days(self) -> DayFields:
        return DayFields()

    def _cycle(self) -> Cycle | None:
        return None

    def _built(self) -> WallSchedule:
        return build_wall_schedule(
            self._head(), self._days(), at_time(self.at), self.modifiers, self._cycle()
        )

    def _named_time(self) -> str:
        return clock_text(self.at).replace(":", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily(AtATime):
    """Every day at one time."""

    def _head(self) -> str:
        return f"daily {clock_text(self.at)}"

    def _label(self) -> str:
        return f"Daily_{self._named_time()}"

    def _words(self) -> str:
        return (
            f"{'every day' if self.modifiers.days == ALL_WEEKDAYS else 'each day'} at {clock_text(self.at)}"
        )


@declared
def daily(
    at: str | time,
    **options: Unpack[CadenceOptions],
) -> Daily:
    """Return a cadence of every day at a local time; options as of :func:`~duetime.cadence.cron`.

    Example: ``daily("03:15", days="mon-fri")``.

    Raises:
        InvalidCadence: the time or an option is invalid, or the options leave no occurrence.
    """
    return Daily(modifiers=read_modifiers(**options), at=second_of_day(at))
