"""Plain text in columns, coloured only where a person looks."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

_COLOURS: Mapping[str, str] = {
    "pending": "36",
    "processing": "33",
    "running": "33",
    "executed": "32",
    "failed": "31",
    "lost": "31",
    "retry": "35",
    "cancelled": "2",
    "skipped": "2",
    "missed": "31",
    "upcoming": "36",
    "enabled": "32",
    "paused": "33",
    "disabled": "2",
    "ok": "32",
    "look": "33",
    "ill": "31",
}


def plain(text: object) -> str:
    """The text on one line, without what a terminal would obey: it may come from a handler's exception."""
    return "".join(each if each.isprintable() else " " for each in str(text))


def drawn(text: object) -> str:
    """As `plain`, but lines that are indented, as those with a caret are, stay lines."""
    first, *others = str(text).split("\n    ")
    return "\n    ".join([plain(first), *map(plain, others)])


def is_pointing(text: object) -> bool:
    """Whether it ends with what was refused and carets under it."""
    lines = str(text).split("\n    ")
    return len(lines) > 2 and not lines[-1].strip(" ^")  # noqa: PLR2004 - the refusal, the text, the carets


def coloured(word: str, padded: str | None = None) -> str:
    """A status or an outcome in its colour, on a terminal."""
    text = padded or word
    colour = _COLOURS.get(word)
    return f"\033[{colour}m{text}\033[0m" if colour and has_colours() else text


def has_colours() -> bool:
    """Whether a person looks who wants colours: at a terminal, without ``NO_COLOR``."""
    if not sys.stdout.isatty():
        return False
    from duetime.environment import CommandLine  # noqa: PLC0415 - `duetime --help` needs no settings

    return not CommandLine.from_env().no_colour


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, two spaces apart; in a terminal, if rich is there, fitted to its width."""
    cells = [[plain(each) for each in row] for row in rows]
    if has_colours() and (drawn := _rich(heads, cells)) is not None:
        return drawn
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = [_line(heads, widths), *(_line(row, widths) for row in cells)]
    return "\n".join(lines)


def _rich(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    try:
        from duetime.cli.rich_tables import rich_table  # noqa: PLC0415 - who pipes needs none
    except ImportError:
        return None
    return rich_table(heads, rows, _COLOURS)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    *first, last = zip(row, widths, strict=True)
    padded = [coloured(cell, cell.ljust(width)) for cell, width in first]
    return "  ".join([*padded, coloured(last[0])]).rstrip()
