"""Deploy a CDK app onto the emulator, and return how to call the deployment."""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from duetime.aws.emulated_users import IamUser, PoolUsers
from duetime.errors import OperationFailed
from duetime.rehearsal import SILENT_NODE
from duetime.rehearsal.emulator import ACCOUNT, REGION, environment_of

OF_THIS_MACHINE = {
    "architecture": "arm64" if platform.machine() == "aarch64" else "x86_64",
    "python": f"{sys.version_info.major}.{sys.version_info.minor}",
}
"""Settings of functions: the emulator runs them on this machine, with this Python, at its own endpoint."""

USER, TENANT, GROUPS = "ada@acme.example", "acme", ("admins",)
"""The user of the rehearsal, who is created if the deployment has a user pool."""

SIGNER = "rehearsal"
"""The user of IAM, who is created if the API only takes signed requests."""

_OWN_CREDENTIALS = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN")
_TABLES = {"DUETIME_ACTIONS_TABLE": "ActionsTable", "DUETIME_JOBS_TABLE": "JobsTable"}


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A deployment on the emulator.

    Attributes:
        outputs: of the stack with the scheduler, by their short names.
        environment: of a process that calls the deployment.
        signer: the ARN that signs requests, if the API takes only these; else empty.
    """

    outputs: Mapping[str, str]
    environment: Mapping[str, str]
    signer: str = ""


@dataclass(frozen=True, slots=True)
class CdkApp:
    """A CDK app, as CDK's command line takes it.

    Attributes:
        directory: where its ``cdk.json`` and its sources are.
        command: runs the app, in place of the command in ``cdk.json``.
        stack: the stack to deploy; all by default.
        context: words such as ``duetime:lease=60``.
    """

    directory: Path
    command: str | None = None
    stack: str | None = None
    context: Sequence[str] = ()

    def deploy(self, endpoint: str, working: Path) -> Rehearsal:
        """Bootstrap the emulator, and deploy the app; files are written to `working`.

        Raises:
            OperationFailed: CDK is missing or failed, or the app has no scheduler.
        """
        if self.command is None and not (self.directory / "cdk.json").is_file():
            raise OperationFailed(
                f"{self.directory} has no cdk.json: change to the directory of the CDK app,"
                ' or name its command: --cdk-app "python app.py"'
            )
        environment = environment_of(endpoint)
        self._cdk(["bootstrap", f"aws://{ACCOUNT}/{REGION}"], environment, cwd=working)
        written = working / "outputs.json"
        words = [
            "deploy",
            self.stack or "--all",
            "--require-approval",
            "never",
            "--outputs-file",
            str(written),
        ]
        self._cdk([*words, *self.words(working / "cdk.out")], environment, cwd=self.directory)
        outputs = _of_scheduler(json.loads(written.read_text()) if written.is_file() else {})
        tables = {name: outputs[output] for name, output in _TABLES.items()}
        caller, signer = _caller(outputs, endpoint)
        return Rehearsal(outputs, environment | tables | caller, signer)

    def words(self, output: Path) -> list[str]:
        """Return the options of CDK that choose the app and its settings."""
        machine = [f"duetime:{name}={value}" for name, value in OF_THIS_MACHINE.items()]
        context = [word for pair in (*machine, *self.context) for word in ("--context", pair)]
        return [*(["--app", self.command] if self.command else []), "--output", str(output), *context]

    def _cdk(self, words: Sequence[str], environment: dict[str, str], *, cwd: Path) -> None:
        own = os.environ.items()  # noqa: TID251 - CDK runs as the caller's process would
        inherited = {name: value for name, value in own if name not in _OWN_CREDENTIALS}
        done = subprocess.run(  # noqa: S603 - the caller's words
            [self._command_line(), *words], cwd=cwd, env=SILENT_NODE | inherited | environment, check=False
        )
        if done.returncode:
            raise OperationFailed(
                f"`cdk {words[0]}` failed with status {done.returncode}; see its output above"
            )

    def _command_line(self) -> str:
        """Return CDK's command line: of the app or a directory above it, or else on the path."""
        found = self._installed() or shutil.which("cdk")
        if found is None:
            raise OperationFailed(
                f"CDK's command line is missing: run `npm install aws-cdk@2` in {self.directory}"
            )
        if shutil.which("node") is None:
            raise OperationFailed(
                f"Node is missing, which runs {found}: install Node 22 or later, with `node` on the PATH"
            )
        return found

    def _installed(self) -> str | None:
        for directory in (self.directory.absolute(), *self.directory.absolute().parents):
            if (found := directory / "node_modules" / ".bin" / "cdk").exists():
                return str(found)
        return None


def _of_scheduler(stacks: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """Return the outputs of the stack with a scheduler."""
    for outputs in stacks.values():
        if "ActionsTable" in outputs:
            return outputs
    raise OperationFailed(
        f"none of the deployed stacks ({', '.join(stacks) or 'none'}) has the construct duetime.cdk.Duetime"
    )


def _caller(outputs: Mapping[str, str], endpoint: str) -> tuple[dict[str, str], str]:
    """Return the variables of the command line, and the ARN that signs its requests; empty for a token.

    The variables have the API's address here, and the token or the access key of a new user.
    """
    name = next((name for name in ("Api", "SignedApi") if name in outputs), None)
    if name is None:
        return {}, ""
    address = {"DUETIME_URL": api_at(outputs[name], endpoint)}
    if name == "SignedApi":
        user = IamUser.create(SIGNER, endpoint=endpoint, region=REGION)
        key = {"AWS_ACCESS_KEY_ID": user.key_id, "AWS_SECRET_ACCESS_KEY": user.secret}
        return address | {"DUETIME_SIGN": "1"} | key, user.arn
    pool = PoolUsers(outputs["UserPool"], outputs["UserPoolClient"], endpoint=endpoint, region=REGION)
    password = f"{secrets.token_urlsafe(16)}-Aa1"
    pool.add(USER, password, tenant=TENANT, groups=GROUPS)
    return address | {"DUETIME_TOKEN": pool.id_token(USER, password)}, ""


def api_at(address: str, endpoint: str) -> str:
    """Return the address of ``https://ID.execute-api.…/prod/…`` at the emulator."""
    api_id, _, rest = address.removeprefix("https://").partition(".")
    return f"{endpoint}/_aws/execute-api/{api_id}/{rest.partition('/')[2]}".rstrip("/")
