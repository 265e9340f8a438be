"""Draw the rooms of the package, and which may import which.

``python -m tools.rooms`` writes docs/images/rooms.svg.

The layers come from the import rules in pyproject.toml, so the picture shows what `lint-imports` enforces.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_ROOT = Path(__file__).parent.parent
PICTURE = _ROOT / "docs/images/rooms.svg"
_WIDTH, _BOX_HEIGHT, _GAP, _LEFT = 960, 30, 12, 170
_ROWS = {
    "cdk": "deploy, command line",
    "local": "local cloud, checks",
    "lambdas": "Lambda, simulated time",
    "sqlite": "tables in a file",
    "api": "HTTP, embedded, asyncio",
    "aws": "back ends",
    "scheduler": "what callers use",
    "actions": "steps of an action",
    "wakeups": "wake-ups, events",
    "jobs": "recurring jobs",
    "app": "registration",
    "declare": "handlers",
    "ports": "interfaces",
    "model": "values",
    "settings": "public facts",
}
_STYLE = """
  text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2933; }
  .room { fill: #e8edfb; stroke: #5b6fb5; }
  .flat { fill: #fff6de; stroke: #b58c2a; }
  .what { font-family: system-ui, sans-serif; fill: #52606d; }
"""


def layers() -> list[list[str]]:
    """Return the layers of the import rules, highest first; each is a list of module names."""
    contracts = tomllib.loads((_ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rules = next(contract for contract in contracts if contract["type"] == "layers")["layers"]
    return [[name.removeprefix("duetime.") for name in re.split(r"\s[|:]\s", rule)] for rule in rules]


def picture() -> str:
    """Return the SVG: one row a layer, a box a room; a row may import only the rows below it."""
    rows, y = [], _GAP
    for layer in layers():
        rows.append(f'<text class="what" x="{_GAP}" y="{y + 20}">{_ROWS[layer[0]]}</text>')
        width = (_WIDTH - _LEFT - _GAP) / len(layer) - 6
        for place, name in enumerate(layer):
            x = _LEFT + place * (width + 6)
            kind = "room" if (_ROOT / "src/duetime" / name).is_dir() else "flat"
            rows.append(
                f'<rect class="{kind}" x="{x:.0f}" y="{y}" width="{width:.0f}" height="{_BOX_HEIGHT}"'
                ' rx="4"/>'
                f'<text x="{x + width / 2:.0f}" y="{y + 20}" text-anchor="middle">{name}</text>'
            )
        y += _BOX_HEIGHT + _GAP
    body = "\n".join(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" role="img">\n'
        "<title>The rooms of duetime: each row may import only the rows below it</title>\n"
        f'<style>{_STYLE}</style>\n<rect width="{_WIDTH}" height="{y}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture())
