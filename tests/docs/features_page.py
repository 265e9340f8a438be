"""Read the page of features: each feature with its interfaces, tests and places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/features.md"
_FEATURE = re.compile(r"^### (?P<id>[A-Z]\d+)\n\n(?P<text>.+)\n\n(?P<items>(?:- .+\n)+)", re.MULTILINE)
_ITEM = re.compile(r"^- (interface|test|read on): (.+)$", re.MULTILINE)
_SPAN = r"`[^`]+`"
_DOORS = re.compile(rf"(?:(\w+) )?({_SPAN}(?:, {_SPAN})*)")
_TEST = re.compile(r"`([\w/]+(?:\.py)?)(?:::(\w+))?`")
_PLACE = re.compile(r"\[[^\]]+\]\(([\w/]+\.md)(?:#([\w-]+))?\)")


@dataclass(frozen=True)
class Feature:
    """One feature, with the items of its list as they are written."""

    id: str
    items: tuple[tuple[str, str], ...]

    def interfaces(self) -> Iterator[tuple[str, str]]:
        """Yield kind and name of each interface; the kind may be empty."""
        for text in self._all("interface"):
            match = _DOORS.fullmatch(text)
            assert match, f"{self.id}: {text} is not a kind of interface and its names"
            for name in match[2].split(", "):
                yield match[1] or "", name.strip("`")

    def tests(self) -> Iterator[tuple[str, str | None]]:
        """Yield the path of each test, and the function's name if one is named."""
        for text in self._all("test"):
            match = _TEST.fullmatch(text)
            assert match, f"{self.id}: {text} is no test"
            yield match[1], match[2]

    def places(self) -> Iterator[tuple[str, str | None]]:
        """Yield each page to read on, and the anchor on it."""
        for text in self._all("read on"):
            for part in text.split(", "):
                match = _PLACE.fullmatch(part)
                assert match, f"{self.id}: {part} is no link to a page"
                yield match[1], match[2]

    def _all(self, kind: str) -> list[str]:
        texts = [text for item_kind, text in self.items if item_kind == kind]
        assert texts, f"{self.id} names no {kind}"
        return texts


def features() -> list[Feature]:
    """Return every feature of the page, in its order."""
    page = PAGE.read_text()
    return [Feature(match["id"], tuple(_ITEM.findall(match["items"]))) for match in _FEATURE.finditer(page)]
