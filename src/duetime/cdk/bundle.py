"""A function's code: duetime itself, its libraries, in a worker the handlers, in the API all workers'. Made without Docker.

An asset is named by its content: where nothing changed, a deploy changes nothing.
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
"""Packages and entry points that one function alone needs: where the page changes, the console alone does."""


def entry_points() -> Path:
    """Where the functions' entry points are: inside the installed package, or in a checkout beside it."""
    inside = PACKAGE / "functions"
    return inside if inside.is_dir() else PACKAGE.parents[1] / "functions"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What one asset holds; the same for all of duetime's own functions."""

    target: InstallTarget
    handlers: tuple[Handlers, ...] = ()
    has_api: bool = False
    has_console: bool = False

    @classmethod
    def of(
        cls, deployment: Deployment, *handlers: Handlers, has_api: bool = False, has_console: bool = False
    ) -> Bundle:
        """The bundle for a deployment's machines."""
        machine = "aarch64" if deployment.architecture == "arm64" else deployment.architecture
        return cls(InstallTarget(machine, deployment.python), handlers, has_api, has_console)

    @property
    def requirements(self) -> Requirements:
        """The libraries; pydantic, which makes cold starts slow, only where handlers are."""
        if not self.handlers:
            return Requirements.of_duetime(without=LAMBDA_HAS | ONLY_HANDLERS_NEED)
        whole = Requirements.of_duetime(without=LAMBDA_HAS)
        for handler in self.handlers:
            whole = whole.and_file(handler.requirements)
        return whole

    def make(self, directory: Path) -> None:
        """Fill an empty directory.

        Raises:
            HandlersRefused: handlers are named like a library, or like those of another directory.
            NotInstalled: the libraries cannot be had, or not together.
        """
        install(self.requirements, directory, self.target)
        # over what a requirements file that names duetime itself brought: this environment's is the one that was tested
        copytree(PACKAGE, directory / "duetime", ignore=self._unneeded, dirs_exist_ok=True)
        entries = directory / "duetime" / "functions"
        copytree(entry_points(), entries, ignore=self._unneeded_entries, dirs_exist_ok=True)
        for each in {handlers.code.resolve(): handlers for handlers in self.handlers}.values():
            each.copy_to(directory)

    def _unneeded(self, directory: str, names: list[str]) -> set[str]:
        """What `copytree` leaves out: whole parts of the package, and what Python compiled."""
        unneeded = set(NOT_CODE(directory, names))
        if Path(directory) == PACKAGE:
            unneeded |= _NOT_IN_LAMBDA | self._of_others
        return unneeded

    def _unneeded_entries(self, directory: str, names: list[str]) -> set[str]:
        return set(NOT_CODE(directory, names)) | {f"{of_other}.py" for of_other in self._of_others}

    @property
    def _of_others(self) -> set[str]:
        """What other functions alone need."""
        needed = {_API: self.has_api, _CONSOLE: self.has_console}
        return {name for name, is_needed in needed.items() if not is_needed}

    def code(self) -> lambda_.Code:
        """The bundle as an asset, made when the stack that uses it is."""
        return lambda_.Code.from_asset(
            str(PACKAGE),
            asset_hash_type=AssetHashType.OUTPUT,
            bundling=BundlingOptions(
                image=DockerImage.from_registry("none"),  # asked for, and never used
                local=_LocalBundling(self),
                environment={"BUNDLE": self._key},
            ),
        )

    @property
    def _key(self) -> str:
        """Tells bundles apart: what has the same options is made only once in a synthesis."""
        return sha256(json.dumps([repr(self)]).encode()).hexdigest()


@jsii.implements(ILocalBundling)
class _LocalBundling:
    """How CDK asks for a bundle."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def try_bundle(self, output_dir: str, *_options: Any, **_named: Any) -> bool:
        """Make it; what goes wrong is raised, since False would send CDK to Docker."""
        self._bundle.make(Path(output_dir))
        return True
