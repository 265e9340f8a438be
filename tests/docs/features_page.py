"""The page of features, read: its rows, and the doors, tests and places that each names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/features.md"
HEAD = "| id | feature | door | shown by | read on |"
_CELL = r" ([^|]+) \|"
_ROW = re.compile(rf"^\|{_CELL * 5}$", re.MULTILINE)
_SPAN = r"`[^`]+`"
_DOORS = re.compile(rf"(?:(\w+) )?({_SPAN}(?:, {_SPAN})*)")
_TEST = re.compile(r"`([\w/]+(?:\.py)?)(?:::(\w+))?`")
_PLACE = re.compile(r"\[[^\]]+\]\(([\w/]+\.md)(?:#([\w-]+))?\)")


@dataclass(frozen=True)
class Row:
    """One feature; its cells as they are written."""

    id: str
    feature: str
    door: str
    shown_by: str
    read_on: str

    def doors(self) -> Iterator[tuple[str, str]]:
        """The kind of each, and what it is; of what has no kind, the kind is empty."""
        for group in self.door.split("; "):
            found = _DOORS.fullmatch(group)
            assert found, f"{self.id}: {group} is not a kind of door and its names"
            for name in found[2].split(", "):
                yield found[1] or "", name.strip("`")

    def tests(self) -> Iterator[tuple[str, str | None]]:
        """The path of each, and the function's name if one is named."""
        for part in self.shown_by.split("<br>"):
            found = _TEST.fullmatch(part)
            assert found, f"{self.id}: {part} is no test"
            yield found[1], found[2]

    def places(self) -> Iterator[tuple[str, str | None]]:
        """The page of each, and the anchor on it."""
        for part in self.read_on.split(", "):
            found = _PLACE.fullmatch(part)
            assert found, f"{self.id}: {part} is no link to a page"
            yield found[1], found[2]


def rows() -> list[Row]:
    """Every feature of the page."""
    found = [Row(*cells) for cells in _ROW.findall(PAGE.read_text())]
    return [each for each in found if each.id not in {"id", "---"}]
