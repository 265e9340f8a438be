"""Tables in a terminal, fitted to its width, by rich. Imported only there."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text


def rich_table(heads: Sequence[str], rows: Sequence[Sequence[str]], colours: Mapping[str, str]) -> str:
    """The cells, which hold nothing that a terminal would obey; a word that has a colour is in it."""
    drawn = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for number, head in enumerate(heads):
        drawn.add_column(Text(head), overflow="fold", no_wrap=number == 0)
    for row in rows:
        drawn.add_row(*(Text(each, _style(colours.get(each))) for each in row))
    out = io.StringIO()
    width = shutil.get_terminal_size().columns
    Console(file=out, force_terminal=True, color_system="standard", width=width).print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _style(code: str | None) -> Style:
    """A colour of the terminal by its number; 2 is dim."""
    if code is None:
        return Style.null()
    return Style(dim=True) if code == "2" else Style(color=_NAMES[code])


_NAMES = {"31": "red", "32": "green", "33": "yellow", "35": "magenta", "36": "cyan"}
