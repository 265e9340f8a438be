"""Libraries for a bundle, fetched as wheels for Lambda's machines by uv, or by pip where there is no uv.

What is already cached is taken without asking any index, so that a synthesis needs no network and gives the same.
What tells of this machine is taken away again, so that the same libraries are the same asset.
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
from duetime.errors import DuetimeError

_OF_THIS_MACHINE = (
    "bin",
    ".lock",
    *(
        f"*.dist-info/{name}"
        for name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
    ),
)
_WHEELS = Path.home() / ".cache" / "duetime" / "wheels"


class NotInstalled(DuetimeError, RuntimeError):
    """An installer could not provide the libraries; the message is its own."""

    code = "not-installed"


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """The machine (``aarch64``, ``x86_64``) and the Python (``3.13``) that libraries are for."""

    machine: str
    python: str

    @property
    def glibc(self) -> tuple[int, ...]:
        """The versions of glibc that wheels may be built for; Python 3.11's Lambda runs on the older Amazon Linux."""
        return (17,) if self.python == "3.11" else (17, 28, 34)

    def for_uv(self) -> list[str]:
        """How uv is told."""
        newest = f"{self.machine}-manylinux_2_{max(self.glibc)}"
        return ["--python-platform", newest, "--python-version", self.python, "--only-binary", ":all:"]

    def for_pip(self) -> list[str]:
        """How pip is told: each tag by itself."""
        tags = [f"manylinux_2_{each}_{self.machine}" for each in self.glibc] + [
            f"manylinux2014_{self.machine}"
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


def install(requirements: Requirements, directory: Path, target: InstallTarget | None = None) -> None:
    """Put the libraries into `directory`: for `target`, or for this very Python.

    Raises:
        NotInstalled: an index has no such wheels, or there is neither uv nor pip.
    """
    with requirements.as_arguments() as wanted:
        _with_uv(uv, wanted, directory, target) if (uv := _uv()) else _with_pip(wanted, directory, target)
    for path in (found for pattern in _OF_THIS_MACHINE for found in directory.glob(pattern)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _with_uv(uv: Sequence[str], wanted: Sequence[str], directory: Path, target: InstallTarget | None) -> None:
    told = target.for_uv() if target else ["--python", sys.executable]
    command = [*uv, "pip", "install", "--quiet", "--target", str(directory), *told, *wanted]
    if _run([*command, "--offline"]) is None:
        return
    if problem := _run(command):
        raise NotInstalled(problem)


def _with_pip(wanted: Sequence[str], directory: Path, target: InstallTarget | None) -> None:
    """As pip asks its index each time, wheels are fetched into a directory of their own and installed from there."""
    if not find_spec("pip"):
        raise NotInstalled("neither uv nor pip is here; install uv beside aws-cdk-lib")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    told = target.for_pip() if target else []
    kept = ["--no-compile", "--no-index", "--find-links", str(_WHEELS)]
    command = [*pip, "install", *kept, "--target", str(directory), *told, *wanted]
    if _run(command) is None:
        return
    if problem := _run([*pip, "download", "--dest", str(_WHEELS), *told, *wanted]) or _run(command):
        raise NotInstalled(problem)


def _run(command: Sequence[str]) -> str | None:
    """What a command said when it failed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell, no user's text
    if done.returncode == 0:
        return None
    return f"{' '.join(command)}\n\n{done.stderr.strip() or done.stdout.strip()}"


def _uv() -> list[str] | None:
    """The command of uv, as this environment's package, or as a program."""
    if find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    found = shutil.which("uv")
    return [found] if found else None
