"""A function's code: duetime itself, its libraries, and in a worker the handlers. Made without Docker.

An asset is named by its content: where nothing changed, a deploy changes nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from duetime.cdk.deployment import Deployment
from duetime.cdk.handlers import NOT_CODE, Handlers
from duetime.cdk.install import Target, install
from duetime.cdk.requirements import LAMBDA_HAS, ONLY_HANDLERS_NEED, Requirements

PACKAGE = Path(__file__).parents[1]
_NOT_IN_LAMBDA = frozenset({"cdk", "local", "cli", "testing", "memory", "api", "functions"})
_NO_ENTRY_POINT = ignore_patterns("api.py", "__pycache__", "*.pyc")


def entry_points() -> Path:
    """Where the functions' entry points are: inside the installed package, or in a checkout beside it."""
    inside = PACKAGE / "functions"
    return inside if inside.is_dir() else PACKAGE.parents[1] / "functions"


def _unneeded(directory: str, names: list[str]) -> set[str]:
    """What `copytree` leaves out: whole parts of the package, and what Python compiled."""
    return NOT_CODE(directory, names) | (_NOT_IN_LAMBDA if Path(directory) == PACKAGE else frozenset())


@dataclass(frozen=True, slots=True)
class Bundle:
    """What one asset holds; the same for all of duetime's own functions."""

    target: Target
    handlers: Handlers | None = None

    @classmethod
    def of(cls, deployment: Deployment, handlers: Handlers | None = None) -> Bundle:
        """The bundle for a deployment's machines."""
        machine = "aarch64" if deployment.architecture == "arm64" else deployment.architecture
        return cls(Target(machine, deployment.python), handlers)

    @property
    def requirements(self) -> Requirements:
        """The libraries; pydantic, which makes cold starts slow, only where handlers are."""
        if self.handlers is None:
            return Requirements.of_duetime(without=LAMBDA_HAS | ONLY_HANDLERS_NEED)
        return Requirements.of_duetime(without=LAMBDA_HAS).and_file(self.handlers.requirements)

    def make(self, directory: Path) -> None:
        """Fill an empty directory."""
        install(self.requirements, directory, self.target)
        # over what a requirements file that names duetime itself brought: this environment's is the one that was tested
        copytree(PACKAGE, directory / "duetime", ignore=_unneeded, dirs_exist_ok=True)
        copytree(
            entry_points(), directory / "duetime" / "functions", ignore=_NO_ENTRY_POINT, dirs_exist_ok=True
        )
        if self.handlers is not None:
            self.handlers.copy_to(directory)

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
