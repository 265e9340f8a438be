"""Check that the project's bounds only fall: ``python -m tools.bounds``.

A bound is a number in one of `FILES`. A commit may raise one, or remove it, if its message has a line
``Grows: <what> because <reason>``. The bounds of a room, such as ``files.aws``, may go with it; those of
the whole, such as ``files.all``, may not.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.commands import ROOT

LINE = "`Grows: <what> because <reason>`"
FILES = ("tests/budget.toml", "tools/house.toml")
_NUMBER = re.compile(r"(?m)^(\S+) = (\d+)")
_EXPLAINED = re.compile(r"(?m)^Grows: \S.* because \S")


def main() -> int:
    """Print what grew without a reason; return 1 if something did."""
    problems = [problem for name in FILES for problem in problems_of(name)]
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    return int(bool(problems))


def problems_of(name: str, root: Path = ROOT) -> Iterator[str]:
    """Yield the bounds of a file that a commit, or the work tree, raises without a reason."""
    commits = git(root, "log", "--format=%H", "--", name).split()
    for commit in commits:
        if _EXPLAINED.search(git(root, "log", "-1", "--format=%B", commit)):
            continue
        before = numbers(git(root, "show", f"{commit}^:{name}"))
        for bound in grown(before, numbers(git(root, "show", f"{commit}:{name}"))):
            yield f"{commit[:10]} raises {bound} in {name}; its message needs {LINE}"
    newest = numbers(git(root, "show", f"HEAD:{name}"))
    for bound in grown(newest, numbers((root / name).read_text())):
        yield f"{bound} in {name} grows; commit it with a line {LINE}"


def grown(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """Return the bounds that are higher than before, and those that are gone."""
    return [
        name for name, number in before.items() if after.get(name, number + (not _of_a_room(name))) > number
    ]


def _of_a_room(name: str) -> bool:
    return name.startswith(("files.", "statements.")) and not name.endswith(".all")


def numbers(text: str) -> dict[str, int]:
    """Return the bounds of a file's text, by name."""
    return {name: int(number) for name, number in _NUMBER.findall(text)}


def git(root: Path, *words: str) -> str:
    """Return the output of a git command; nothing if it fails, as for a file that a commit does not have."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
