"""The documentation as a site in site/: ``python -m tests.docs.site``.

The lists of docs/README.md are the navigation. Pages lie in the site as they lie in the checkout, so their
links hold; what they link to besides becomes a page: a source file with its text, a directory with a list of
what is in it.
"""

from __future__ import annotations

import logging
import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).parents[2]
PAGES = ROOT / ".cache/docs"
BESIDE = {"Report a vulnerability": "SECURITY.md", "Changelog": "CHANGELOG.md"}
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")


def main() -> None:
    """Build it; a link that leads nowhere, or a page that nothing leads to, is refused."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    gather(PAGES)
    build(configuration(PAGES, ROOT / "site"))


def configuration(pages: Path, site: Path) -> Any:
    """MkDocs' own, over these pages."""
    return load_config(
        str(ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(site), nav=navigation(), strict=True
    )


def navigation() -> list[dict[str, Any]]:
    """In the order of docs/README.md; directories and the worked examples open into their pages."""
    contents = (ROOT / "docs/README.md").read_text()
    nav: list[dict[str, Any]] = [{"duetime": "README.md"}, {"Documentation": "docs/README.md"}]
    for section in contents.split("\n## ")[1:]:
        links = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\)$", section, re.MULTILINE)
        nav.append({section.partition("\n")[0]: [{title: _opened(target)} for title, target in links]})
    return [*nav, *({title: page} for title, page in BESIDE.items())]


def _opened(target: str) -> str | list[str]:
    """A page of docs/, or the pages of its directory with the index first."""
    page = (ROOT / "docs" / target).resolve()
    if page.suffix == ".md" and page.name != "README.md":
        return str(page.relative_to(ROOT))
    home = page if page.is_dir() else page.parent
    others = sorted(path for path in home.glob("*.md") if path.name != "README.md")
    return [str(path.relative_to(ROOT)) for path in (home / "README.md", *others)]


def pages_of(nav: Any) -> list[str]:
    """Every page that a navigation names, in its order."""
    if isinstance(nav, str):
        return [nav]
    entries = nav.values() if isinstance(nav, dict) else nav
    return [page for entry in entries for page in pages_of(entry)]


def gather(pages: Path) -> None:
    """All pages, with what they link to."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages / "docs")
    shutil.copy(ROOT / "console/mark.svg", pages)
    for name in ("README.md", "CONTRIBUTING.md", *BESIDE.values()):
        shutil.copy(ROOT / name, pages)
    for page in [*pages.rglob("*.md")]:
        place = page.relative_to(pages)
        page.write_text(_LINK.sub(lambda found, at=place: _followed(pages, at, found[1]), page.read_text()))


def _followed(pages: Path, place: Path, target: str) -> str:
    """What a link of that page reads in the site, after what it leads to was put there."""
    goal = (ROOT / place.parent / target).resolve()
    if not goal.is_relative_to(ROOT):
        return target
    there = pages / goal.relative_to(ROOT)
    if goal.is_dir():
        _write_once(there / "README.md", _listed(goal))
        return f"{target.rstrip('/')}/README.md"
    if goal.suffix == ".py":
        page = there.with_name(f"{goal.stem}_source.md")
        _write_once(page, f"# {goal.relative_to(ROOT)}\n\n```py\n{goal.read_text()}```\n")
        return f"{target.removesuffix('.py')}_source.md"
    return target


def _write_once(page: Path, text: str) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    if not page.exists():
        page.write_text(text)


def _listed(directory: Path) -> str:
    lines = [f"# {directory.relative_to(ROOT)}", ""]
    for path in sorted(directory.iterdir()):
        if path.suffix == ".md":
            lines.append(f"- [{_heading(path)}]({path.name})")
        elif path.suffix == ".py":
            lines.append(f"- `{path.name}`")
    return "\n".join(lines) + "\n"


def _heading(page: Path) -> str:
    return page.read_text().partition("\n")[0].lstrip("# ")


if __name__ == "__main__":
    main()
