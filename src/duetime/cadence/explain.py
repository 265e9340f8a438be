"""What changes of the clocks did to occurrences, in words: moved, skipped, doubled, or once though the hour came twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from duetime.cadence.cadence import Cadence, WallCadence
from duetime.cadence.walk import NOTHING
from duetime.cadence.words import clock_text
from duetime.cadence.zones import DAY, EPOCH, instant_at, seconds_of, zone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duetime.cadence.zones import OffsetPeriod

Mark = Literal["moved", "skipped", "doubled", "once"]


@dataclass(frozen=True, slots=True)
class Explained:
    """One occurrence, or one gap that swallowed some.

    Attributes:
        at: the instant, in UTC; None for occurrences that a gap swallowed.
        local: what the wall clock shows then, or would have shown, without a zone.
        offset: seconds that this local time is ahead of UTC.
        mark: what a change of the clocks did to it, if anything.
        words: the mark as a sentence; empty without one.
    """

    at: datetime | None
    local: datetime
    offset: int
    mark: Mark | None = None
    words: str = ""


def explained(cadence: Cadence, start: datetime, until: datetime | None = None) -> Iterator[Explained]:
    """The occurrences in (start, until], each with what a change of the clocks did to it; endless where the cadence is.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    at = seconds_of(start)
    last = None if until is None else seconds_of(until)
    while True:
        found = seconds_of(occurrence) if (occurrence := cadence.next_after(_instant(at))) else None
        ends = min((second for second in (found, last) if second is not None), default=at)
        if isinstance(cadence, WallCadence):
            yield from _swallowed(cadence, at, ends)
        if found is None or (last is not None and found > last):
            return
        yield _occurrence(cadence, found)
        at = found


def _occurrence(cadence: Cadence, at: int) -> Explained:
    span = zone(cadence.tz).span(at)
    mark, words = _mark(cadence, span, at) if isinstance(cadence, WallCadence) else (None, "")
    return Explained(_instant(at), _local(at + span.offset), span.offset, mark, words)


def _mark(cadence: WallCadence, span: OffsetPeriod, at: int) -> tuple[Mark | None, str]:
    if at == span.start and span.before < span.offset:
        missing = _in_gap(cadence, at + span.before, at + span.offset)
        if missing and span.offset - span.before <= cadence.clock.moves_up_to:
            return (
                "moved",
                f"moved: {_times(missing)} did not exist, the clocks went forward to {_clock(at + span.offset)}",
            )
    if at < span.start + span.before - span.offset:
        return "doubled", f"doubled: {_clock(at + span.offset)} came twice, this is the second pass"
    if at + span.offset >= span.end + span.after and span.after < span.offset:
        shown = _clock(at + span.offset)
        if span.offset - span.after >= cadence.clock.repeats_from:
            return "doubled", f"doubled: {shown} comes twice, this is the first pass"
        return "once", f"once: {shown} comes twice, and only the first pass runs"
    return None, ""


def _swallowed(cadence: WallCadence, after: int, before: int) -> Iterator[Explained]:
    """The gaps in (after, before] whose occurrences the cadence's clock rule skips."""
    where = zone(cadence.tz)
    span = where.span(after)
    while span.end <= before:
        jump = span.after - span.offset
        missing = (
            _in_gap(cadence, span.end + span.offset, span.end + span.after)
            if jump > cadence.clock.moves_up_to
            else []
        )
        if missing and jump > 0:
            words = f"skipped: {_times(missing)} did not exist, the clocks went forward to {_clock(span.end + span.after)}"
            yield Explained(None, _local(missing[0]), span.offset, "skipped", words)
        span = where.span(span.end)


def _in_gap(cadence: WallCadence, opens: int, ends: int) -> list[int]:
    """The local times in [opens, ends) that the cadence would have had."""
    found = []
    at = cadence.wall.first_from(opens)
    while at != NOTHING and at < ends:
        found.append(at)
        at = cadence.wall.first_from(at + 1)
    return found


def _times(local: list[int]) -> str:
    shown = [_clock(at) for at in local]
    return shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]} ({len(shown)} times)"


def _clock(local: int) -> str:
    return clock_text(local % DAY)


def _instant(at: int) -> datetime:
    return instant_at(at) or EPOCH


def _local(local: int) -> datetime:
    return _instant(local).replace(tzinfo=None)
