"""The base of all cadences: a rule that computes the next due time after an instant.

Cadences are immutable, comparable and hashable values. ``parse`` reads their text back. They read no clock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar

from duetime.cadence.errors import InvalidCadence, NeverFires
from duetime.cadence.modifiers import PLAIN, Modifiers
from duetime.cadence.walk import DAY, NOTHING
from duetime.cadence.words import duration_text
from duetime.cadence.zones import DEPLOYED, FIRST, LAST, Zone, instant_at, seconds_of

if TYPE_CHECKING:
    from duetime.cadence.bounds import Leap, Limits
    from duetime.cadence.eventbridge import WakeExpression

Precision = Literal["second", "minute"]

_HOUR = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence(ABC):
    """A rule for due times.

    Attributes:
        modifiers: the zone, the rule for clock changes, and the filters.
    """

    modifiers: Modifiers = PLAIN
    _limits: Limits | None = field(default=None, init=False, compare=False, repr=False)

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first occurrence strictly after ``instant``, in UTC, or None.

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        found = self._next(seconds_of(instant))
        return None if found == NOTHING else instant_at(found)

    def last_before(self, instant: datetime) -> datetime | None:
        """Return the last occurrence strictly before ``instant``, in UTC, or None.

        Raises:
            NaiveInstant: a datetime without a zone.
            InvalidCadence: an interval without a start has no past.
        """
        end = seconds_of(instant) + bool(instant.microsecond)
        length, until = _HOUR, end - 1
        while not NOTHING < self._next(max(end - length, FIRST), until) <= until:
            if end - length <= FIRST:
                return None
            length, until = 2 * length, end - length
        low, high = max(end - length, FIRST), until - 1
        while low < high:
            middle = (low + high + 1) // 2
            is_later = NOTHING < self._next(middle, until) <= until
            low, high = (middle, high) if is_later else (low, middle - 1)
        return instant_at(self._next(low))

    def matches(self, instant: datetime) -> bool:
        """Return whether there is an occurrence at ``instant``.

        Raises:
            NaiveInstant: a datetime without a zone.
            InvalidCadence: an interval without a start has no fixed times.
        """
        at = seconds_of(instant)
        return not instant.microsecond and self._next(at - 1) == at

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """Yield the occurrences in (start, end], in order and in UTC.

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        at, last = seconds_of(start), seconds_of(end)
        while True:
            at = self._next(at)
            occurrence = instant_at(at)
            if at > last or occurrence is None:
                return
            yield occurrence

    @property
    def tz(self) -> str:
        """The zone in which it is evaluated: its own, else the default, else UTC."""
        return self.modifiers.zone_name

    @property
    def text(self) -> str:
        """The canonical text; ``parse`` returns an equal cadence for it."""
        from duetime.cadence.options import options_text  # noqa: PLC0415 - a planner needs no text

        return self._head() + options_text(self.modifiers)

    @property
    def name(self) -> str:
        """A name of at most 64 letters, digits, ``_``, ``-`` and ``.``, unique to its text.

        A default zone and an interval's start are not part of it, so that neither a setting nor a deploy
        changes it.
        """
        from duetime.cadence.options import options_name, short_name  # noqa: PLC0415 - as above

        return short_name(self._label() + options_name(self.modifiers))

    def describe(self) -> str:
        """Return a description in plain English."""
        from duetime.cadence.options import options_words  # noqa: PLC0415 - as above

        return self._words() + options_words(self.modifiers)

    def with_default_tz(self, name: str) -> Self:
        """Return this cadence, in the given zone if it has none of its own.

        Raises:
            UnknownZone: the IANA database has no such zone.
        """
        return replace(self, modifiers=self.modifiers.with_default_tz(name))

    def check_can_run(self) -> None:
        """Reject a cadence that may never run.

        Raises:
            InvalidCadence: it may never run, or its spread is longer than the time between two runs.
        """
        bounds, calendar = self.modifiers.bounds, self.modifiers.calendar
        longest = self._longest_spread() if bounds else 0
        if bounds is not None and bounds.spread > longest:
            between = "a day" if longest == DAY else f"the {duration_text(longest)} between two runs"
            raise InvalidCadence(
                f"spread={duration_text(bounds.spread)}",
                f"spread: {duration_text(bounds.spread)} is longer than {between}",
                f"use at most {duration_text(longest)}",
            )
        is_known = calendar is None or not calendar.unresolved
        if is_known and self._is_hidden():
            raise NeverFires(
                self.text,
                f"it never fires: the clocks of {self.tz} skip each of its times, and leave no run",
                "choose times that no gap of the clocks hides",
            )
        if is_known and bounds and self._next(FIRST) == NOTHING:
            raise NeverFires(
                self.text, "it never fires: its start, end and except_at leave no run", "widen them"
            )

    def _is_hidden(self) -> bool:
        """Return whether the gaps of the clocks hide each of its times from the years of deployments on."""
        modifiers, calendar = self.modifiers, self.modifiers.calendar
        may_hide = modifiers.narrows or modifiers.dst != "cronos"
        dated = calendar.dated if calendar else None
        # Runs of a calendar's dates may move to the year before.
        begin = (dated[0] - 1_972) * 366 * DAY if dated else DEPLOYED
        return may_hide and self._next_of_all(max(FIRST, min(begin, DEPLOYED))) == NOTHING

    @property
    def counts_business_days(self) -> bool:
        """Whether its days depend on the calendar's business days, beside the excluded ones."""
        return self.modifiers.offset is not None and self.modifiers.offset.is_business

    @property
    def delay(self) -> int:
        """The seconds by which its spread delays each run; 0 without a job, see :meth:`delayed_for`."""
        return self.modifiers.bounds.delay if self.modifiers.bounds else 0

    @property
    def count(self) -> int:
        """The number of runs with which it ends; 0 without one."""
        return self.modifiers.bounds.count if self.modifiers.bounds else 0

    def is_used_up(self, instant: datetime) -> bool:
        """Return whether it would have a time after an instant with a larger count, and has none.

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        return self.next_after(instant) is None and self._bounded(count=0).next_after(instant) is not None

    @property
    def ends_at(self) -> datetime | None:
        """The last instant that its end and its count allow, before the delay; None without them."""
        bounds = self.modifiers.bounds
        if bounds is None or not (bounds.end or bounds.count):
            return None
        return instant_at(self._last_second())

    def delayed_for(self, key: str) -> Self:
        """Return this cadence with the delay of one job, if it has a spread.

        Args:
            key: names the job and its tenant; the delay depends on nothing else.
        """
        bounds = self.modifiers.bounds
        return self._bounded(delay=bounds.delay_of(key)) if bounds is not None and bounds.spread else self

    def counting(self, counted: str) -> Self:
        """Return this cadence with the times that its count, if it has one, had in its job before.

        Args:
            counted: their number, and when the count goes on, as in ``2@2027-01-05T09:30:00Z``.
        """
        number, _, since = counted.partition("@")
        used_until = seconds_of(datetime.fromisoformat(since))
        return self._bounded(used=int(number), used_until=used_until) if self.count else self

    def counted_until(self, instant: datetime) -> int:
        """Return how many times of its count it has had up to an instant, with the excluded ones."""
        bounds = self.modifiers.bounds
        if bounds is None or not bounds.count:
            return 0
        times = self._bounded(except_at=()).between(instant_at(bounds.used_until) or instant, instant)
        return bounds.used + sum(1 for _ in times)

    def _bounded(self, **changes: Any) -> Self:
        """Return this cadence with other values of its bounds."""
        bounds = self.modifiers.bounds and replace(self.modifiers.bounds, **changes)
        return replace(self, modifiers=replace(self.modifiers, bounds=bounds))

    @property
    @abstractmethod
    def precision(self) -> Precision:
        """``minute`` if every occurrence is on a whole minute, else ``second``."""

    @abstractmethod
    def wakes(self) -> tuple[WakeExpression, ...]:
        """Return the EventBridge expressions that wake its planner; see :mod:`duetime.cadence.wakes`."""

    def _last_second(self) -> int:
        """Return the last second that its bounds allow, before the delay."""
        return LAST if self._limits is None else self._limits.last(self._next_of_all)

    def _next(self, at: int, until: int = LAST) -> int:
        """Return as :meth:`next_after`, in seconds since 1970; ``NOTHING`` for None.

        If the first occurrence is after ``until``, the result may be ``NOTHING`` too, and comes sooner.
        """
        limits, search = self._limits, self._next_of_all
        return search(at, until) if limits is None else limits.next_after(search, at, until)

    @abstractmethod
    def _longest_spread(self) -> int:
        """Return the seconds of the shortest time between two runs, a day at most."""

    @abstractmethod
    def _next_of_all(self, at: int, until: int = LAST) -> int:
        """Return as :meth:`_next`, without regard to the bounds."""

    @abstractmethod
    def _head(self) -> str:
        """Return its kind and words, without options."""

    @abstractmethod
    def _label(self) -> str:
        """Return the beginning of its name."""

    @abstractmethod
    def _words(self) -> str:
        """Return its description, without options."""

    def __str__(self) -> str:
        return self.text


P = ParamSpec("P")
C = TypeVar("C", bound=Cadence)


def declared(read: Callable[P, C]) -> Callable[P, C]:
    """Make a function reject cadences that may never run; :func:`read_text` calls what it wraps."""

    @wraps(read)
    def declare(*args: P.args, **kwargs: P.kwargs) -> C:
        cadence = read(*args, **kwargs)
        cadence.check_can_run()
        return cadence

    return declare


def limits_of(
    modifiers: Modifiers, where: Zone, *, needs_start: bool = True, leap: Leap | None = None
) -> Limits | None:
    """Return the limits of a cadence in its zone; None without bounds.

    Raises:
        InvalidCadence: its end is before its start.
    """
    if modifiers.bounds is None:
        return None
    from duetime.cadence.bounds import Limits  # noqa: PLC0415 - few cadences have bounds

    return Limits(modifiers.bounds, where, needs_start=needs_start, leap=leap)


def spreads_seconds(modifiers: Modifiers) -> bool:
    """Return whether a job's delay may be no whole number of minutes."""
    return modifiers.bounds is not None and modifiers.bounds.spread > 0 and modifiers.bounds.unit == 1
