"""``every(...)``: times evenly spaced on the wall clock, counted from local midnight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from duetime.cadence._weekly import check_cycle
from duetime.cadence.cadence import declared
from duetime.cadence.calendars import Calendar
from duetime.cadence.day_fields import DayFields
from duetime.cadence.days import UNIX_DAY, DayCycle
from duetime.cadence.durations import duration_of, duration_text, duration_words
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.modifiers import Dst, Window, Words, read_modifiers
from duetime.cadence.times import DAY, TimeSteps, at_times
from duetime.cadence.walk import DstPolicy, WallSchedule
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.wall_schedule import build_wall_schedule
from duetime.cadence.words import clock_text, listed, seconds_of_day

if TYPE_CHECKING:
    from duetime.cadence.bounds import Moment

_MOST_DAYS = 3_660


@dataclass(frozen=True, slots=True, kw_only=True)
class Every(WallCadence):
    """Times at a fixed step of the local day; the count restarts at each midnight.

    Attributes:
        step: seconds, at most a day; or a whole number of days, counted from ``anchor``.
        anchor: a day of the cycle; None unless ``step`` is longer than a day.
        at: the time of day of a number of days, in seconds since midnight; the first of several.
        later: the later times of the same days.
    """

    step: int
    anchor: date | None = None
    at: int = 0
    later: tuple[int, ...] = ()

    @property
    def times_of_day(self) -> tuple[int, ...]:
        """All times of day of a number of days, in order."""
        return self.at, *self.later

    def _rule(self) -> DstPolicy:
        within_a_day = self.step < DAY
        return self.modifiers.dst_policy(interval=within_a_day, starred=within_a_day)

    def _built(self) -> WallSchedule:
        if self.step < DAY:
            return build_wall_schedule(self._head(), DayFields(), TimeSteps(self.step), self.modifiers)
        cycle = (
            None
            if self.anchor is None
            else DayCycle(self.step // DAY, self.anchor.toordinal() - UNIX_DAY, length=1)
        )
        return build_wall_schedule(
            self._head(), DayFields(), at_times(self.times_of_day), self.modifiers, cycle
        )

    def _spelled_times(self, label: str) -> str:
        """Return the label and the times of day; nothing for midnight alone."""
        return label + ",".join(map(clock_text, self.times_of_day)) if any(self.times_of_day) else ""

    def _head(self) -> str:
        anchor = f" anchor={self.anchor}" if self.anchor else ""
        return f"every {duration_text(self.step)}{self._spelled_times(' at=')}{anchor}"

    def _label(self) -> str:
        anchor = f"_{self.anchor}" if self.anchor else ""
        at = self._spelled_times("_").replace(":", "_")
        return f"Every_{duration_text(self.step)}{at}{anchor}"

    def _words(self) -> str:
        words = f"every {duration_words(self.step)}"
        at = listed([*map(clock_text, self.times_of_day)]) if any(self.times_of_day) else ""
        if self.anchor:
            return f"{words} at {at or 'midnight'}, counted from {self.anchor}"
        if at:
            return f"{words} at {at}"
        if self.step < DAY and DAY % self.step:
            return f"{words} from midnight, the last stretch of each day being shorter"
        return words


@declared
def every(
    *,
    days: float | Words | None = None,
    hours: float | None = None,
    minutes: float | None = None,
    seconds: float | None = None,
    anchor: date | str | None = None,
    at: str | time | None = None,
    tz: str | ZoneInfo | None = None,
    dst: Dst = "cronos",
    months: Words | None = None,
    weeks: Words | None = None,
    window: Window | None = None,
    calendar: Calendar | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    count: int | None = None,
    except_at: Moment | Iterable[Moment] | None = None,
    spread: str | timedelta | None = None,
) -> Every:
    """Return a cadence of evenly spaced times on the wall clock.

    ``every(minutes=10, window=("09:00", "17:00"))`` runs at :00, :10, :20 and so on. The count restarts at
    each local midnight: ``every(minutes=7)`` runs at 23:55 and then at 00:00. For elapsed time see
    :func:`~duetime.cadence.interval`.

    Args:
        days: a number counts days from ``anchor``; weekdays, as in ``"mon-fri"``, are a filter.
        hours: added to ``minutes`` and ``seconds``; at most a day together.
        minutes: see ``hours``.
        seconds: see ``hours``.
        anchor: a date of the cycle, required for more than one day.
        at: the time of day of a number of days, as in ``every(days=3, at="09:00", anchor="2027-01-04")``,
            or several; midnight by default.
        tz: as of :func:`~duetime.cadence.cron`, like the following options.
        dst: the rule for clock changes.
        months: a filter.
        weeks: a filter.
        window: a filter.
        calendar: a filter.
        start: no run is earlier.
        end: no run is later.
        count: the number of runs.
        except_at: times without a run.
        spread: the delays of different jobs.

    Raises:
        InvalidCadence: the length is zero or more than a day of hours, an option is invalid, or the window
            never opens.
    """
    of_days = days if isinstance(days, int | float) else None
    only = None if isinstance(days, int | float) else days
    modifiers = read_modifiers(
        tz=tz,
        dst=dst,
        days=only,
        months=months,
        weeks=weeks,
        window=window,
        calendar=calendar,
        start=start,
        end=end,
        count=count,
        except_at=except_at,
        spread=spread,
    )
    step = duration_of("every", days=of_days, hours=hours, minutes=minutes, seconds=seconds)
    if step > DAY and step % DAY:
        shown = f"every {duration_text(step)}"
        remedy = (
            f"use a day at most, or whole days, or interval(...) for {duration_text(step)} of elapsed time"
        )
        raise InvalidCadence(shown, "every: a wall clock restarts each day", remedy, start=len("every "))
    if at is not None and step < DAY:
        remedy = "leave at out, or use daily(...) for a time of each day"
        raise InvalidCadence(str(at), f"every: {duration_text(step)} has no time of day", remedy)
    _, anchored_on = check_cycle(max(1, step // DAY), anchor, "days", _MOST_DAYS)
    first, later = (0, ()) if at is None else seconds_of_day(at)
    return Every(modifiers=modifiers, step=step, anchor=anchored_on, at=first, later=later)
