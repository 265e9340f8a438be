"""Tables, and words in their colours. rich draws both; it is imported when the first one is drawn."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence

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


def facts(head: str, values: Iterable[tuple[str, object]]) -> str:
    """Return a heading with one line for each named value below."""
    return "\n".join([head, *(f"  {name:<14}  {plain(value)}" for name, value in values)])
