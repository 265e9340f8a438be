"""The table of kinds in docs/architecture.md: ``python -m tests.docs.kinds_table`` writes it."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

from duetime import ports
from duetime.ports.keyed_items import Kind

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
HEAD = "| kind | partition | sort key | guard | expires | written by |\n|---|---|---|---|---|---|\n"


def kinds() -> Iterator[Kind]:
    """Yield the kinds of all ports."""
    for found in pkgutil.iter_modules(ports.__path__, "duetime.ports."):
        module = importlib.import_module(found.name)
        yield from (thing for thing in vars(module).values() if isinstance(thing, Kind))


def table() -> str:
    """Return the table."""
    return HEAD + "".join(sorted(map(_row, {*kinds()})))


def shown() -> str:
    """Return the table of the page."""
    page = PAGE.read_text()
    begin = page.index(HEAD)
    return page[begin : page.index("\n\n", begin) + 1]


def _row(kind: Kind) -> str:
    place = re.sub(r"{(\w+)}", r"\1", kind.partition)
    guard = f"`{', '.join(kind.guard)}`" if kind.guard else ""
    cells = (kind.name, f"`{place}`", f"`{kind.sort}`", guard, kind.expires, kind.writers)
    return f"| {' | '.join(cells)} |\n".replace("|  ", "| ")


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text().replace(shown(), table()))
