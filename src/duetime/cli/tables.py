"""Tables, and words in their colours. rich draws both; it is imported when the first one is drawn."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from duetime.cli.times import both

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


Cell: TypeAlias = str | Callable[[Mapping[str, Any], datetime], object]
"""A field of an item, which is empty if it is None, or a text that is made of the item at a time."""


@dataclass(frozen=True, slots=True)
class Table:
    """Draws the items of an answer as a table: the cell of each head."""

    columns: Mapping[str, Cell]
    empty: str = ""
    """Printed instead of a table without rows."""

    def __call__(self, found: Mapping[str, Any] | Sequence[Mapping[str, Any]], now: datetime) -> str:
        """Return the table."""
        items = found["items"] if isinstance(found, Mapping) else found
        rows = [[_drawn(cell, item, now) for cell in self.columns.values()] for item in items]
        return table([*self.columns], rows) if rows or not self.empty else self.empty


def _drawn(cell: Cell, item: Mapping[str, Any], now: datetime) -> str:
    value = item[cell] if isinstance(cell, str) else cell(item, now)
    return "" if value is None else str(value)


def when(name: str) -> Cell:
    """Return the cell of an instant, with its distance from now."""
    return lambda item, now: both(item[name], now)


def dashed(name: str) -> Cell:
    """Return the cell of a field that may be empty."""
    return lambda item, _now: item[name] or "-"


def bar(done: int, total: int, *, of_none: int = 100) -> str:
    """Return a bar with the percentage that is done, `of_none` without anything to do."""
    share = 100 * done // total if total else of_none
    filled = _BAR * share // 100
    return f"[{'#' * filled}{'.' * (_BAR - filled)}] {share} %"
