"""An empty folder of a new user, with a shell in which ``pip`` installs the built wheel."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.supply.project import ROOT

UV = Path(sys.executable).with_name("uv")
_PIP = f"""#!/bin/sh
exec {UV} pip "$@"
"""
_MINE = ("PYTHON", "DUETIME", "AWS", "VIRTUAL_ENV", "UV_", "PIP_CONSTRAINT")


@dataclass(frozen=True)
class Folder:
    """A directory outside the checkout, and the environment of its shell."""

    directory: Path
    wheel: Path
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        shell = os.environ.items()  # noqa: TID251 - that of the tests
        inherited = {name: value for name, value in shell if not name.startswith(_MINE)}
        own = {
            "PATH": f"{self.directory}/.venv/bin:{inherited['PATH']}",
            "VIRTUAL_ENV": f"{self.directory}/.venv",
            "UV_CONSTRAINT": self._constraints(),
            "DUETIME_CONFIG": str(self.write("none.toml", "")),
            "PYTHONUNBUFFERED": "1",
            "CDK_VALIDATION": "false",  # which only warns, and costs ten seconds
            "CDK_DISABLE_CLI_TELEMETRY": "true",
        }
        object.__setattr__(self, "environment", inherited | own)

    def _constraints(self) -> str:
        """Pin the libraries as the checkout does, and both distributions to their wheels."""
        contract = self.wheel.with_name(self.wheel.name.replace("duetime", "duetime_contract"))
        wheels = {"duetime": self.wheel, "duetime-contract": contract}
        pins = [f"{name} @ {wheel.as_uri()}\n" for name, wheel in wheels.items()]
        own = self.write("constraints.txt", "".join(pins))
        return f"{ROOT / 'requirements/hours.txt'} {own}"

    def write(self, name: str, text: str) -> Path:
        """Write a file, and the directories above it."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def install(self, command: str) -> None:
        """Create the virtual environment, if it is missing, and run a page's ``pip install …`` in it."""
        pip = self.directory / ".venv/bin/pip"
        if not pip.exists():
            self.run(f"{UV} venv --quiet --python {sys.executable} .venv")
            pip.write_text(_PIP)
            pip.chmod(0o755)
        assert command.startswith("pip install "), command
        self.run(command)

    def run(self, command: str, **variables: str) -> str:
        """Return the output of a command, which must end with 0."""
        return self.fail(command, 0, **variables)

    def fail(self, command: str, status: int = 1, **variables: str) -> str:
        """Return the output of a command, which must end with this status."""
        done = subprocess.run(  # noqa: S602 - our own pages
            command,
            shell=True,
            cwd=self.directory,
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{command}\n{done.stdout}"
        return done.stdout

    @contextmanager
    def server(self, command: str, ready: str, **variables: str) -> Iterator[re.Match[str]]:
        """Run what the other terminal runs, and yield the match of its first line that has `ready`."""
        words = shlex.split(command)
        with subprocess.Popen(  # noqa: S603 - our own pages
            words,
            executable=self.directory / ".venv/bin" / words[0],
            cwd=self.directory,
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                yield self._until(process, ready)
            finally:
                process.send_signal(signal.SIGINT)
                process.communicate()

    @staticmethod
    def _until(process: subprocess.Popen[str], ready: str) -> re.Match[str]:
        output = ""
        for line in process.stdout or ():
            output += line
            if found := re.search(ready, line):
                return found
        raise AssertionError(output)

    @contextmanager
    def local_cloud(self, command: str) -> Iterator[Mapping[str, str]]:
        """Run a page's ``duetime local …`` on a free port; yield what another terminal exports."""
        with self.server(f"{command} --port 0", r"(http://\S+?)/ is the console") as found:
            with urllib.request.urlopen(f"{found[1]}/local/env") as answer:  # noqa: S310 - our own server
                exports = shlex.split(answer.read().decode().replace("export ", ""))
            yield dict(export.split("=", 1) for export in exports)

    def synthesised(self, stack: str) -> str:
        """Return the template that ``npx cdk synth`` writes, with the checkout's CDK command line."""
        (self.directory / "node_modules").symlink_to(ROOT / "node_modules")
        self.run("npx --no-install cdk synth --quiet")
        return (self.directory / f"cdk.out/{stack}.template.json").read_text()
