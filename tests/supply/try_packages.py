"""The wheel and the sdist, each in an empty environment.

``python -m tests.supply.try_packages [wheel[local,cdk] …]``.

Without arguments each is tried with nothing, with each extra, and with all of them. Every environment is
made outside of the checkout, so that nothing but what is installed can be imported.
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
from tests.supply.smoke import Installed, NotAsPromised, look

DIST = ROOT / "dist"
ARCHIVES = {"wheel": f"duetime-{VERSION}-py3-none-any.whl", "sdist": f"duetime-{VERSION}.tar.gz"}


def main() -> None:
    """Build both, and try those asked for, or all."""
    build()
    requirement = sys.argv[1:] or list(all_trials())
    failed = [row for row in requirement if not _try(row)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def build() -> None:
    """Both archives anew, and what must be in them."""
    for old in DIST.glob("duetime-*"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", DIST], cwd=ROOT, check=True)
    with zipfile.ZipFile(DIST / ARCHIVES["wheel"]) as wheel:
        _check("wheel", wheel.namelist(), "duetime/functions/", "duetime/console/built/")
    with tarfile.open(DIST / ARCHIVES["sdist"]) as sdist:
        names = [getname.partition("/")[2] for getname in sdist.getnames()]
        _check("sdist", names, "functions/", "src/duetime/console/built/")


def _check(archive: str, names: list[str], functions: str, console: str) -> None:
    entries = {f"{functions}{path.name}" for path in (ROOT / "functions").glob("*.py")}
    missing = (entries | {f"{console}index.html"}) - set(names)
    strangers = [name for name in names if "test" in name.split("/")[0] or "__pycache__" in name]
    if missing or strangers:
        sys.exit(f"{archive}: lacks {sorted(missing)}, has {strangers}")
    if not any(re.fullmatch(rf"{console}assets/licences\.txt", name) for name in names):
        sys.exit(f"{archive}: the licences of what the page carries are not beside it")


def all_trials() -> Iterator[str]:
    """Each archive with nothing, with each extra, and with all."""
    for archive in ARCHIVES:
        yield archive
        yield from (f"{archive}[{extra}]" for extra in EXTRAS)
        yield f"{archive}[{','.join(EXTRAS)}]"


def _try(trial: str) -> bool:
    archive, _, listed = trial.removesuffix("]").partition("[")
    extras = frozenset(listed.split(",")) if listed else frozenset()
    began = time.perf_counter()
    with TemporaryDirectory(prefix="duetime-package-") as made:
        try:
            shown = ", ".join(look(_installed(Path(made), archive, listed), extras))
        except NotAsPromised as error:
            print(f"{trial:28} FAILED: {error}", flush=True)
            return False
    print(f"{trial:28} {shown}  ({time.perf_counter() - began:.0f} s)", flush=True)
    return True


def _installed(directory: Path, archive: str, listed: str) -> Installed:
    stored = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DUETIME"))}
    environment = {**stored, "PATH": f"{directory / 'venv/bin'}:{stored['PATH']}", "CDK_OUTDIR": "out"}
    installed = Installed(directory, environment)
    installed.run(sys.executable, "-m", "venv", "venv")
    requirement = f"{DIST / ARCHIVES[archive]}[{listed}]" if listed else str(DIST / ARCHIVES[archive])
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    installed.python(*pip, requirement)
    return installed


if __name__ == "__main__":
    main()
