"""Install the libraries of a bundle as wheels for Lambda's machines, with uv, or with pip if uv is missing.

Cached wheels are used without an index, so that a synthesis needs no network and is reproducible.
Files that depend on this machine are removed, so that the same libraries make the same asset.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from duetime.cdk.requirements import Requirements
from duetime.errors import OperationFailed

_OF_THIS_MACHINE = (
    "bin",
    ".lock",
    *(
        f"*.dist-info/{name}"
        for name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
    ),
)
WHEELS = Path.home() / ".cache" / "duetime" / "wheels"
"""The default cache of pip's wheels."""


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """The machine (``aarch64``, ``x86_64``) and the Python (``3.13``) that libraries are for."""

    machine: str
    python: str

    @property
    def glibc(self) -> tuple[int, ...]:
        """The minor versions of glibc of usable wheels; Lambda's Python 3.11 has an older Amazon Linux."""
        return (17,) if self.python == "3.11" else (17, 28, 34)

    def for_uv(self) -> list[str]:
        """Return uv's options."""
        newest = f"{self.machine}-manylinux_2_{max(self.glibc)}"
        return ["--python-platform", newest, "--python-version", self.python, "--only-binary", ":all:"]

    def for_pip(self) -> list[str]:
        """Return pip's options, with one for each platform tag."""
        tags = [
            *(f"manylinux_2_{minor}_{self.machine}" for minor in self.glibc),
            f"manylinux2014_{self.machine}",
        ]
        platforms = [word for tag in tags for word in ("--platform", tag)]
        return [
            *platforms,
            "--python-version",
            self.python,
            "--implementation",
            "cp",
            "--only-binary",
            ":all:",
        ]


def install(
    requirements: Requirements, directory: Path, target: InstallTarget | None = None, *, wheels: Path = WHEELS
) -> None:
    """Install the libraries into `directory`, for `target` or for the running Python.

    Args:
        requirements: the libraries.
        directory: where they are installed.
        target: the machine and the Python that they are for.
        wheels: where pip caches its wheels.

    Raises:
        OperationFailed: no index has such wheels, or both uv and pip are missing.
    """
    with requirements.as_arguments() as arguments:
        if uv := _uv():
            _with_uv(uv, arguments, directory, target)
        else:
            _with_pip(arguments, directory, target, wheels)
    for path in (found for pattern in _OF_THIS_MACHINE for found in directory.glob(pattern)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _with_uv(
    uv: Sequence[str], arguments: Sequence[str], directory: Path, target: InstallTarget | None
) -> None:
    options = target.for_uv() if target else ["--python", sys.executable]
    command = [*uv, "pip", "install", "--quiet", "--target", str(directory), *options, *arguments]
    if _run([*command, "--offline"]) is None:
        return
    if problem := _run(command):
        raise OperationFailed(problem)


def _with_pip(arguments: Sequence[str], directory: Path, target: InstallTarget | None, wheels: Path) -> None:
    """Download wheels into a cache and install from it, since pip would query its index every time."""
    if not find_spec("pip"):
        raise OperationFailed("neither uv nor pip is installed; install uv beside aws-cdk-lib")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = target.for_pip() if target else []
    cache = ["--no-compile", "--no-index", "--find-links", str(wheels)]
    command = [*pip, "install", *cache, "--target", str(directory), *options, *arguments]
    if _run(command) is None:
        return
    if problem := _run([*pip, "download", "--dest", str(wheels), *options, *arguments]) or _run(command):
        raise OperationFailed(problem)


def _run(command: Sequence[str]) -> str | None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    if done.returncode == 0:
        return None
    return f"{' '.join(command)}\n\n{done.stderr.strip() or done.stdout.strip()}"


def _uv() -> list[str] | None:
    """Return the command of uv: this environment's package, or a program."""
    if find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    found = shutil.which("uv")
    return [found] if found else None
