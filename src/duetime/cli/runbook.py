"""``duetime deployment runbook``: prints a section of the runbook, which the package contains."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from duetime.cli.failures import BadUsage, did_you_mean
from duetime.cli.output import print_content

_HEADING = re.compile(r"^(#{2,3} .+)$", re.MULTILINE)


def run(arguments: argparse.Namespace) -> int:
    """Print a section, or the list of sections."""
    sections = sections_of(page().read_text(encoding="utf-8"))
    if arguments.section is None:
        listed = "\n".join(f"duetime deployment runbook {name}" for name in sections)
        return print_content(arguments, {"sections": [*sections]}, lambda *_: listed)
    name = anchor(arguments.section)
    if name not in sections:
        raise BadUsage(
            f"the runbook has no section {arguments.section!r}{did_you_mean(name, sections) or ';'}"
            " `duetime deployment runbook` lists all"
        )
    return print_content(arguments, {"section": name, "text": sections[name]}, lambda *_: sections[name])


def page() -> Path:
    """Return the runbook: of the installed package, or of a checkout."""
    installed = Path(__file__).with_name("runbook.md")
    return installed if installed.is_file() else Path(__file__).parents[3] / "docs" / "runbook.md"


def sections_of(text: str) -> Mapping[str, str]:
    """Return the sections of a page by their anchors, in their order. A section contains its subsections."""
    _, *parts = _HEADING.split(text)
    sections: dict[str, str] = {}
    chapter = ""
    for heading, content in zip(parts[::2], parts[1::2], strict=True):
        section = f"{heading}{content.rstrip()}"
        name = anchor(heading.lstrip("# "))
        sections[name] = section
        if heading.startswith("## "):
            chapter = name
        elif chapter:
            sections[chapter] += f"\n\n{section}"
    return sections


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as in links."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
