"""Check that the project's bounds only fall: ``python -m tools.bounds``.

A bound is a number in one of `FILES`. A commit may raise, remove or add one if its message has a line
``Grows: <bound> because <reason>`` with its name. The bounds of a room, such as ``files.aws``, come and go
with the room itself.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.commands import ROOT

LINE = "`Grows: <bound> because <reason>`"
FILES = ("tests/budget.toml", "tools/house.toml")
_NUMBER = re.compile(r"(?m)^(\S+) = (\d+)")
_EXPLAINED = re.compile(r"(?m)^Grows: (\S.*?) because \S")
_OF_A_ROOM = re.compile(r"(?:files|statements)\.(?!(?:all|flat)$)(\w+)|resources\.(\S+)")


def main() -> int:
    """Print what grew without a reason; return 1 if something did."""
    problems = [problem for name in FILES for problem in problems_of(name)]
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    return int(bool(problems))


def problems_of(name: str, root: Path = ROOT) -> Iterator[str]:
    """Yield the bounds of a file that a commit, or the work tree, raises without a reason."""
    for commit in git(root, "log", "--format=%H", "--", name).split():
        lines = _EXPLAINED.findall(git(root, "log", "-1", "--format=%B", commit))
        explained = {word for line in lines for word in re.split(r"[\s,]+", line)}
        for bound in grown(name, root, f"{commit}^", commit):
            if bound not in explained:
                yield f"{commit[:10]} raises {bound} in {name}; its message needs {LINE}"
    for bound in grown(name, root, "HEAD", None):
        yield f"{bound} in {name} grows; commit it with a line {LINE}"


def grown(name: str, root: Path, before: str, after: str | None) -> Iterator[str]:
    """Yield the bounds of a file that are higher in a later commit, new or gone; None is the work tree.

    Those of a new file are not, and those of a room are neither new before it nor gone while it stands.
    """
    old = numbers(git(root, "show", f"{before}:{name}"))
    new = numbers(git(root, "show", f"{after}:{name}") if after else (root / name).read_text())
    for bound in {**old, **new} if old else ():
        if bound not in new:
            rises = has_room(bound, root, after)
        elif bound not in old:
            rises = has_room(bound, root, before)
        else:
            rises = new[bound] > old[bound]
        if rises:
            yield bound


def has_room(bound: str, root: Path, commit: str | None) -> bool:
    """Return whether a commit has what a bound counts: the package, or the app; the whole is always there."""
    if not (room := _OF_A_ROOM.fullmatch(bound)):
        return True
    package, app = room.groups()
    path = f"src/duetime/{package}" if package else f"{app.replace('.', '/')}.py"
    if commit is None:
        return (root / path).is_file() or any((root / path).rglob("*.py"))
    return bool(git(root, "ls-tree", commit, path))


def numbers(text: str) -> dict[str, int]:
    """Return the bounds of a file's text, by name."""
    return {name: int(number) for name, number in _NUMBER.findall(text)}


def git(root: Path, *words: str) -> str:
    """Return the output of a git command; nothing if it fails, as for a file that a commit does not have."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
