"""Print each line whose words or names need a second reading.

Fail where there are more than `words.toml` allows, and where pages or sentences are too long.

``python -m tools.words`` checks the repository. With paths it prints every finding below them.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).parent.parent
_LIST = tomllib.loads((Path(__file__).parent / "words.toml").read_text())
_PROSE = {".py", ".md", ".ts", ".tsx", ".toml", ".css", ".html"}
_MADE = {"built", "node_modules"}
_MADE_FILES = {"schema.d.ts", "parts.d.ts"}
_CODE = re.compile(r"```.*?```|<!--.*?-->", re.DOTALL)
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")


class Finding(NamedTuple):
    """One place with a word of the list."""

    place: str
    word: str
    instead: str


def main(arguments: Sequence[str]) -> int:
    """Return 0 where every word is within its bound, 1 otherwise."""
    if arguments:
        found = [*_prose_findings(arguments), *_long_lines(arguments), *_name_findings(arguments)]
        _print(finding for _, _, findings in found for finding in findings)
        return 0
    rules = _LIST["prose"]["paths"]
    failed = False
    for word, most, findings in [
        *_prose_findings(rules),
        *_long_lines(rules),
        *_size_findings(),
        *_long_sentences(),
        *_name_findings(),
    ]:
        if len(findings) > most:
            failed = True
            _print(findings)
            sys.stdout.write(f"{word}: {len(findings)} places, at most {most} may stay\n")
    return int(failed)


def _print(findings: Iterator[Finding] | Sequence[Finding]) -> None:
    for finding in findings:
        sys.stdout.write(f"{finding.place}: {finding.word} -> {finding.instead}\n")


def _prose_findings(paths: Sequence[str]) -> Iterator[tuple[str, int, list[Finding]]]:
    files = [*_files(paths, _PROSE)]
    for rule in _LIST["prose"]["words"]:
        pattern = re.compile(rf"\b(?:{rule['word']})\b", re.IGNORECASE)
        findings = [
            Finding(f"{path.relative_to(_ROOT)}:{number}", match.group(), rule["instead"])
            for path in files
            for number, line in enumerate(path.read_text().splitlines(), start=1)
            for match in pattern.finditer(line)
        ]
        yield rule["word"], rule["most"], findings


def _long_lines(paths: Sequence[str]) -> Iterator[tuple[str, int, list[Finding]]]:
    longest = _LIST["prose"]["longest_line"]
    findings = [
        Finding(
            f"{path.relative_to(_ROOT)}:{number}", f"{len(line)} characters", "a list, or shorter sentences"
        )
        for path in _files(paths, {".md"})
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > longest
    ]
    yield f"lines over {longest} characters", 0, findings


def _size_findings() -> Iterator[tuple[str, int, list[Finding]]]:
    """Count the lines of the README, and the words of all pages outside of code and the targets of links."""
    rule = _LIST["docs"]
    pages = [*_files(rule["paths"], {".md"})]
    words = sum(len(_words(_text(page))) for page in pages)
    lines = len((_ROOT / "README.md").read_text().splitlines())
    for name, number, most in (
        ("README.md", lines, rule["readme_lines"]),
        ("README.md and docs", words, rule["words"]),
    ):
        unit = "lines" if name == "README.md" else "words"
        found = [Finding(name, f"{number} {unit}", f"at most {most}")] if number > most else []
        yield f"{unit} of {name}", 0, found


def _long_sentences() -> Iterator[tuple[str, int, list[Finding]]]:
    most = _LIST["docs"]["sentence"]
    findings = [
        Finding(str(page.relative_to(_ROOT)), " ".join(words[:8]) + " …", f"{len(words)} words in a sentence")
        for page in _files(_LIST["docs"]["paths"], {".md"})
        for sentence in _sentences(_text(page))
        if len(words := _words(sentence)) > most
    ]
    yield f"sentences over {most} words", 0, findings


def _text(page: Path) -> str:
    """A page without code blocks, comments and the targets of links; inline code is one word."""
    text = re.sub(r"\]\([^)]*\)", "]", _CODE.sub("", page.read_text()))
    return re.sub(r"`[^`\n]*`", "code", text)


def _sentences(text: str) -> Iterator[str]:
    """Yield sentences; a heading, a list item and a table's cell end them too."""
    blocks = [""]
    for line in map(str.strip, text.splitlines()):
        if line.startswith("|"):
            blocks += line.split("|")
        elif not line or line.startswith("#") or _ITEM.match(line):
            blocks.append(_ITEM.sub("", line, count=1))
        else:
            blocks[-1] += f" {line}"
        if line.startswith(("|", "#")):
            blocks.append("")
    for block in blocks:
        yield from re.split(r"(?<=[.!?])[*_)\"]*\s+", block)


def _words(text: str) -> list[str]:
    return [word for word in text.split() if any(map(str.isalnum, word))]


def _name_findings(paths: Sequence[str] | None = None) -> Iterator[tuple[str, int, list[Finding]]]:
    for rule in _LIST["names"]:
        pattern = re.compile(rule["word"])
        findings = [
            Finding(f"{path.relative_to(_ROOT)}:{line}", name, rule["instead"])
            for path in _files(paths or rule["paths"], {".py"})
            for line, name in _names(path)
            if pattern.fullmatch(name)
        ]
        yield f"the name {rule['word']} in {rule['paths'][0]}", rule["most"], findings


@cache
def _names(path: Path) -> list[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.NAME]


def _files(paths: Sequence[str], suffixes: set[str]) -> Iterator[Path]:
    for name in paths:
        path = (_ROOT / name).resolve()
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in found:
            if file.suffix in suffixes and file.name not in _MADE_FILES and not _MADE & set(file.parts):
                yield file


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
