"""Read `docs/features.md`: each feature with its interfaces, tests and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/features.md"
_FEATURE = re.compile(r"^### (?P<id>[A-Z]\d+)\n\n(?P<text>.+)\n\n(?P<items>(?:- .+\n)+)", re.MULTILINE)
_ITEM = re.compile(r"^- (interface|test|read on): (.+)$", re.MULTILINE)
_SPAN = r"`[^`]+`"
_INTERFACES = re.compile(rf"(?:(\w+) )?({_SPAN}(?:, {_SPAN})*)")
_TEST = re.compile(r"`([\w/]+(?:\.py)?)(?:::(\w+))?`")
_LINK = re.compile(r"\[[^\]]+\]\(([\w/]+\.md)(?:#([\w-]+))?\)")


@dataclass(frozen=True)
class Feature:
    """One feature, with the kind and the text of each list item."""

    id: str
    items: tuple[tuple[str, str], ...]

    def interfaces(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the name of each interface; the kind may be empty."""
        for text in self._all("interface"):
            match = _INTERFACES.fullmatch(text)
            assert match, f"{self.id}: {text} does not begin with a kind of interface, or names none"
            for name in match[2].split(", "):
                yield match[1] or "", name.strip("`")

    def tests(self) -> Iterator[tuple[str, str | None]]:
        """Yield the path of each test, and the name of its function if the item has one."""
        for text in self._all("test"):
            match = _TEST.fullmatch(text)
            assert match, f"{self.id}: {text} is not a test's path"
            yield match[1], match[2]

    def pages(self) -> Iterator[tuple[str, str | None]]:
        """Yield the path of each linked page, and its anchor if the link has one."""
        for text in self._all("read on"):
            for part in text.split(", "):
                match = _LINK.fullmatch(part)
                assert match, f"{self.id}: {part} is not a link to a page"
                yield match[1], match[2]

    def _all(self, kind: str) -> list[str]:
        texts = [text for item_kind, text in self.items if item_kind == kind]
        assert texts, f"{self.id} has no {kind}"
        return texts


def features() -> list[Feature]:
    """Return the features in the order of the page."""
    page = PAGE.read_text()
    return [Feature(match["id"], tuple(_ITEM.findall(match["items"]))) for match in _FEATURE.finditer(page)]
