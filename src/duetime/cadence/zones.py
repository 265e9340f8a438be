"""Time zones as periods of one offset, in whole seconds since 1970.

``zoneinfo`` returns the offset at an instant, but not its next change. So the changes are searched: probe
every few days, then bisect between two probes that differ. In the IANA database, two changes of one zone are
at least 3.9 days apart (Africa/Freetown, September 1939; since then 6.9); a test checks every zone. Results
are cached in pieces of half a year.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from duetime.cadence.errors import NaiveInstant, UnknownZone

DAY = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = -62_135_596_800
"""0001-01-01T00:00:00Z: no instant is earlier."""
LAST = 253_402_300_799
"""9999-12-31T23:59:59Z: no instant is later."""
DEPLOYED = 1_767_225_600
"""2026-01-01T00:00:00Z: no job is deployed earlier."""

_PIECE_BITS = 24
PROBE_EVERY = 3 * DAY
"""Seconds from one probe of a zone's offset to the next, until 1940."""
_SETTLED = -946_771_200

NOT_ZONES = ("localtime", "posixrules", "Factory")
OTHER_CLOCKS = ("posix/", "right/")


class OffsetPeriod(NamedTuple):
    """A period, in seconds since 1970 (UTC), in which local time is UTC plus ``offset`` seconds.

    It includes ``start`` and excludes ``end``.

    ``before`` and ``after`` are the offsets of the neighbours; one that equals ``offset`` means no change.
    """

    start: int
    end: int
    offset: int
    before: int
    after: int


class Zone:
    """One zone's periods, computed on demand. Safe to share between threads."""

    def __init__(self, name: str, tzinfo: tzinfo) -> None:
        self.name = name
        self._tzinfo = tzinfo
        self._pieces: dict[int, tuple[OffsetPeriod, ...]] = {}

    def span(self, at: int) -> OffsetPeriod:
        """Return the period of the instant ``at``."""
        spans = self._pieces.get(at >> _PIECE_BITS)
        if spans is None:
            spans = self._pieces[at >> _PIECE_BITS] = self._find(at >> _PIECE_BITS)
        for span in spans:
            if at < span.end:
                return span
        raise AssertionError(at)  # the last span of a piece ends where the piece ends

    def offset(self, at: int) -> int:
        """Return the seconds of local time ahead of UTC at ``at``; outside the calendar, as at its edge."""
        ahead = datetime.fromtimestamp(
            min(max(at, FIRST + 2 * DAY), LAST - 2 * DAY), self._tzinfo
        ).utcoffset()
        return 0 if ahead is None else ahead.days * DAY + ahead.seconds

    def _find(self, piece: int) -> tuple[OffsetPeriod, ...]:
        start, end = piece << _PIECE_BITS, (piece + 1) << _PIECE_BITS
        edges, offsets = [start], [self.offset(start - 1), self.offset(start)]
        every = PROBE_EVERY if start < _SETTLED else 2 * PROBE_EVERY
        for low in range(start, end, every):
            high = min(low + every, end)
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
        """Return the first second in [low, high) whose offset is not ``old``."""
        while low < high:
            middle = (low + high) // 2
            if self.offset(middle) == old:
                low = middle + 1
            else:
                high = middle
        return low


class _Fixed(Zone):
    def __init__(self) -> None:
        super().__init__("UTC", UTC)
        self._span = OffsetPeriod(FIRST - DAY, LAST + DAY * 366, 0, 0, 0)

    def span(self, at: int) -> OffsetPeriod:
        del at
        return self._span


@cache
def zone(name: str) -> Zone:
    """Return the zone of an IANA name, always the same object.

    Raises:
        UnknownZone: the IANA database has no such zone.
    """
    if not isinstance(name, str):
        raise UnknownZone(str(name), f"{name!r} is no IANA time zone", "name one, as in Europe/Paris")
    if name in ("UTC", "Etc/UTC"):
        return _Fixed()
    if name in NOT_ZONES or name.startswith(OTHER_CLOCKS):
        raise UnknownZone(name, f"{name!r} is no IANA time zone", "name one, as in Europe/Paris")
    try:
        return Zone(name, ZoneInfo(name))
    except (KeyError, ValueError, OSError):
        raise UnknownZone(name, f"there is no time zone {name[:60]!r}", _nearest(name)) from None


def seconds_of(instant: datetime) -> int:
    """Return the whole seconds since 1970 of an aware instant, without its fraction.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    try:
        since = instant - EPOCH
    except TypeError:
        raise NaiveInstant(instant) from None
    return since.days * DAY + since.seconds


def instant_at(at: int) -> datetime | None:
    """Return the instant, in UTC, of seconds since 1970; None outside the calendar, which ends with 9999."""
    return EPOCH + timedelta(seconds=at) if FIRST <= at <= LAST else None


def _nearest(name: str) -> str:
    from duetime.cadence.zone_names import zone_remedy  # noqa: PLC0415 - only needed for mistakes

    return zone_remedy(name, _zones())


@cache
def _zones() -> AbstractSet[str]:
    """Return the names that `zone` accepts, after one search of the database's files."""
    from zoneinfo import available_timezones  # noqa: PLC0415 - as above

    return {
        zone for zone in available_timezones() if zone not in NOT_ZONES and not zone.startswith(OTHER_CLOCKS)
    }
