"""The contenders' own virtual environment, created on demand and again after a change of the requirements."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from bench.fresh import ROOT
from rivals.servers import NotHere

PLACE = ROOT / ".cache" / "rivals"
PINNED = ROOT / "rivals" / "requirements.txt"
_HELD = PLACE / "holds.txt"
_LOGS = PLACE.with_name("rivals-logs")


def python() -> Path:
    """Return its interpreter.

    Raises:
        NotHere: the environment could not be created.
    """
    found = PLACE / "bin" / "python"
    if not _HELD.exists() or _HELD.read_text() != PINNED.read_text():
        uv = [sys.executable, "-m", "uv"]
        _run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(PLACE)])
        _run([*uv, "pip", "install", "--quiet", "--python", str(found), "--requirement", str(PINNED)])
        _HELD.write_text(PINNED.read_text())
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - from this file
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or [""])[-1]
        raise NotHere(f"their environment could not be made from {PINNED.relative_to(ROOT)}: {problem}")


def log_of(script: Path) -> Path:
    """Return the file of a script's standard error."""
    return _LOGS / f"{script.stem}.log"


def forget_logs() -> None:
    """Remove the logs of the run before."""
    shutil.rmtree(_LOGS, ignore_errors=True)
