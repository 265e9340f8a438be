"""Time zones as spans of one offset, in whole seconds since 1970.

``zoneinfo`` answers what the offset is at an instant, not when it next changes, so the changes are searched: probe
every few days, halve the interval where two probes differ. In the IANA database no two changes of one zone lie closer
than 3.9 days (Africa/Freetown, September 1939; since then 6.9), and a test holds every zone to that. What was found is
kept, in pieces of half a year, so a cadence that walks through time asks ``zoneinfo`` nothing twice.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from duetime.cadence.errors import NaiveInstant, UnknownZone, nearest

if TYPE_CHECKING:
    from datetime import tzinfo

DAY = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = -62_135_596_800
"""0001-01-01T00:00:00Z: no instant is earlier."""
LAST = 253_402_300_799
"""9999-12-31T23:59:59Z: no instant is later."""

_PIECE_BITS = 24
PROBE_EVERY = 3 * DAY
"""Seconds from one probe of a zone's offset to the next."""

_NOT_ZONES = ("localtime", "posixrules", "Factory")
_OTHER_CLOCKS = ("posix/", "right/")


class OffsetPeriod(NamedTuple):
    """From ``start`` until before ``end`` (seconds since 1970, UTC) local time is UTC plus ``offset`` seconds.

    ``before`` and ``after`` are the offsets of the neighbours; where one equals ``offset`` nothing changes there.
    """

    start: int
    end: int
    offset: int
    before: int
    after: int


class Zone:
    """One zone's spans, found as they are asked for. Safe to share between threads: a lost race finds the same again."""

    __slots__ = ("_pieces", "_tzinfo", "name")

    def __init__(self, name: str, tzinfo: tzinfo) -> None:
        self.name = name
        self._tzinfo = tzinfo
        self._pieces: dict[int, tuple[OffsetPeriod, ...]] = {}

    def span(self, at: int) -> OffsetPeriod:
        """The span that holds the instant ``at``."""
        spans = self._pieces.get(at >> _PIECE_BITS)
        if spans is None:
            spans = self._pieces[at >> _PIECE_BITS] = self._find(at >> _PIECE_BITS)
        for span in spans:
            if at < span.end:
                return span
        raise AssertionError(at)  # the last span of a piece ends where the piece ends

    def offset(self, at: int) -> int:
        """Seconds that local time is ahead of UTC at the instant ``at``; beyond the calendar, as at its edge."""
        moment = EPOCH + timedelta(seconds=min(max(at, FIRST + 2 * DAY), LAST - 2 * DAY))
        ahead = moment.astimezone(self._tzinfo).utcoffset()
        return 0 if ahead is None else ahead.days * DAY + ahead.seconds

    def _find(self, piece: int) -> tuple[OffsetPeriod, ...]:
        start, end = piece << _PIECE_BITS, (piece + 1) << _PIECE_BITS
        edges, offsets = [start], [self.offset(start - 1), self.offset(start)]
        for low in range(start, end, PROBE_EVERY):
            high = min(low + PROBE_EVERY, end)
            if self.offset(high - 1) != offsets[-1]:
                edges.append(self._change(offsets[-1], low, high))
                offsets.append(self.offset(high - 1))
        edges.append(end)
        offsets.append(self.offset(end))
        return tuple(
            OffsetPeriod(edges[n], edges[n + 1], offsets[n + 1], offsets[n], offsets[n + 2])
            for n in range(len(edges) - 1)
        )

    def _change(self, old: int, low: int, high: int) -> int:
        """The first second in [low, high) whose offset is no longer ``old``."""
        while low < high:
            middle = (low + high) // 2
            if self.offset(middle) == old:
                low = middle + 1
            else:
                high = middle
        return low


class _Fixed(Zone):
    """A zone that never changes: UTC."""

    __slots__ = ("_span",)

    def __init__(self) -> None:
        super().__init__("UTC", UTC)
        self._span = OffsetPeriod(FIRST - DAY, LAST + DAY * 366, 0, 0, 0)

    def span(self, at: int) -> OffsetPeriod:
        del at
        return self._span


@cache
def zone(name: str) -> Zone:
    """The zone of that IANA name, always the same object.

    Raises:
        UnknownZone: there is none of that name.
    """
    if name in ("UTC", "Etc/UTC"):
        return _Fixed()
    if name in _NOT_ZONES or name.startswith(_OTHER_CLOCKS):
        raise UnknownZone(name, f"{name!r} is no IANA time zone", "name one, as in Europe/Paris")
    try:
        return Zone(name, ZoneInfo(name))
    except (KeyError, ValueError, OSError):
        raise UnknownZone(name, f"there is no time zone {name[:60]!r}", _nearest(name)) from None


def seconds_of(instant: datetime) -> int:
    """Whole seconds since 1970 of an aware instant, its fraction dropped.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    try:
        since = instant - EPOCH
    except TypeError:
        raise NaiveInstant(instant) from None
    return since.days * DAY + since.seconds


def instant_at(at: int) -> datetime | None:
    """The instant, in UTC, that lies so many seconds after 1970; None outside the calendar, which ends with 9999."""
    return EPOCH + timedelta(seconds=at) if FIRST <= at <= LAST else None


def _nearest(name: str) -> str:
    from zoneinfo import available_timezones  # noqa: PLC0415 - only a mistake needs it

    zones = available_timezones()
    city = [each for each in zones if each.rpartition("/")[2].lower() == name.lower().replace(" ", "_")]
    if city:
        return f"did you mean {min(city)}?"
    return nearest(name, zones) or "use an IANA name, as in Europe/Paris"
