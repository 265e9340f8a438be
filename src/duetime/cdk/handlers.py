"""A worker's handlers: where their code is, and what one finds when it is imported.

The code is imported once at synthesis, from a copy of just what is bundled and in a process of its own: what cannot
work in Lambda fails here, with its own traceback, and what it registers becomes the manifest.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Any, Self

from duetime.cdk.deployment import Deployment, shown
from duetime.cdk.install import install
from duetime.cdk.requirements import Requirements
from duetime.errors import DuetimeError
from duetime.ids import DEFAULT_WORKER
from duetime.model.manifest import Manifest
from duetime.settings import Settings

NOT_CODE = ignore_patterns("__pycache__", "*.pyc", ".*")
_READER = Path(__file__).with_name("read_app.py")
_PATIENCE = 120


class HandlersRefused(DuetimeError, ValueError):
    """The handlers cannot be bundled: the message says why, with the traceback that their import left."""

    code = "handlers-refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """One worker: its app, and how many messages it handles at once.

    The top-level package (or module) of the app is bundled, together with what `requirements` names.
    """

    app: str
    """Where the app is: ``module:name``."""
    worker: str = DEFAULT_WORKER
    """The name that the app was made with: ``App(worker=…)``."""
    source: Path = Path()
    """The directory that holds the module."""
    requirements: Path | None = None
    concurrency: int = 10

    @classmethod
    def from_settings(cls, settings: Settings, deployment: Deployment) -> Self:
        """The worker that the settings name."""
        return cls(
            app=settings.app,
            source=Path(deployment.handlers),
            requirements=Path(deployment.requirements) if deployment.requirements else None,
            concurrency=deployment.worker_concurrency,
        )

    @property
    def code(self) -> Path:
        """The top-level package or module of the app.

        Raises:
            HandlersRefused: there is none.
        """
        top = self.app.partition(":")[0].partition(".")[0]
        for found in (self.source / top, self.source / f"{top}.py"):
            if top and found.exists():
                return found
        raise HandlersRefused(
            f"app is {self.app!r}; allowed is module:name, its module or package in {self.source.resolve()}"
        )

    def copy_to(self, directory: Path) -> None:
        """Copy the code into `directory`, as it is in the bundle.

        Raises:
            HandlersRefused: a library has the same name.
        """
        code = self.code
        if (directory / code.stem).exists() or (directory / code.name).exists():
            raise HandlersRefused(
                f"app is {self.app!r}, but a library of the bundle is named {code.stem!r} too"
            )
        if code.is_dir():
            copytree(code, directory / code.name, ignore=NOT_CODE)
        else:
            (directory / code.name).write_bytes(code.read_bytes())

    def manifest(self, *, at_most: timedelta) -> Manifest:
        """What the app registers, found by importing it.

        Args:
            at_most: Lambda's time-out of the worker, which no handler's own may exceed.

        Raises:
            HandlersRefused: it cannot be imported, registers nothing, or contradicts the deployment.
        """
        with TemporaryDirectory(prefix="duetime-") as made:
            code, libraries = Path(made, "code"), Path(made, "libraries")
            code.mkdir()
            self.copy_to(code)
            if self.requirements:
                install(Requirements().and_file(self.requirements), libraries)
            read = _read(self.app, [code, libraries])
        manifest = Manifest.from_json(read["manifest"], read["jobs"])
        if manifest.worker != self.worker:
            raise HandlersRefused(
                f"{self.app} is made with App(worker={manifest.worker!r}), but the stack gives it to the worker"
                f" {self.worker!r}; say the same name in both"
            )
        if timedelta(seconds=read["longest"]) > at_most:
            raise HandlersRefused(
                f"worker_timeout is {shown(at_most)}, but {read['slowest']} has a time-out of {read['longest']:g} s;"
                " raise the one or lower the other"
            )
        return manifest


def _read(app: str, path: list[Path]) -> dict[str, Any]:
    with TemporaryDirectory(prefix="duetime-") as made:
        found = Path(made, "found.json")
        # -P: what lies beside the reader must not be taken for the user's own modules
        command = [sys.executable, "-P", str(_READER), str(found), app, *map(str, path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise HandlersRefused(f"{app} did not import within {_PATIENCE} s") from None
        if done.returncode:
            raise HandlersRefused(f"app is {app!r}, and importing it fails:\n\n{done.stderr.strip()}")
        return dict(json.loads(found.read_text()))
