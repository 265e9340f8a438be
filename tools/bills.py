"""Bills of materials in CycloneDX: the Python packages of all extras, and the console's packages.

``python -m tools.bills`` writes those of the wheel in dist/, whose packages it installs from the hashed pins.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parent.parent
PINS: Mapping[str, str] = {"hashed.txt": "pins.txt", "hashed-all.txt": "pins-all.txt"}
"""The hashed pins in requirements/, of the runtime and of all extras, and their names' ends in dist/."""


def copy_pins(version: str) -> None:
    """Copy the pins into dist/, beside the archives that they belong to."""
    for source, end in PINS.items():
        shutil.copyfile(ROOT / "requirements" / source, pins_of(version, end))


def pins_of(version: str, end: str = PINS["hashed-all.txt"]) -> Path:
    """Return the file of pins in dist/."""
    return ROOT / f"dist/duetime-{version}.{end}"


def write_bills(version: str) -> None:
    """Write both bills of a built wheel into dist/.

    Raises:
        CalledProcessError: a command failed.
    """
    wheel = ROOT / f"dist/duetime-{version}-py3-none-any.whl"
    with TemporaryDirectory(prefix="duetime-bill-") as directory:
        python = Path(directory) / "bin/python"
        _run(sys.executable, "-m", "venv", directory)
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _run(*pip, "--require-hashes", "--requirement", pins_of(version))
        _run(*pip, "--no-deps", wheel)
        file = wheel.with_name(f"duetime-{version}.python.cdx.json")
        options = ("--output-reproducible", "--of", "JSON", "-o", file)
        _run(sys.executable, "-m", "cyclonedx_py", "environment", *options, python)
    file.write_text(json.dumps(without_local_addresses(json.loads(file.read_text())), indent=2) + "\n")
    npm = _run("npm", "sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only")
    wheel.with_name(f"duetime-{version}.console.cdx.json").write_text(npm)


def without_local_addresses(bill: dict[str, Any]) -> dict[str, Any]:
    """Return a bill of materials without references to files of the machine that made it."""
    return {**bill, "components": [_published(component) for component in bill.get("components", ())]}


def _published(component: dict[str, Any]) -> dict[str, Any]:
    references = component.get("externalReferences", ())
    public = [reference for reference in references if not reference["url"].startswith("file:")]
    others = {name: value for name, value in component.items() if name != "externalReferences"}
    return {**others, "externalReferences": public} if public else others


def _run(program: str | Path, *words: str | Path) -> str:
    command = [shutil.which(program) or program, *words]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    from tests.supply.project import VERSION

    write_bills(VERSION)
