"""Read `docs/features.md`: each feature with its interfaces, tests and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/features.md"
_FEATURE = re.compile(
    r"^### (?P<id>[A-Z]\d+)\n\n(?P<text>.+)\n\n```text\n(?P<items>(?:\w.+\n)+)```$", re.MULTILINE
)
_INTERFACES = re.compile(r"(run|setting|SDK|CLI|HTTP|console) +(.+)")
_TEST = re.compile(r"test +((?:tests|contract)/[\w/]+(?:\.py)?)(?:::(\w+))?")
_LINK = re.compile(r"\[[^\]]+\]\(([\w/-]+\.md)(?:#([\w-]+))?\)")


@dataclass(frozen=True)
class Feature:
    """One feature: its description, which ends with links, and its list of interfaces and tests."""

    id: str
    text: str
    items: tuple[str, ...]

    def interfaces(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the name of each interface."""
        found = [item for item in self.items if not _TEST.fullmatch(item)]
        assert found, f"{self.id} has no interface"
        for item in found:
            match = _INTERFACES.fullmatch(item)
            assert match, f"{self.id}: {item} is neither a test's path nor a kind of interface with its names"
            for name in match[2].split(", "):
                yield match[1], name

    def tests(self) -> Iterator[tuple[str, str | None]]:
        """Yield the path of each test, and the name of its function if the item has one."""
        found = [match for item in self.items if (match := _TEST.fullmatch(item))]
        assert found, f"{self.id} has no test"
        for match in found:
            yield match[1], match[2]

    def pages(self) -> Iterator[tuple[str, str | None]]:
        """Yield the path of each linked page, and its anchor if the link has one."""
        found = _LINK.findall(self.text)
        assert found, f"{self.id} links to no page"
        for page, anchor in found:
            yield page, anchor or None


def features() -> list[Feature]:
    """Return the features in the order of the page."""
    return [
        Feature(match["id"], match["text"], tuple(match["items"].splitlines()))
        for match in _FEATURE.finditer(PAGE.read_text())
    ]
