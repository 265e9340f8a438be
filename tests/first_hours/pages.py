"""What a reader copies from a page: its files, its commands and the cells of its tables."""

from __future__ import annotations

import re
import textwrap

from tests.supply.project import ROOT

_FENCE = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_TITLED = re.compile(r'^```py title="([^"]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)


def section(page: str, heading: str = "") -> str:
    """Return the text below a heading, up to the next of its level; the page without a heading.

    Args:
        page: the path in the checkout, such as ``docs/tutorial.md``.
        heading: how the heading begins, with its marks: ``## 4.``.
    """
    text = (ROOT / page).read_text()
    if not heading:
        return text
    level = heading.partition(" ")[0]
    found = re.search(
        rf"^{re.escape(heading)}[^\n]*\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"{page} has no {heading!r}"
    return found[1]


def code(text: str, *languages: str) -> list[str]:
    """Return the blocks of these languages, without their indentation."""
    return [textwrap.dedent(block) for _, language, block in _FENCE.findall(text) if language in languages]


def files(text: str) -> dict[str, str]:
    """Return the blocks that have a file's name, by this name."""
    return dict(_TITLED.findall(text))


def commands(text: str) -> list[str]:
    """Return the lines of the shell's blocks, comments left out."""
    lines = "\n".join(code(text, "sh")).splitlines()
    return [command for line in lines if (command := line.partition("  #")[0].strip())]


def inline(text: str, begin: str) -> list[str]:
    """Return the inline code that begins so."""
    return [words for words in re.findall(r"`([^`\n]+)`", text) if words.startswith(begin)]


def second_column(text: str) -> dict[str, list[str]]:
    """Return the inline code of a table's second column, by the first column."""
    rows = re.findall(r"^\|(.+)\|(.+)\|$", text, re.MULTILINE)[2:]
    return {first.strip(): re.findall(r"`([^`]+)`", second) for first, second in rows}
