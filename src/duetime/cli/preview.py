"""``duetime preview``: shows when a cadence is due, and the effects of changes of the clocks."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from duetime import cadence as cadences
from duetime.cadence import Cadence, LocalOccurrence, Preview
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_either
from duetime.cli.tables import table
from duetime.clock import SystemClock

_COUNT, _MOST = 10, 10_000


def run(args: argparse.Namespace) -> int:
    """Print the preview.

    Raises:
        BadUsage: the cadence or a time is invalid.
    """
    try:
        preview = _preview_of(args)
        if args.written_as:
            print(_translated(preview, args))
            return 0
    except cadences.InvalidCadence as refused:
        raise BadUsage(str(refused)) from None
    return print_either(args, _as_json(preview), lambda: _as_table(preview))


def _translated(preview: Preview, args: argparse.Namespace) -> str:
    """Return the cadence in the language of ``--as``."""
    if args.written_as == "systemd":
        return cadences.to_systemd(preview.cadence)
    cadence = preview.cadence
    start = SystemClock().now() if args.start is None else _instant(args.start, "--from", cadence.tz)
    return cadences.to_rrule(cadence, start=start)


def _read(args: argparse.Namespace) -> Cadence:
    """Read the cadence, in the language of ``--in``."""
    modifiers = {"day_rule": args.day_rule, "dst": args.dst}
    written = [f"{name}={value}" for name, value in modifiers.items() if value]
    if args.read_as is None:
        return cadences.parse(" ".join([*args.cadence, *written]))
    read = cadences.from_rrule if args.read_as == "rrule" else cadences.from_systemd
    return cadences.parse(" ".join([read(args.cadence[0]).text, *written]))


def _preview_of(args: argparse.Namespace) -> Preview:
    if len(args.cadence) > 1:
        raise BadUsage(
            f"preview takes one cadence, and there are {len(args.cadence)} words; put it into quotes, since"
            ' the shell replaces * by the names of files: duetime preview "0 3 * * *"'
        )
    cadence = _read(args)
    if args.tz:
        cadence = cadence.with_default_tz(args.tz)
    start = SystemClock().now() if args.start is None else _instant(args.start, "--from", cadence.tz)
    until = None if args.until is None else _instant(args.until, "--until", cadence.tz)
    if until is not None and until <= start:
        raise cadences.InvalidCadence(
            f"--until {args.until}",
            "--until is not after --from" if args.start else "--until is in the past",
            "give a later time",
            start=len("--until "),
        )
    if args.count is not None and not 1 <= args.count <= _MOST:
        raise cadences.InvalidCadence(
            f"--count {args.count}", "--count is out of range", f"use 1-{_MOST}", start=len("--count ")
        )
    included = start if args.start is None else start - timedelta(microseconds=1)
    # The notes are those of the declaration, and an interval without a start counts from the preview's.
    begun = (
        cadence.starting(start)
        if isinstance(cadence, cadences.Interval) and cadence.start is None
        else cadence
    )
    shown = _shown_rows(begun, included, until, args.count or (_COUNT if until is None else _MOST))
    return cadences.Preview.from_occurrences(cadence, shown, included, until)


def _shown_rows(
    cadence: Cadence, start: datetime, until: datetime | None, count: int
) -> Iterator[LocalOccurrence]:
    """Yield at most `count` occurrences, and the DST gaps between them."""
    for row in cadences.local_occurrences(cadence, start, until):
        if count == 0 and row.at is not None:
            return
        count -= row.at is not None
        yield row


def _instant(text: str, option: str, tz: str) -> datetime:
    """Parse an instant; without an offset it is local to the cadence's zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        remedy = "use 2026-03-27, 2026-03-27T02:30 or 2026-03-27T01:30Z"
        raise cadences.InvalidCadence(
            f"{option} {text}", f"{option}: no such time", remedy, start=len(option) + 1
        ) from None
    return (when if when.tzinfo is not None else when.replace(tzinfo=ZoneInfo(tz))).astimezone(UTC)


def _as_json(preview: Preview) -> dict[str, object]:
    cadence = preview.cadence
    return {
        "cadence": cadence.text,
        "name": cadence.name,
        "description": cadence.describe(),
        "tz": cadence.tz,
        "occurrences": [row_as_json(row) for row in preview.occurrences],
        "wakes": [{"expression": wake.expression, "tz": wake.tz} for wake in cadence.wakes()],
        "disagreements": preview.disagreements,
        "second_opinion": preview.second_opinion,
        "changes": [row_as_json(row) for row in preview.changes],
        "notes": preview.notes,
    }


def row_as_json(row: LocalOccurrence) -> dict[str, object]:
    """Return an occurrence, or a gap of the clocks, as JSON."""
    return {
        "at": None if row.at is None else _zulu(row.at),
        "local": local_text(row),
        "mark": row.mark,
        "note": row.words,
    }


def _as_table(preview: Preview) -> str:
    cadence = preview.cadence
    rows = [(_shown(row), "-" if row.at is None else _zulu(row.at), row.words) for row in preview.occurrences]
    lines = [
        *_folded([f"{cadence.name}: {cadence.describe()}"]),
        "",
        table((f"local ({cadence.tz})", "UTC", ""), rows) if rows else _nothing(preview),
    ]
    return "\n".join([*lines, *_notes_of(preview)])


def _notes_of(preview: Preview) -> Iterator[str]:
    """Yield later changes of the clocks, notes, and disagreements with croniter."""
    if preview.changes:
        yield ""
        yield "changes of the clocks ahead:"
        yield from (f"{_shown(row)}  {row.words}" for row in preview.changes)
    notes = [f"note: {note}" for note in preview.notes]
    notes += [f"croniter disagrees: {disagreement}" for disagreement in preview.disagreements]
    if preview.second_opinion:
        notes.append(f"second opinion: {preview.second_opinion}")
    yield from ["", *_folded(notes)] if notes else ()


def _folded(sentences: list[str]) -> Iterator[str]:
    """Yield the lines of sentences that fit the terminal, elsewhere 80 columns."""
    width = shutil.get_terminal_size().columns
    for sentence in sentences:
        yield from textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False)


def _nothing(preview: Preview) -> str:
    if not preview.cadence.wakes() and not isinstance(preview.cadence, cadences.Interval):
        return "no time makes it due"
    return "no occurrence in that time" if preview.until else "no occurrence any more"


def _shown(row: LocalOccurrence) -> str:
    return f"{row.local:%a %Y-%m-%d %H:%M:%S} {_offset(row.offset)}"


def local_text(row: LocalOccurrence) -> str:
    """Return the local time of an occurrence with its offset."""
    return f"{row.local.isoformat()}{_offset(row.offset)}"


def _offset(seconds: int) -> str:
    sign, ahead = "-" if seconds < 0 else "+", abs(seconds)
    text = f"{sign}{ahead // 3_600:02}:{ahead // 60 % 60:02}"
    return f"{text}:{ahead % 60:02}" if ahead % 60 else text


def _zulu(instant: datetime) -> str:
    return instant.replace(tzinfo=None).isoformat() + "Z"
