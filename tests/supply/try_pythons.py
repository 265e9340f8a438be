"""Run the fast part of the suite on each Python that duetime supports.

``python -m tests.supply.try_pythons [3.12 …]`` searches the PATH and pyenv for each interpreter. It
prints and skips a missing one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.supply.project import ROOT, supported_pythons

FAST = ("tests/facts", "tests/journeys", "tests/cadence", "tests/api", "tests/cli")
VENVS = ROOT / ".cache/pythons"


def main() -> None:
    """Try the given versions, or all."""
    results = {version: _try(version) for version in sys.argv[1:] or supported_pythons()}
    for version, result in results.items():
        print(f"Python {version}: {result}")
    if "failed" in results.values():
        sys.exit(1)


def _try(version: str) -> str:
    found = interpreter(version)
    if found is None:
        print(f"Python {version} is not on this machine: skipped")
        return "skipped"
    print(f"Python {version}: {found}", flush=True)
    python = _prepared(version, found)
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-m", "not long", "-n", "2", *FAST],
        cwd=ROOT,
        check=False,
        env=_environment(),
    )
    return "failed" if done.returncode else "passed"


def interpreter(version: str) -> Path | None:
    """Return the path of a Python that runs; pyenv has shims of versions that do not."""
    on_path = shutil.which(f"python{version}")
    of_pyenv = (Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python{version}")
    for path in filter(None, [on_path, *sorted(of_pyenv, reverse=True)]):
        if not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode:
            return Path(path)
    return None


def _prepared(version: str, found: Path) -> Path:
    """Return the Python of its virtual environment, made anew if the locked requirements have changed."""
    made = VENVS / version
    python, ready = made / "bin/python", made / ".ready"
    locked = (ROOT / "requirements/dev.txt").read_text()
    if not ready.is_file() or ready.read_text() != locked:
        shutil.rmtree(made, ignore_errors=True)
        subprocess.run([found, "-m", "venv", made], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", "requirements/dev.txt"], cwd=ROOT, check=True)
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", "."], cwd=ROOT, check=True)
        ready.write_text(locked)
    return python


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}


if __name__ == "__main__":
    main()
