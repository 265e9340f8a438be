"""The requirements of a bundle: duetime's own in the versions of this environment, and those of the handlers.

A deploy uses the versions that were locked and tested here; none is newer in Lambda.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from duetime.errors import DeclarationError

LAMBDA_HAS = frozenset({"boto3"})
"""Not bundled: Lambda's Python includes it, AWS patches it there, and it supports every call that is used."""

ONLY_HANDLERS_NEED = frozenset({"pydantic", "croniter"})

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Requirements:
    """The input of an installer."""

    names: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    pinned: tuple[str, ...] = ()
    """Versions of all libraries, also of indirect ones."""

    @classmethod
    def for_duetime(cls, *, without: frozenset[str]) -> Requirements:
        """Return the libraries of duetime. All versions are pinned to those of this environment."""
        names = [name for name in _required_by("duetime") if name not in without]
        return cls(tuple(sorted(names)), pinned=tuple(sorted(_pins(names))))

    def and_file(self, path: Path | None) -> Requirements:
        """Add a requirements file. Libraries that it names are no longer pinned.

        Raises:
            DeclarationError: the file does not exist.
        """
        if path is None:
            return self
        if not path.is_file():
            raise DeclarationError(
                f"requirements is {str(path)!r}, which does not exist; allowed is a requirements file of pip"
            )
        named = {_normal(line) for line in path.read_text(encoding="utf-8").splitlines()}
        pinned = tuple(pin for pin in self.pinned if _normal(pin) not in named)
        return Requirements(self.names, (*self.files, path), pinned)

    @contextmanager
    def as_arguments(self) -> Iterator[list[str]]:
        """Yield the arguments for uv and for pip."""
        with TemporaryDirectory(prefix="duetime-") as directory:
            pins = Path(directory, "pins.txt")
            pins.write_text("\n".join(self.pinned), encoding="utf-8")
            files = [word for file in self.files for word in ("--requirement", str(file))]
            yield [*self.names, *files, "--constraint", str(pins)]


def _pins(names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            yield f"{name}=={metadata.version(name)}"
            waiting += _required_by(name)
        except metadata.PackageNotFoundError:  # only required on another system
            continue


def _required_by(name: str) -> list[str]:
    return [_normal(require) for require in metadata.requires(name) or () if "extra ==" not in require]


def _normal(requirement: str) -> str:
    """Return the name at the start of a requirement, in the form that indexes compare."""
    found = _NAME.match(requirement.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""
