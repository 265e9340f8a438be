"""Tables, and words in their colours. rich draws both; it is imported when the first one is drawn."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import Formatter
from typing import Any, TypeAlias

from duetime.cli.times import both, local, span, to_second

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
# The width, in characters, of a table that a file or another program reads: no cell is folded.
_UNLIMITED = 1_000_000
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


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows in columns, two spaces apart. In a terminal, cells are folded to fit its width."""
    from rich.console import Console  # noqa: PLC0415 - `duetime --help` needs no rich
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    grid = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for number, head in enumerate(heads):
        grid.add_column(Text(head), overflow="fold", no_wrap=number == 0)
    for row in rows:
        cells = [plain(cell) for cell in row]
        grid.add_row(*(Text(cell, _STYLES.get(cell, "")) for cell in cells))
    console = Console(
        color_system="standard" if has_colours() else None,
        force_terminal=has_colours(),
        width=shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED,
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
    "-": lambda value, _: str(value or "-"),
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

    def __call__(self, found: Json | Sequence[Json], now: datetime) -> str:
        """Return the table."""
        items = found["items"] if isinstance(found, Mapping) else found
        cells = ([drawn(cell, item, now) for cell in self.columns.values()] for item in items)
        rows = [["" if value is None else str(value) for value in row] for row in cells]
        return table([*self.columns], rows) if rows or not self.empty else self.empty


@dataclass(frozen=True, slots=True)
class Facts:
    """Draws one item as a heading, and a line for each fact that it has."""

    head: Text
    lines: Mapping[str, Cell]

    def __call__(self, item: Json, now: datetime) -> str:
        """Return the lines."""
        head = plain(worded(self.head, item, now)) if isinstance(self.head, str) else self.head(item, now)
        return facts(head, {name: drawn(cell, item, now) for name, cell in self.lines.items()})


def bar(done: int, total: int, *, of_none: int = 100) -> str:
    """Return a bar with the percentage that is done, `of_none` without anything to do."""
    share = 100 * done // total if total else of_none
    filled = _BAR * share // 100
    return f"[{'#' * filled}{'.' * (_BAR - filled)}] {share} %"
