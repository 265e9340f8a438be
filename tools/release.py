"""Release a version: changelog, version numbers, wheel, sdist, bills of materials, commit and tag.

``python -m tools.release 0.2.0`` refuses a version that cannot be released. It builds the archives into
dist/, checks them in empty environments, and only then commits and tags, in this clone alone. If a step
fails, it restores the files. Pushing the tag and uploading dist/ are up to you.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_UNRELEASED = "## Unreleased\n"
_NUMBERS = {
    "pyproject.toml": r'(?m)^(version = ")[^"]+(")$',
    "contract/pyproject.toml": r'(?m)^(version = "|dependencies = \["duetime==)[^"]+(")',
    "src/duetime/api/openapi/document.py": r'(?m)^(VERSION = ")[^"]+(")$',
}
"""The files with the version's number, and where it is."""

_GENERATED = ("docs/openapi.json", "src/duetime/api/openapi/served.json")
_GOLDEN = "tests/supply/golden/{}{}"
"""The version's golden rows, and what its reader needs."""


class CannotRelease(Exception):
    """The version cannot be released; nothing has changed."""


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone of the project."""

    root: Path

    def git(self, *words: str) -> str:
        """Return the output of a git command.

        Raises:
            CannotRelease: the command failed.
        """
        return self.run("git", *words)

    def run(self, program: str | Path, *words: str | Path) -> str:
        """Return the output of a command in the clone.

        Raises:
            CannotRelease: the command failed; the message has its output.
        """
        done = subprocess.run(  # noqa: S603 - our own commands
            [shutil.which(program) or program, *words],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            shown = " ".join(map(str, (program, *words)))
            raise CannotRelease(f"`{shown}` failed:\n{done.stdout}{done.stderr}")
        return done.stdout


def check(clone: Clone, version: str) -> None:
    """Check that the version can be released from what is committed.

    Raises:
        CannotRelease: the version is no version, exists, or is no newer; the tree is dirty; or the changelog
            has nothing unreleased.
    """
    if not VERSION.fullmatch(version):
        raise CannotRelease(f"{version!r} is no version; use three numbers: make release VERSION=1.2.0")
    if dirty := clone.git("status", "--porcelain").splitlines():
        raise CannotRelease(
            f"the tree has uncommitted changes; commit or discard them: {', '.join(dirty[:5])}"
        )
    changelog = (clone.root / "CHANGELOG.md").read_text()
    released = re.findall(rf"^## ({VERSION.pattern}) - ", changelog, re.MULTILINE)
    versions = {name for name, *_ in released}
    if version in versions or clone.git("tag", "--list", tag_of(version)).strip():
        raise CannotRelease(f"version {version} exists; choose a later one")
    newest = max(versions, key=_numbers, default="0.0.0")
    if _numbers(version) < _numbers(newest):
        raise CannotRelease(f"version {version} is older than {newest}; choose a later one")
    if not unreleased(changelog).strip():
        raise CannotRelease(
            "CHANGELOG.md has nothing under Unreleased; describe what users get, and commit it"
        )


def tag_of(version: str) -> str:
    """Return the tag of a version."""
    return f"v{version}"


def unreleased(changelog: str) -> str:
    """Return the entries of the section Unreleased, without its sub-headings; empty without the section."""
    section = changelog.partition(_UNRELEASED)[2].partition("\n## ")[0]
    return re.sub(r"^#.*$", "", section, flags=re.MULTILINE)


def with_heading(changelog: str, version: str, day: date) -> str:
    """Return the changelog with a heading for the version, below an empty section Unreleased."""
    return changelog.replace(_UNRELEASED, f"{_UNRELEASED}\n## {version} - {day.isoformat()}\n", 1)


def write_version(clone: Clone, version: str, day: date) -> None:
    """Write the version into the changelog and into each file that has its number."""
    changelog = clone.root / "CHANGELOG.md"
    changelog.write_text(with_heading(changelog.read_text(), version, day))
    for name, pattern in _NUMBERS.items():
        file = clone.root / name
        text, count = re.subn(pattern, rf"\g<1>{version}\g<2>", file.read_text())
        if not count:
            raise CannotRelease(f"{name} has no version number")
        file.write_text(text)


def make_archives(clone: Clone, version: str) -> None:
    """Write the version's golden rows, build wheel and sdist with their pins, check each, write the bills."""
    python = sys.executable
    clone.run(python, "-m", "duetime.api.openapi", _GENERATED[0])
    clone.run(python, "-m", "tests.supply.golden_rows", version)
    clone.run("make", "--silent", "setup")
    from tests.supply.project import EXTRAS  # noqa: PLC0415 - the tests of this module need none

    everything = f"wheel[{','.join(EXTRAS)}]"
    sys.stdout.write(
        clone.run(python, "-m", "tests.supply.try_packages", "wheel", everything, "sdist[local]", "pinned")
    )
    clone.run(python, "-m", "tools.bills")


def release(clone: Clone, version: str, day: date, make: Callable[[Clone, str], None]) -> None:
    """Release the version in this clone.

    Args:
        clone: the clone.
        version: three numbers.
        day: the date in the changelog.
        make: makes the archives of the written version.

    Raises:
        CannotRelease: it cannot be released, or a step failed; the files are as before.
    """
    check(clone, version)
    files = ["CHANGELOG.md", *_NUMBERS, *_GENERATED]
    golden = [clone.root / _GOLDEN.format(version, end) for end in (".json", ".reader.json")]
    try:
        write_version(clone, version, day)
        make(clone, version)
        clone.git("add", *files, *(str(file) for file in golden if file.exists()))
        clone.git("commit", "--quiet", "--message", f"Release {version}")
        clone.git("tag", "--annotate", tag_of(version), "--message", f"duetime {version}")
    except BaseException:
        clone.git("checkout", "--quiet", "HEAD", "--", *files)
        for file in golden:
            file.unlink(missing_ok=True)
        raise


def main(words: Sequence[str]) -> None:
    """Release the version that the words name."""
    version = words[0] if words else ""
    try:
        release(Clone(ROOT), version, datetime.now(UTC).date(), make_archives)  # noqa: TID251 - no clock here
    except CannotRelease as error:
        sys.exit(f"not released: {error}")
    made = ", ".join(sorted(path.name for path in (ROOT / "dist").glob(f"duetime*-{version}[-.]*")))
    sys.stdout.write(f"released {version}: tag {tag_of(version)} in this clone; dist/ has {made}\n")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    main(sys.argv[1:])
