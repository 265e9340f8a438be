"""The first few occurrences of a cadence, as text."""

from __future__ import annotations

from datetime import UTC, datetime

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
"""A Thursday."""


def few(cadence, count=4, after=NOON, shown="%m-%d %H:%M"):
    found = []
    while len(found) < count and (after := cadence.next_after(after)) is not None:
        found.append(after.strftime(shown))
    return found
