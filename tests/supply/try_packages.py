"""Check the wheel, the sdist and a fresh clone, each in an empty environment.

``python -m tests.supply.try_packages [wheel[local,cdk] …]`` checks the given ones. By default it checks wheel
and sdist without extras, with each extra, and with all of them; ``clone[local]``, a clone of the last commit,
which builds the console; and ``pinned``, the wheel with all extras at the hashed pins. Every environment is
outside the checkout, so only the installed package can be imported.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.supply.project import EXTRAS, ROOT, VERSION
from tests.supply.smoke import CheckFailed, Installed, check
from tools.bills import copy_pins, pins_of

DIST = ROOT / "dist"
CLONE, PINNED = "clone", "pinned"
ARCHIVES = {"wheel": f"duetime-{VERSION}-py3-none-any.whl", "sdist": f"duetime-{VERSION}.tar.gz"}


def main() -> None:
    """Build both, and check the given ones, or all."""
    build()
    trials = sys.argv[1:] or all_trials()
    failed = [trial for trial in trials if not _try(trial)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def build() -> None:
    """Build the archives of both distributions again, and check the contents of duetime's."""
    for old in DIST.glob("duetime[-_]*"):
        old.unlink()
    for project in (ROOT, ROOT / "contract"):
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", DIST], cwd=project, check=True)
    copy_pins(VERSION)
    with zipfile.ZipFile(DIST / ARCHIVES["wheel"]) as wheel:
        _check("wheel", wheel.namelist(), "duetime/functions/", "duetime/console/built/")
    with tarfile.open(DIST / ARCHIVES["sdist"]) as sdist:
        names = [name.partition("/")[2] for name in sdist.getnames()]
        _check("sdist", names, "functions/", "src/duetime/console/built/")


def _check(archive: str, names: list[str], functions: str, console: str) -> None:
    entries = {f"{functions}{path.name}" for path in (ROOT / "functions").glob("*.py")}
    missing = (entries | {f"{console}index.html"}) - set(names)
    unexpected = [name for name in names if "test" in name.split("/")[0] or "__pycache__" in name]
    if missing or unexpected:
        sys.exit(f"{archive}: lacks {sorted(missing)}, has {unexpected}")
    if not any(re.fullmatch(rf"{console}assets/licences\.txt", name) for name in names):
        sys.exit(f"{archive}: the console lacks the licences of its packages")


def all_trials() -> Iterator[str]:
    """Yield each archive without extras, with each extra, and with all; and a clone with the local cloud."""
    for archive in ARCHIVES:
        yield archive
        yield from (f"{archive}[{extra}]" for extra in EXTRAS)
        yield f"{archive}[{','.join(EXTRAS)}]"
    yield f"{CLONE}[local]"
    yield PINNED


def _try(trial: str) -> bool:
    archive, _, listed = trial.removesuffix("]").partition("[")
    extras = frozenset(EXTRAS) if archive == PINNED else frozenset(listed.split(",") if listed else ())
    began = time.perf_counter()
    with TemporaryDirectory(prefix="duetime-package-") as made:
        try:
            shown = ", ".join(check(_installed(Path(made), archive, listed), extras))
        except CheckFailed as error:
            print(f"{trial:28} FAILED: {error}", flush=True)
            return False
    print(f"{trial:28} {shown}  ({time.perf_counter() - began:.0f} s)", flush=True)
    return True


def _installed(directory: Path, archive: str, listed: str) -> Installed:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DUETIME"))
    }
    environment = {**inherited, "PATH": f"{directory / 'venv/bin'}:{inherited['PATH']}", "CDK_OUTDIR": "out"}
    installed = Installed(directory, environment)
    installed.run(sys.executable, "-m", "venv", "venv")
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    installing = installed if archive == CLONE else _without_node(installed)
    if archive == PINNED:
        installing.python(*pip, "--require-hashes", "--requirement", str(pins_of(VERSION)))
        installing.python(*pip, "--no-deps", str(DIST / ARCHIVES["wheel"]))
        return installed
    source = _cloned(directory) if archive == CLONE else DIST / ARCHIVES[archive]
    installing.python(*pip, f"{source}[{listed}]" if listed else str(source))
    return installed


def _cloned(directory: Path) -> Path:
    """Return a clone of the last commit, without the console and without the packages of Node."""
    subprocess.run(["git", "clone", "--quiet", ROOT, directory / CLONE], check=True)  # noqa: S607 - any git
    return directory / CLONE


def _without_node(installed: Installed) -> Installed:
    """Return the environment with a Node that fails: the archives have the console."""
    failing = installed.directory / "failing"
    failing.mkdir()
    for name in ("node", "npm"):
        (failing / name).write_text("#!/bin/sh\nexit 1\n")
        (failing / name).chmod(0o755)
    path = f"{failing}:{installed.environment['PATH']}"
    return Installed(installed.directory, {**installed.environment, "PATH": path})


if __name__ == "__main__":
    main()
