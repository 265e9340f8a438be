"""Durations such as ``2h30m``, and instants to the second with their distance from now. Pure."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_WRITTEN = re.compile(
    r"(?:([0-9]{1,6})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,6})?)s)?", re.ASCII
)
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))
# A unit is used from this number on: 90 minutes is more precise than 1 hour.
_UNTIL = 2


_A_DAY = 86_400


def positive_seconds(written: str) -> float:
    """Parse a number of seconds, more than 0 and at most a day.

    Raises:
        ValueError: it is not such a number.
    """
    try:
        seconds = float(written)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= _A_DAY:
        raise ValueError(f"{written[:40]!r} is not a number of seconds up to {_A_DAY}; write one such as 60")
    return seconds


def span(length: timedelta) -> str:
    """Return a duration as ``200 ms``, ``1.3 s``, ``3 s``, ``5 min``, ``2 h`` or ``3 d``."""
    seconds = abs(length).total_seconds()
    for name, size in _UNITS:
        if seconds >= _UNTIL * size:
            return f"{seconds / size:.0f} {name}"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < _UNTIL else f"{seconds:.0f} s"


def relative(instant: datetime, now: datetime) -> str:
    """Return ``in 3 s``, ``2 min ago`` or ``now``."""
    ahead = instant - now
    if abs(ahead) < timedelta(seconds=0.5):
        return "now"
    return f"in {span(ahead)}" if ahead > timedelta(0) else f"{span(ahead)} ago"


def to_second(instant: datetime) -> str:
    """Return ``2027-06-01T07:00:00Z``."""
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"


def both(written: str | None, now: datetime) -> str:
    """Return ``2027-06-01T07:00:00Z (in 3 s)``, or a dash without an instant."""
    if written is None:
        return "-"
    instant = datetime.fromisoformat(written)
    return f"{to_second(instant)} ({relative(instant, now)})"


def local(written: str | None, now: datetime) -> str:
    """Return ``Mon 2027-06-07 09:00:00 +02:00 (in 3 s)`` in this machine's zone, or a dash."""
    if written is None:
        return "-"
    instant = datetime.fromisoformat(written).astimezone()
    offset = f"{instant:%z}"
    return f"{instant:%a %Y-%m-%d %H:%M:%S} {offset[:3]}:{offset[3:5]} ({relative(instant, now)})"


def duration(written: str) -> timedelta:
    """Read days, hours, minutes and seconds, in this order; each may be left out, not all.

    Raises:
        ValueError: it has another form.
    """
    found = _WRITTEN.fullmatch(written)
    if found is None or not written:
        raise ValueError(f"{written[:40]!r} is not a duration; write one such as 3s, 5m, 2h30m or 1d")
    days, hours, minutes, seconds = (float(group or 0) for group in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
