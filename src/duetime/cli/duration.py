"""Durations as people write them: ``3s``, ``5m``, ``2h30m``, ``1d``."""

from __future__ import annotations

import re
from datetime import timedelta

_WRITTEN = re.compile(
    r"(?:([0-9]{1,6})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,6})?)s)?", re.ASCII
)


def duration(written: str) -> timedelta:
    """Read days, hours, minutes and seconds, in this order; each may be left out, not all.

    Raises:
        ValueError: it has another form.
    """
    found = _WRITTEN.fullmatch(written)
    if found is None or not written:
        raise ValueError(f"{written[:40]!r} is no duration; write one such as 3s, 5m, 2h30m or 1d")
    days, hours, minutes, seconds = (float(group or 0) for group in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
