"""``daily(...)``, and the base of all cadences of days at fixed times; ``once(...)``: a single local time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import ClassVar, Unpack
from zoneinfo import ZoneInfo

from duetime.cadence.cadence import declared
from duetime.cadence.days import ALL_WEEKDAYS, Cycle, DayFields, OneDay
from duetime.cadence.errors import InvalidCadence, NeverFires
from duetime.cadence.modifiers import CadenceOptions, Dst, read_modifiers
from duetime.cadence.walk import DAY, WallSchedule, at_time, at_times
from duetime.cadence.wall_cadence import WallCadence, build_wall_schedule
from duetime.cadence.words import BLANKS, clock_text, listed, seconds_of_day
from duetime.cadence.zones import instant_at, seconds_of


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Once(WallCadence):
    """One local time.

    Attributes:
        local: seconds from 1970-01-01 00:00 on the wall clock.
    """

    local: int

    def check_can_run(self) -> None:
        before = instant_at(self.local - 2 * DAY)
        if before is not None and self.next_after(before) is None:
            raise NeverFires(
                self.text,
                f"once: {self._shown('T')} does not exist in {self.tz}, and dst=eventbridge skips it",
                "choose another time, or another rule for clock changes",
            )

    def _built(self) -> WallSchedule:
        day, second = divmod(self.local, DAY)
        return WallSchedule(OneDay(day), at_time(second))

    def _shown(self, separator: str) -> str:
        local = instant_at(self.local)
        return ("" if local is None else local.replace(tzinfo=None).isoformat(separator)).removesuffix(":00")

    def _head(self) -> str:
        return f"once {self._shown('T')}"

    def _label(self) -> str:
        return f"Once_{self._shown('_').replace(':', '_')}"

    def _words(self) -> str:
        return f"once, at {self._shown(' ')}"


@declared
def once(at: str | datetime, *, tz: str | ZoneInfo | None = None, dst: Dst = "cronos") -> Once:
    """Return a cadence of a single time, as in ``once("2027-06-01 09:00", tz="Europe/Paris")``.

    Args:
        at: a local date and time, as text or a naive ``datetime``. An aware ``datetime``, or a text with
            ``Z`` or an offset, is an instant and takes no ``tz``.
        tz: the IANA zone of a local time; by default the app's zone, else UTC.
        dst: as of :func:`~duetime.cadence.cron`; the default runs a time skipped by a gap at the gap's end.

    Raises:
        InvalidCadence: no such date or time, a fraction of a second, or an instant together with ``tz``;
            :class:`NeverFires` if a clock change skips it.
    """
    shown = str(at)
    try:
        when = datetime.fromisoformat(at.strip(BLANKS)) if isinstance(at, str) else at
    except ValueError:
        when = None
    if not isinstance(when, datetime) or (isinstance(at, str) and ":" not in at):
        raise InvalidCadence(shown, "once: no such date and time", "write it as in 2027-06-01 09:00")
    if when.microsecond:
        raise InvalidCadence(shown, "once: a fraction of a second", "give whole seconds")
    if when.utcoffset() is not None:
        if tz is not None:
            raise InvalidCadence(
                shown, "once: an instant has its zone already", "leave tz out, or the offset"
            )
        return Once(modifiers=read_modifiers(tz="UTC", dst=dst), local=seconds_of(when))
    return Once(modifiers=read_modifiers(tz=tz, dst=dst), local=seconds_of(when.replace(tzinfo=UTC)))
