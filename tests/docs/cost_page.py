"""The page on cost, with each table as the command prints it.

``python -m tests.docs.cost_page`` renews it.
"""

import contextlib
import io
import json
import re
import shlex
from pathlib import Path
from unittest.mock import patch

from duetime.cli import main

PAGE = Path(__file__).parents[2] / "docs/cost.md"
_BLOCK = re.compile(r"^```console\n\$ duetime (.*)\n[^`]*```$", re.MULTILINE)
_TABLE = re.compile(r"^\| change \|(.*)\|\n\|---.*\n((?:\|.*\n)+)", re.MULTILINE)


def made(text):
    """The page's text with what the command prints now."""
    return _TABLE.sub(_dollars, _BLOCK.sub(_block, text))


def _block(found):
    return f"```console\n$ duetime {found[1]}\n{_printed(shlex.split(found[1]))}```"


def _dollars(found):
    amounts = [part.strip() for part in found[1].split("|")]
    lines = [f"| change | {' | '.join(amounts)} |", "|---|" + "--:|" * len(amounts)]
    for row in found[2].splitlines():
        change = row.split("|")[1].strip()
        words = shlex.split(re.findall(r"`(.*)`", change)[0].removeprefix("duetime app cost"))
        cells = [_total(words, amount.replace(",", "")) for amount in amounts]
        lines.append(f"| {change} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _total(words, amount):
    printed = _printed(["app", "cost", f"actions_per_day={amount}", "--json", *words])
    return f"{json.loads(printed)['dollars']:,.2f}"


def _printed(words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), patch.dict("os.environ", COLUMNS="300"):
        assert main(words) == 0
    return out.getvalue()


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text()))
