"""Effects of clock changes on occurrences: moved, skipped, doubled, or run once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from duetime.cadence.cadence import Cadence
from duetime.cadence.walk import NOTHING
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.words import clock_text
from duetime.cadence.zones import DAY, EPOCH, instant_at, seconds_of, zone

Mark = Literal["moved", "skipped", "doubled", "once"]


@dataclass(frozen=True, slots=True)
class LocalOccurrence:
    """One occurrence, or one gap that skipped some.

    Attributes:
        at: the instant, in UTC; None for occurrences skipped by a gap.
        local: the local time, or the skipped one, without a zone.
        offset: seconds of local time ahead of UTC.
        mark: the effect of a clock change; None without one.
        words: the effect as a sentence; empty without one.
    """

    at: datetime | None
    local: datetime
    offset: int
    mark: Mark | None = None
    words: str = ""


def local_occurrences(
    cadence: Cadence, start: datetime, until: datetime | None = None
) -> Iterator[LocalOccurrence]:
    """Yield the occurrences in (start, until], each with the effect of a clock change.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    at = seconds_of(start)
    last = None if until is None else seconds_of(until)
    while True:
        found = seconds_of(occurrence) if (occurrence := cadence.next_after(_instant(at))) else None
        ends = min((second for second in (found, last) if second is not None), default=at)
        if isinstance(cadence, WallCadence):
            yield from _skipped(cadence, at, ends)
        if found is None or (last is not None and found > last):
            return
        at, where = found, zone(cadence.tz)
        mark, words = _mark(cadence, at - cadence.delay) if isinstance(cadence, WallCadence) else (None, "")
        offset = where.span(at).offset
        yield LocalOccurrence(_instant(at), _local(at + offset), offset, mark, words)


def _mark(cadence: WallCadence, at: int) -> tuple[Mark | None, str]:
    """Return the effect of a clock change on the time at ``at``, before the delay of a spread."""
    span = zone(cadence.tz).span(at)
    if at == span.start and span.before < span.offset:
        missing = _in_gap(cadence, at + span.before, at + span.offset)
        if missing and span.offset - span.before <= cadence.clock.moves_up_to:
            return (
                "moved",
                f"moved: {_gap_words(missing, at + span.offset)}",
            )
    if at < span.start + span.before - span.offset:
        return "doubled", f"doubled: {_clock(at + span.offset)} came twice, this is the second pass"
    if at + span.offset >= span.end + span.after and span.after < span.offset:
        shown = _clock(at + span.offset)
        if span.offset - span.after >= cadence.clock.repeats_from:
            return "doubled", f"doubled: {shown} comes twice, this is the first pass"
        return "once", f"once: {shown} comes twice, and only the first pass runs"
    return None, ""


def _skipped(cadence: WallCadence, after: int, before: int) -> Iterator[LocalOccurrence]:
    """Yield the gaps in (after, before] whose occurrences the cadence's clock rule skips."""
    where = zone(cadence.tz)
    span = where.span(after)
    while span.end <= before:
        jump = span.after - span.offset
        missing = (
            _in_gap(cadence, span.end + span.offset, span.end + span.after)
            if jump > cadence.clock.moves_up_to
            else []
        )
        if missing and jump > 0 and cadence.is_within(span.end):
            words = f"skipped: {_gap_words(missing, span.end + span.after)}"
            yield LocalOccurrence(None, _local(missing[0]), span.offset, "skipped", words)
        span = where.span(span.end)


def _in_gap(cadence: WallCadence, opens: int, ends: int) -> list[int]:
    found = []
    at = cadence.wall.first_from(opens)
    while at != NOTHING and at < ends:
        found.append(at)
        at = cadence.wall.first_from(at + 1)
    return found


def _gap_words(missing: list[int], end: int) -> str:
    shown = [_clock(at) for at in missing]
    times = shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]} ({len(shown)} times)"
    return f"{times} did not exist, the clocks went forward to {_clock(end)}"


def _clock(local: int) -> str:
    return clock_text(local % DAY)


def _instant(at: int) -> datetime:
    return instant_at(at) or EPOCH


def _local(local: int) -> datetime:
    return _instant(local).replace(tzinfo=None)
