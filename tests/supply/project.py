"""The project's metadata: its dependencies, its version, the supported Pythons."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGE: dict[str, Any] = json.loads((ROOT / "package.json").read_text())
NPM_LOCK: dict[str, Any] = json.loads((ROOT / "package-lock.json").read_text())
VERSION: str = PYPROJECT["project"]["version"]
EXTRAS: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]


def normal(name: str) -> str:
    """Return a distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: Iterable[str]) -> set[str]:
    """Return the names of the required distributions."""
    return {normal(re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0]) for requirement in requirements}


def supported_pythons() -> list[str]:
    """Return the versions in the classifiers: 3.11 and so on."""
    output = " ".join(PYPROJECT["project"]["classifiers"])
    return re.findall(r"Python :: (3\.\d+)", output)
