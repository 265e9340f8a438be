"""A function's code: duetime, its libraries, and handlers: a worker's own, in the API those of all workers.

A bundle is made without Docker. An asset is named by its content: without changes, a deploy changes nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from duetime.cdk.deployment import Deployment
from duetime.cdk.handlers import NOT_CODE, Handlers
from duetime.cdk.install import InstallTarget, install
from duetime.cdk.requirements import LAMBDA_HAS, ONLY_HANDLERS_NEED, Requirements

PACKAGE = Path(__file__).parents[1]
_NOT_IN_LAMBDA = frozenset({"cdk", "local", "cli", "testing", "memory", "functions", "cost"})
_API, _CONSOLE = "api", "console"
"""Packages and entry points that only one function needs: a new page changes only the console's bundle."""


def entry_points(package: Path = PACKAGE) -> Path:
    """Return the directory of the entry points: inside the installed package, or in a checkout beside it."""
    inside = package / "functions"
    return inside if inside.is_dir() else package.parents[1] / "functions"


@dataclass(frozen=True, slots=True)
class Bundle:
    """The content of one asset; all of duetime's own functions share one.

    `package` is the directory of duetime: of the installed package or of a checkout. `console_page` is the
    directory of the console's built page, for the console's function only.
    """

    target: InstallTarget
    handlers: tuple[Handlers, ...] = ()
    has_api: bool = False
    console_page: Path | None = None
    package: Path = PACKAGE

    @classmethod
    def for_deployment(
        cls,
        deployment: Deployment,
        *handlers: Handlers,
        has_api: bool = False,
        console_page: Path | None = None,
    ) -> Bundle:
        """Return the bundle for a deployment's machines."""
        machine = "aarch64" if deployment.architecture == "arm64" else deployment.architecture
        return cls(InstallTarget(machine, deployment.python), handlers, has_api, console_page)

    @property
    def requirements(self) -> Requirements:
        """The libraries. pydantic slows cold starts, so it is only included with handlers."""
        if not self.handlers:
            return Requirements.for_duetime(without=LAMBDA_HAS | ONLY_HANDLERS_NEED)
        requirements = Requirements.for_duetime(without=LAMBDA_HAS)
        for handler in self.handlers:
            requirements = requirements.and_file(handler.requirements)
        return requirements

    def make(self, directory: Path) -> None:
        """Fill an empty directory.

        Raises:
            DeclarationError: handlers have the name of a library, or of handlers from another directory.
            OperationFailed: the libraries are not available, or not compatible.
        """
        install(self.requirements, directory, self.target)
        # a requirements file may have installed another duetime: replace it by the tested one
        copytree(self.package, directory / "duetime", ignore=self._unneeded, dirs_exist_ok=True)
        entries = directory / "duetime" / "functions"
        copytree(entry_points(self.package), entries, ignore=self._unneeded_entries, dirs_exist_ok=True)
        if self.console_page is not None:
            copytree(self.console_page, directory / "duetime" / "console" / "built")
        for handlers in {handlers.code.resolve(): handlers for handlers in self.handlers}.values():
            handlers.copy_to(directory)

    def _unneeded(self, directory: str, names: list[str]) -> set[str]:
        """Return the names that `copytree` skips: parts of the package, and compiled files."""
        unneeded = set(NOT_CODE(directory, names))
        if Path(directory) == self.package:
            unneeded |= _NOT_IN_LAMBDA | self._of_other_functions
        if Path(directory) == self.package / _CONSOLE:
            unneeded.add("built")  # `console_page` may be another directory
        return unneeded

    def _unneeded_entries(self, directory: str, names: list[str]) -> set[str]:
        return set(NOT_CODE(directory, names)) | {f"{of_other}.py" for of_other in self._of_other_functions}

    @property
    def _of_other_functions(self) -> set[str]:
        """The packages and entry points that only other functions need."""
        needed = {_API: self.has_api, _CONSOLE: self.console_page is not None}
        return {name for name, is_needed in needed.items() if not is_needed}

    def code(self) -> lambda_.Code:
        """Return the bundle as an asset; it is made when the stack is synthesised."""
        return lambda_.Code.from_asset(
            str(PACKAGE),
            asset_hash_type=AssetHashType.OUTPUT,
            bundling=BundlingOptions(
                image=DockerImage.from_registry("none"),  # required, but never used
                local=_LocalBundling(self),
                environment={"BUNDLE": self._key},
            ),
        )

    @property
    def _key(self) -> str:
        """The identity of the bundle: CDK makes bundles with the same options only once."""
        return sha256(json.dumps([repr(self)]).encode()).hexdigest()


@jsii.implements(ILocalBundling)
class _LocalBundling:
    """The interface through which CDK makes a bundle."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def try_bundle(self, output_dir: str, *_options: Any, **_named: Any) -> bool:
        """Make the bundle. Errors are raised, since False would make CDK use Docker."""
        self._bundle.make(Path(output_dir))
        return True
