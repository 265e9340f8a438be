"""What a bundle needs: duetime's own requirements in the versions of this environment, and the handlers' beside them.

What a team locks and tests with is what it deploys: nothing is newer in Lambda than it is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from duetime.errors import DuetimeError

LAMBDA_HAS = frozenset({"boto3"})
"""Not bundled: Lambda's Python brings it, AWS patches it there, and each call of ours is older than that Python."""

ONLY_HANDLERS_NEED = frozenset({"pydantic", "croniter"})

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


class RequirementsMissing(DuetimeError, ValueError):
    """A requirements file that is not there."""

    code = "requirements-missing"


@dataclass(frozen=True, slots=True)
class Requirements:
    """What an installer is given."""

    wanted: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    pinned: tuple[str, ...] = ()
    """Versions that hold for whatever of these is drawn in."""

    @classmethod
    def of_duetime(cls, *, without: frozenset[str]) -> Requirements:
        """What duetime itself needs, with all that they draw in, in the versions of this environment."""
        wanted = [name for name in _required_by("duetime") if name not in without]
        return cls(tuple(sorted(wanted)), pinned=tuple(sorted(_pins(wanted))))

    def and_file(self, path: Path | None) -> Requirements:
        """Those of a file besides; what the file names, it decides.

        Raises:
            RequirementsMissing: there is no such file.
        """
        if path is None:
            return self
        if not path.is_file():
            raise RequirementsMissing(f"requirements is {str(path)!r}; allowed is a file that pip reads")
        named = {_normal(line) for line in path.read_text(encoding="utf-8").splitlines()}
        pinned = tuple(pin for pin in self.pinned if _normal(pin) not in named)
        return Requirements(self.wanted, (*self.files, path), pinned)

    @contextmanager
    def as_arguments(self) -> Iterator[list[str]]:
        """The arguments that uv and pip share."""
        with TemporaryDirectory(prefix="duetime-") as made:
            pins = Path(made, "pins.txt")
            pins.write_text("\n".join(self.pinned), encoding="utf-8")
            files = [word for file in self.files for word in ("--requirement", str(file))]
            yield [*self.wanted, *files, "--constraint", str(pins)]


def _pins(wanted: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            yield f"{name}=={metadata.version(name)}"
            waiting += _required_by(name)
        except metadata.PackageNotFoundError:  # asked for on another system only
            continue


def _required_by(name: str) -> list[str]:
    return [_normal(require) for require in metadata.requires(name) or () if "extra ==" not in require]


def _normal(requirement: str) -> str:
    """The name that a requirement begins with, as indexes compare it."""
    found = _NAME.match(requirement.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""
