"""The build hook: a wheel or a source archive without the console builds it first, with Node.

Hatchling calls `initialize` before it collects the files. An editable install builds nothing; there,
`make setup` does. ``HATCH_BUILD_NO_HOOKS=true`` builds the package without the console.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/duetime/console/built/index.html"
SOURCE = "console/build.mjs"
STEPS = (("npm", "ci", "--silent", "--no-audit", "--no-fund"), ("node", SOURCE))

_REMEDIES = """\
Do one of these:
- install Node 20 or later with npm from https://nodejs.org, and repeat the command;
- install a released wheel, which has the console: pip install duetime;
- build without the console, if you do not need it: set HATCH_BUILD_NO_HOOKS=true, and repeat the command."""


class ConsoleMissing(Exception):
    """The console is not built, and cannot be."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The package needs the console: {PAGE} is missing, and {reason}.\n{_REMEDIES}")


class ConsoleBuildHook(BuildHookInterface[Any]):
    """Builds the console of a checkout that has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's hook
        """Build the console, unless this is an editable install."""
        if version == "editable":
            return
        try:
            build_console(Path(self.root))
        except ConsoleMissing as error:
            self.app.abort(str(error))


def build_console(root: Path, find: Callable[[str], str | None] = shutil.which) -> None:
    """Build the console into the package at `root`, unless it is there.

    Args:
        root: the directory of pyproject.toml.
        find: returns the path of a program, or None.

    Raises:
        ConsoleMissing: its source, Node or npm is missing, or a step failed.
    """
    if (root / PAGE).is_file():
        return
    if not (root / SOURCE).is_file():
        raise ConsoleMissing(f"so is its source, {SOURCE}")
    programs = {name: find(name) for name in ("node", "npm")}
    if missing := [name for name, path in programs.items() if path is None]:
        raise ConsoleMissing(f"its build needs {' and '.join(missing)}, which the PATH lacks")
    for name, *words in STEPS:
        done = subprocess.run(  # noqa: S603 - our own commands
            [str(programs[name]), *words], cwd=root, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ConsoleMissing(f"`{name} {words[0]}` failed:\n{done.stdout}{done.stderr}")
