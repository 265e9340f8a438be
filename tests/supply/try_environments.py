"""Virtual environments with a locked set of requirements, to run the fast part of the suite in."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.supply.project import ROOT

FAST = ("tests/facts", "tests/journeys", "tests/cadence", "tests/api", "tests/cli")


def interpreter(version: str) -> Path | None:
    """Return the path of a Python that runs; pyenv has shims of versions that do not."""
    on_path = shutil.which(f"python{version}")
    of_pyenv = (Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python{version}")
    for path in filter(None, [on_path, *sorted(of_pyenv, reverse=True)]):
        if not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode:
            return Path(path)
    return None


def prepared(made: Path, found: Path, requirements: str) -> Path:
    """Return the Python of a virtual environment, made again if its locked requirements have changed.

    Args:
        made: the environment's directory.
        found: the interpreter that makes it.
        requirements: the lock, relative to the project.
    """
    python, ready = made / "bin/python", made / ".ready"
    locked = (ROOT / requirements).read_text() + (ROOT / "contract/pyproject.toml").read_text()
    if not ready.is_file() or ready.read_text() != locked:
        shutil.rmtree(made, ignore_errors=True)
        subprocess.run([found, "-m", "venv", made], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", requirements], cwd=ROOT, check=True)
        subprocess.run([*pip, "editables", "hatchling==1.33.0"], cwd=ROOT, check=True)
        both = ("-e", ".", "-e", "./contract")
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", *both], cwd=ROOT, check=True)
        ready.write_text(locked)
    return python


def passes(python: Path, *words: str) -> bool:
    """Run pytest with these words, without the caller's environment of Python."""
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-m", "not long", "-n", "2", *words],
        cwd=ROOT,
        check=False,
        env={n: value for n, value in os.environ.items() if n not in {"PYTHONPATH", "VIRTUAL_ENV"}},
    )
    return not done.returncode
