"""The pages that show what the bench measured, each block as it was last printed.

``make bench`` on an idle machine renews all blocks of `docs/performance.md` and `docs/comparison.md`;
``python -m bench --page lives`` renews one. `bench/measured.json` stores what they show.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.report import machine, missed, show
from bench.result import Result

_ROOT = Path(__file__).parent.parent
PAGES = (_ROOT / "docs/performance.md", _ROOT / "docs/comparison.md")
MEASURED = Path(__file__).parent / "measured.json"

_LINES = r"(?:(?!```).*\n)*```$"
_BLOCK = re.compile(rf"^```console\n\$ python -m bench (?P<name>\w+)\n{_LINES}", re.MULTILINE)
_MISSED = re.compile(rf"^```text\nmissed\n{_LINES}", re.MULTILINE)


def store(results: Sequence[Result]) -> None:
    """Store the results of each measurement in place of its former ones."""
    measured = _measured()
    for name in dict.fromkeys(result.bench for result in results):
        some = [result for result in results if result.bench == name]
        measured[name] = {
            "on": f"{datetime.now(UTC):%Y-%m-%d}, {machine()}",
            "table": _table(some),
            "missed": list(missed(some)),
        }
    MEASURED.write_text(json.dumps(dict(sorted(measured.items())), indent=1, ensure_ascii=False) + "\n")


def write_pages() -> None:
    """Renew the blocks of the pages."""
    for page in PAGES:
        page.write_text(renewed(page.read_text()))


def renewed(text: str) -> str:
    """Return a page's text with what was measured last."""
    measured = _measured()

    def block(match: re.Match[str]) -> str:
        stored = measured.get(match["name"], {"on": "not measured yet", "table": []})
        lines = ["```console", f"$ python -m bench {match['name']}", stored["on"], *stored["table"], "```"]
        return "\n".join(lines)

    lines = ["```text", "missed", *(line for stored in measured.values() for line in stored["missed"]), "```"]
    return _MISSED.sub(lambda _: "\n".join(lines), _BLOCK.sub(block, text))


def shown() -> Iterable[str]:
    """Yield the name of each measurement with a block on a page."""
    for page in PAGES:
        yield from (match["name"] for match in _BLOCK.finditer(page.read_text()))


def _table(results: Sequence[Result]) -> list[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        show("", results)
    return printed.getvalue().strip("\n").splitlines()


def _measured() -> dict[str, Any]:
    return json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
