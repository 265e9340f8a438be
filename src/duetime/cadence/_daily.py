"""``daily(...)``, and the base of all cadences of days at fixed times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from typing import ClassVar, Unpack

from duetime.cadence.cadence import declared
from duetime.cadence.days import ALL_WEEKDAYS, Cycle, DayFields
from duetime.cadence.modifiers import CadenceOptions, read_modifiers
from duetime.cadence.walk import WallSchedule, at_times
from duetime.cadence.wall_cadence import WallCadence, build_wall_schedule
from duetime.cadence.words import clock_text, listed, seconds_of_day


@dataclass(frozen=True, slots=True, kw_only=True)
class AtATime(WallCadence):
    """A cadence of some days, at one time of day or several.

    Attributes:
        kind: the first word of its text; that of its name is made of it.
        at: the local time, in seconds since midnight; the first of several.
        later: the later times of the same days.
    """

    kind: ClassVar[str]

    at: int
    later: tuple[int, ...] = ()

    @property
    def times_of_day(self) -> tuple[int, ...]:
        """All its times of day, in order."""
        return self.at, *self.later

    def _days(self) -> DayFields:
        return DayFields()

    def _cycle(self) -> Cycle | None:
        return None

    def _cycle_text(self) -> str:
        return ""

    def _built(self) -> WallSchedule:
        return build_wall_schedule(
            self._head(), self._days(), at_times(self.times_of_day), self.modifiers, self._cycle()
        )

    def _on(self) -> str:
        """Return its days as words of its text; empty for every day."""
        return ""

    def _head(self) -> str:
        times = ",".join(map(clock_text, self.times_of_day))
        return " ".join(filter(None, (self.kind, self._on(), times, self._cycle_text())))

    def _label(self) -> str:
        words = self._head().removeprefix(self.kind).replace("every=", "every").replace("anchor=", "")
        return self.kind.title().replace("_", "") + words.replace(" ", "_").replace(":", "_")

    def _time_words(self) -> str:
        return listed([*map(clock_text, self.times_of_day)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily(AtATime):
    """Every day at one time or several."""

    kind = "daily"

    def _words(self) -> str:
        return f"{'every day' if self.modifiers.days == ALL_WEEKDAYS else 'each day'} at {self._time_words()}"


@declared
def daily(
    at: str | time,
    **options: Unpack[CadenceOptions],
) -> Daily:
    """Return a cadence of every day at a local time; options as of :func:`~duetime.cadence.cron`.

    Examples: ``daily("03:15", days="mon-fri")`` and ``daily("09:00,17:00")``.

    Raises:
        InvalidCadence: the time or an option is invalid, or the options leave no occurrence.
    """
    first, later = seconds_of_day(at)
    return Daily(modifiers=read_modifiers(**options), at=first, later=later)
