"""Tables, facts and words in their colours; durations and instants. rich draws, and is imported then."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import Formatter
from typing import Any, TypeAlias

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


_STYLES: Mapping[str, str] = {
    "pending": "cyan",
    "processing": "yellow",
    "running": "yellow",
    "executed": "green",
    "failed": "red",
    "lost": "red",
    "retry": "magenta",
    "cancelled": "dim",
    "skipped": "dim",
    "missed": "red",
    "upcoming": "cyan",
    "enabled": "green",
    "paused": "yellow",
    "disabled": "dim",
    "ok": "green",
    "look": "yellow",
    "ill": "red",
}
# A column of sentences is folded to so many characters before another column is left out, and to fewer
# before a column of words is folded.
_NARROW, _NARROWEST = 16, 10
# A sentence has more than so many characters beside its longest word.
_SHORT = 5
_GAP = 2
# An instant with its distance from now, in UTC or on this machine's clock, and what a narrow table shows.
_TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(([^()]+)\)"), r"\1"),
    (re.compile(r"\b(\w{3} )\d{4}-(\d\d-\d\d \d\d:\d\d):\d\d [+-]\d\d:\d\d \([^()]+\)"), r"\1\2"),
)
_BAR = 30
_SHOWN = 50
"""The rows of a section."""


def plain(text: object) -> str:
    """Return the text on one line, without control characters: an exception of a handler may contain some."""
    return "".join(character if character.isprintable() else " " for character in str(text))


def plain_lines(text: object) -> str:
    """Return the text like `plain`, but start a new line before each indented line, as a caret needs."""
    first, *others = str(text).split("\n    ")
    return "\n    ".join([plain(first), *map(plain, others)])


def has_caret(text: object) -> bool:
    """Return whether the text ends with the rejected input and carets below it."""
    lines = str(text).split("\n    ")
    return len(lines) > 2 and not lines[-1].strip(" ^")  # noqa: PLR2004 - the message, the input, the carets


def coloured(word: str, padded: str | None = None) -> str:
    """Return a status or an outcome, in its colour if the output is a terminal with colours."""
    text = padded or word
    if word not in _STYLES or not has_colours():
        return text
    from rich.color import ColorSystem  # noqa: PLC0415 - `duetime --help` needs no rich
    from rich.style import Style  # noqa: PLC0415 - as above

    return Style.parse(_STYLES[word]).render(text, color_system=ColorSystem.STANDARD)


def has_colours() -> bool:
    """Return whether standard output is a terminal and ``NO_COLOR`` is not set."""
    if not sys.stdout.isatty():
        return False
    from duetime.environment import CommandLine  # noqa: PLC0415 - `duetime --help` needs no settings

    return not CommandLine.from_env().no_colour


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[str] = ()) -> str:
    """Return rows in columns, two spaces apart, that fit the width of the terminal; elsewhere 80 characters.

    A table that is too wide writes instants short. If that does not suffice, it leaves columns out, first the
    first of `least`, and then folds sentences. ``COLUMNS`` sets another width.
    """
    width, cells = shutil.get_terminal_size().columns, [[plain(cell) for cell in row] for row in rows]
    if sum(_widest(heads, cells)) + _GAP * (len(heads) - 1) > width:
        cells = [[_short(cell) for cell in row] for row in cells]
    left_out = list[str]()
    while len(left_out) < len(least) and _folded(heads, cells, _NARROW) > width:
        left_out.append(least[len(left_out)])
        place = heads.index(left_out[-1])
        heads, *cells = [[*row[:place], *row[place + 1 :]] for row in (heads, *cells)]
    text = _grid(heads, cells, width)
    return f"{text}\nleft out: {', '.join(left_out)}; --json has all" if left_out else text


def _short(cell: str) -> str:
    for pattern, short in _TIMES:
        cell = pattern.sub(short, cell)
    return cell


def _widest(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(heads, *rows, strict=True)]


def _folded(heads: Sequence[str], rows: Sequence[Sequence[str]], narrow: int) -> int:
    """Return the width of a table whose sentences are folded, but none of its other cells and usual words."""
    cells = [[_narrowed(cell, narrow) for cell in row] for row in rows]
    return sum(_widest(heads, cells)) + _GAP * (len(heads) - 1)


def _narrowed(cell: str, narrow: int) -> str:
    longest = max(map(len, cell.split()), default=0)
    is_sentence = len(cell) - longest > _SHORT
    return cell[: max(narrow, min(longest, 2 * narrow))] if is_sentence else cell


def _grid(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    from rich.console import Console  # noqa: PLC0415 - `duetime --help` needs no rich
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    grid = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    longest = width if _folded(heads, rows, _NARROWEST) <= width else _NARROW
    for number, (head, *cells) in enumerate(zip(heads, *rows, strict=True)):
        is_whole = all(_narrowed(cell, _NARROWEST) == cell and len(cell) <= longest for cell in cells)
        grid.add_column(Text(head), overflow="fold", no_wrap=number == 0 or is_whole)
    for row in rows:
        grid.add_row(*(Text(cell, _STYLES.get(cell, "")) for cell in row))
    console = Console(
        color_system="standard" if has_colours() else None,
        force_terminal=has_colours(),
        width=width,
    )
    with console.capture() as capture:
        console.print(grid)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def section(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a title, cut after its first rows; without rows the title alone."""
    if not rows:
        return title
    more = f"\nand {len(rows) - _SHOWN} more; --json has all" if len(rows) > _SHOWN else ""
    return f"{title}\n{table(heads, rows[:_SHOWN])}{more}"


def facts(head: str, values: Mapping[str, object]) -> str:
    """Return a heading with a line for each named value below, or each of a list; empty ones are left out."""
    lines = (
        f"  {name:<14}  {plain(one)}"
        for name, value in values.items()
        for one in (value if isinstance(value, list) else [value])
        if one is not None and one is not False and one != ""
    )
    return "\n".join([head, *lines])


Json: TypeAlias = Mapping[str, Any]
"""A JSON object."""

Text: TypeAlias = str | Callable[[Any, datetime], str]
"""Text of an answer at a time: a form of its fields, see `worded`, or made by a function."""

Cell: TypeAlias = str | Callable[[Json, datetime], object]
"""A field of an item, a form of its fields, or what a function makes of the item at a time."""


class _Form(Formatter):
    """Fills a form at a time."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def get_value(self, key: int | str, _args: Sequence[Any], kwargs: Json) -> Any:
        return kwargs.get(str(key))

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.startswith("?"):
            before, *rest = format_spec[1:].split("@", 2)
            parts = (before, self.format_field(value, rest[0]), *rest[1:]) if value and rest else (before,)
            return "".join(parts) if value else ""
        if format_spec in _SPECS:
            return _SPECS[format_spec](value, self._now)
        shown = ", ".join(value) if isinstance(value, list) else value
        return "" if shown is None else format(shown, format_spec)


_SPECS: Mapping[str, Callable[[Any, datetime], str]] = {
    "when": both,
    "local": local,
    "second": lambda value, _: to_second(datetime.fromisoformat(value)),
    "span": lambda value, _: span(timedelta(seconds=value)),
    "-": lambda value, _: (", ".join(value) if isinstance(value, list) else str(value or "")) or "-",
    "or none": lambda value, _: (", ".join(value) if isinstance(value, list) else value) or "none",
}


def worded(form: str, item: Json, now: datetime) -> str:
    """Return a form of `str.format` with the fields of an item; an empty field is an empty text.

    ``{at:when}`` writes an instant with its distance from now, ``local`` writes it in this machine's zone,
    ``second`` in UTC; ``span`` writes seconds, ``-`` a dash for an empty field. ``{note:?: @}`` writes
    ``: `` and the field, ``{until:?until @when@;}`` the field as an instant between two texts; both write
    nothing if the field is empty.
    """
    return _Form(now).vformat(form, (), item)


def drawn(cell: Cell, item: Json, now: datetime) -> object:
    """Return what a cell shows of an item."""
    if not isinstance(cell, str):
        return cell(item, now)
    return worded(cell, item, now) if "{" in cell else item[cell]


@dataclass(frozen=True, slots=True)
class Table:
    """Draws the items of an answer as a table: the cell of each head."""

    columns: Mapping[str, Cell]
    empty: str = ""
    """Printed instead of a table without rows."""
    least: Sequence[str] = ()
    """The columns that a narrow terminal lacks, the least important first."""
    of: str = "items"
    """The field of the answer that has the rows."""

    def __call__(self, found: Json | Sequence[Json], now: datetime) -> str:
        """Return the table."""
        items = found[self.of] if isinstance(found, Mapping) else found
        cells = ([drawn(cell, item, now) for cell in self.columns.values()] for item in items)
        rows = [["" if value is None else str(value) for value in row] for row in cells]
        return table([*self.columns], rows, self.least) if rows or not self.empty else self.empty


@dataclass(frozen=True, slots=True)
class Facts:
    """Draws one item as a heading, and a line for each fact that it has."""

    head: Text
    lines: Mapping[str, Cell]

    def __call__(self, item: Json, now: datetime) -> str:
        """Return the lines."""
        head = plain(worded(self.head, item, now)) if isinstance(self.head, str) else self.head(item, now)
        return facts(head, {name: drawn(cell, item, now) for name, cell in self.lines.items()})


@dataclass(frozen=True, slots=True)
class Lines:
    """Draws an answer as parts below each other; a part that is None or False is left out."""

    parts: Sequence[Cell]
    gap: str = "\n"

    def __call__(self, found: Json, now: datetime) -> str:
        """Return the lines. The text of a form is one line."""
        shown = [
            plain(worded(part, found, now)) if isinstance(part, str) else part(found, now)
            for part in self.parts
        ]
        return self.gap.join(str(one) for one in shown if one is not None and one is not False)


def bar(done: int, total: int, *, of_none: int = 100) -> str:
    """Return a bar with the percentage that is done, `of_none` without anything to do."""
    share = 100 * done // total if total else of_none
    filled = _BAR * share // 100
    return f"[{'#' * filled}{'.' * (_BAR - filled)}] {share} %"
