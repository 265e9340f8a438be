"""A worker's handlers: the location of their code, and the manifest of the app.

Synthesis imports the code once, in its own process, from a copy of the bundled files. Code that cannot work
in Lambda fails there, with its own traceback. The manifest lists the types and jobs that the app registers.
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

from duetime._setting_fields import shown
from duetime.cdk.deployment import Deployment
from duetime.cdk.install import install
from duetime.cdk.requirements import Requirements
from duetime.errors import DeclarationError
from duetime.ids import DEFAULT_WORKER
from duetime.model.manifest import Manifest
from duetime.settings import Settings

NOT_CODE = ignore_patterns("__pycache__", "*.pyc", ".*")
_READER = Path(__file__).with_name("read_app.py")
_PATIENCE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """One worker: its app, and the number of calls that it handles at once.

    The top-level package (or module) of the app is bundled, together with the libraries of `requirements`.

    Attributes:
        app: the app as ``module:name``.
        worker: the name of the app's worker: ``App(worker=…)``.
        source: the directory with the module.
        requirements: a requirements file of pip.
        concurrency: the number of calls, each with up to `worker_batch` messages.
    """

    app: str
    worker: str = DEFAULT_WORKER
    source: Path = Path()
    requirements: Path | None = None
    concurrency: int = 10

    @classmethod
    def from_settings(cls, settings: Settings, deployment: Deployment) -> Self:
        """Return the worker that the settings name."""
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
            DeclarationError: neither exists.
        """
        top = self.app.partition(":")[0].partition(".")[0]
        for found in (self.source / top, self.source / f"{top}.py"):
            if top and found.exists():
                return found
        raise DeclarationError(
            f"app is {self.app!r}; allowed is module:name, its module or package in {self.source.resolve()}"
        )

    def copy_to(self, directory: Path) -> None:
        """Copy the code into a bundle's directory.

        Raises:
            DeclarationError: a library of the bundle has the same name.
        """
        code = self.code
        if (directory / code.stem).exists() or (directory / code.name).exists():
            raise DeclarationError(
                f"app is {self.app!r}, but a bundled library has the name {code.stem!r} too; rename yours"
            )
        if code.is_dir():
            copytree(code, directory / code.name, ignore=NOT_CODE)
        else:
            (directory / code.name).write_bytes(code.read_bytes())

    def manifest(self, *, at_most: timedelta) -> Manifest:
        """Import the app, and return the types and jobs that it registers.

        Args:
            at_most: Lambda's time-out of the worker, the maximum for a handler's own.

        Raises:
            DeclarationError: the app cannot be imported, registers nothing, or contradicts the deployment.
        """
        with TemporaryDirectory(prefix="duetime-") as directory:
            code, libraries = Path(directory, "code"), Path(directory, "libraries")
            code.mkdir()
            self.copy_to(code)
            if self.requirements:
                install(Requirements().and_file(self.requirements), libraries)
            read = _read(self.app, [code, libraries])
        manifest = Manifest.from_json(read["manifest"], read["jobs"])
        if manifest.worker != self.worker:
            raise DeclarationError(
                f"{self.app} has App(worker={manifest.worker!r}), but the stack assigns it to the worker"
                f" {self.worker!r}; use the same name in both"
            )
        if timedelta(seconds=read["longest"]) > at_most:
            raise DeclarationError(
                f"worker_timeout is {shown(at_most)}, but {read['slowest']} has a time-out of"
                f" {read['longest']:g} s; raise worker_timeout or lower the handler's"
            )
        return manifest


def _read(app: str, path: list[Path]) -> dict[str, Any]:
    with TemporaryDirectory(prefix="duetime-") as directory:
        found = Path(directory, "found.json")
        # -P: modules beside the reader must not shadow the user's own
        command = [sys.executable, "-P", str(_READER), str(found), app, *map(str, path)]
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            raise DeclarationError(f"{app} did not import within {_PATIENCE} s") from None
        if done.returncode:
            raise DeclarationError(f"app is {app!r}, and importing it fails:\n\n{done.stderr.strip()}")
        return dict(json.loads(found.read_text()))
