"""From wall-clock times to instants: the one place that knows what a change of the clocks does to an occurrence.

Local time is counted like an instant, in seconds, of a clock that never changes: day number times 86,400 plus second of
the day. Where the clocks jump forward, local times from ``end + offset`` until before ``end + after`` do not exist (a
gap); where they jump back, those from ``end + after`` until before ``end + offset`` come twice (an overlap).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from duetime.cadence.days import FIRST_DAY, NEVER, Days, OneDay
from duetime.cadence.times import DAY, Times

if TYPE_CHECKING:
    from duetime.cadence.zones import OffsetPeriod, Zone

NOTHING = NEVER * DAY
"""No time at all."""

_FAR = 2 * DAY
"""No change of the clocks repeats or skips more than a day, and no offset is more than a day: two days part any effects."""
_ALWAYS = 1 << 40


class DstPolicy(NamedTuple):
    """What becomes of occurrences where the clocks change.

    Attributes:
        moves_up_to: in a gap of at most this many seconds, what fell into it runs once at the gap's end; in a longer one
            it is skipped.
        repeats_from: in an overlap of at least this many seconds, occurrences run in both passes; in a shorter one once.
        in_last_pass: whether *once* means the second pass instead of the first.
    """

    moves_up_to: int
    repeats_from: int
    in_last_pass: bool = False


MOVED_AND_REPEATED = DstPolicy(_ALWAYS, 0)
"""Cronos, of an interval expression."""
MOVED_AND_ONCE = DstPolicy(_ALWAYS, _ALWAYS)
"""Cronos, of fixed times."""
BY_THE_CLOCK = DstPolicy(-1, 0)
"""Vixie cron, of a wildcard expression: whatever the clock on the wall shows."""
WITHIN_THREE_HOURS = DstPolicy(3 * 3_600, 3 * 3_600)
"""Vixie cron, of fixed times: it mends changes of less than three hours and takes longer ones for a new clock."""
SKIPPED_AND_ONCE = DstPolicy(-1, _ALWAYS)
"""EventBridge Scheduler."""
SKIPPED_AND_LAST = DstPolicy(-1, _ALWAYS, in_last_pass=True)
"""EventBridge Scheduler, if it takes the second pass of an overlap; its documentation does not say which."""


class WallSchedule:
    """Days and the times they have: where a cadence stands on a wall clock."""

    __slots__ = ("days", "times")

    def __init__(self, days: Days | OneDay, times: Times) -> None:
        self.days = days
        self.times = times

    def first_from(self, local: int) -> int:
        """The first local time at or after that one, or ``NOTHING``."""
        day, second = divmod(local, DAY)
        found = self.days.first_from(day)
        if found == day:
            time = self.times.first_from(second)
            if time >= 0:
                return day * DAY + time
            found = self.days.first_from(day + 1)
        return NOTHING if found == NEVER else found * DAY + self.times.first_from(0)


def next_after(wall: WallSchedule, zone: Zone, clock: DstPolicy, at: int) -> int:
    """The first instant strictly after ``at`` that the wall clock's times have in that zone, or ``NOTHING``.

    The walk goes from span to span of one offset. It ends: each turn takes a later span, and a time that lies further
    than any change of the clocks can reach is jumped to.
    """
    span = zone.span(at)
    low = _first_open(span, clock, at)
    found = wall.first_from(low)
    while True:
        until = _shown_until(span, clock)
        if NOTHING < found < until:
            return found - span.offset
        if until > low + _FAR:
            if found == NOTHING:
                return NOTHING
            if found > until + 2 * _FAR:
                low, span = found, zone.span(found - _FAR)
                continue
        if until <= found < span.end + span.after and span.after - span.offset <= clock.moves_up_to:
            return span.end
        reopened = _open_again(span, clock, low, found)
        if reopened is not None:
            low = reopened
            found = wall.first_from(low)
        span = zone.span(span.end)


def _first_open(span: OffsetPeriod, clock: DstPolicy, at: int) -> int:
    """The first local time after ``at`` that may run in this span: a second pass is shut to what runs once."""
    low = at + span.offset + 1
    back = span.before - span.offset
    if 0 < back < clock.repeats_from and not clock.in_last_pass:
        low = max(low, span.start + span.before)
    return max(low, FIRST_DAY * DAY)


def _shown_until(span: OffsetPeriod, clock: DstPolicy) -> int:
    """The local time at which this span stops running things: where the clocks change, or where a last pass begins."""
    if clock.in_last_pass and 0 < span.offset - span.after < clock.repeats_from:
        return span.end + span.after
    return span.end + span.offset


def _open_again(span: OffsetPeriod, clock: DstPolicy, low: int, found: int) -> int | None:
    """Where in local time the search must go on in the next span, or None where it stands right already."""
    resumes = span.end + span.after
    if span.after > span.offset:
        return resumes if NOTHING < found < resumes else None
    back = span.offset - span.after
    if back and resumes < low and (clock.in_last_pass or back >= clock.repeats_from):
        return resumes
    return None
