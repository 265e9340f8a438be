"""Checks of an installed duetime, by its extras; of the checkout, they use only its pages and examples."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.supply.project import ROOT, VERSION

IMPORTED = {
    "cli": "rich",
    "trace": "opentelemetry.trace",
    "async": "duetime.aws.async_clients",
    "local": "moto.moto_server.werkzeug_app",
    "cdk": "duetime.cdk",
    "rehearse": "duetime.rehearsal",
}


class CheckFailed(Exception):
    """The installed package does not work as documented."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment that has duetime, and a directory to work in."""

    directory: Path
    environment: Mapping[str, str]

    def run(self, *command: str | Path) -> str:
        """Return the output of a command.

        Raises:
            CheckFailed: the command failed.
        """
        done = subprocess.run(  # noqa: S603 - our own commands
            command, cwd=self.directory, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CheckFailed(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def python(self, *words: str | Path) -> str:
        """Return the output of its Python."""
        return self.run(self.directory / "venv/bin/python", *words)


def check(installed: Installed, extras: Collection[str]) -> Iterator[str]:
    """Check everything that these extras provide; yield the name of each passed check."""
    _check_imports(installed, extras)
    yield "imports"
    _check_readme(installed)
    yield "README's example"
    _check_command(installed, extras)
    yield "duetime --help"
    if "local" in extras:
        _check_local_cloud(installed)
        yield "local cloud with console"
    if "cdk" in extras:
        _check_synthesis(installed)
        yield "a stack of one's own"


def _check_imports(installed: Installed, extras: Collection[str]) -> None:
    of_extras = "".join(f"import {IMPORTED[extra]}\n" for extra in extras)
    output = installed.python(
        "-c",
        f"import duetime, importlib.metadata as m\n{of_extras}print(duetime.__file__, m.version('duetime'))",
    )
    file, _, version = output.strip().rpartition(" ")
    if not Path(file).is_relative_to(installed.directory) or version != VERSION:
        raise CheckFailed(f"{output!r} is not the installed package")


_REMIND = """
from reminders import SendReminder, app
from duetime.testing import SimulatedCloud
cloud = SimulatedCloud(app)
action = cloud.scheduler.schedule(SendReminder(order="o-17"))
cloud.advance(minutes=1)
print(cloud.scheduler.get(action.id).status.value)
"""
"""Runs the action of the README's example."""


def _check_readme(installed: Installed) -> None:
    [example, *_] = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    (installed.directory / "reminders.py").write_text(example)
    (installed.directory / "remind.py").write_text(_REMIND)
    if (output := installed.python("remind.py")) != "executed\n":
        raise CheckFailed(f"the README's example printed {output!r}")


def _check_command(installed: Installed, extras: Collection[str]) -> None:
    command = installed.directory / "venv/bin/duetime"
    if "schedule" not in installed.run(command, "--help"):
        raise CheckFailed("duetime --help does not list the commands")
    if "local" in extras:
        return
    try:
        installed.run(command, "local", "--app", "reminders:app")
    except CheckFailed as error:
        if "duetime[local]" not in str(error):
            raise
    else:
        raise CheckFailed("duetime local runs without the extra")


def _check_local_cloud(installed: Installed) -> None:
    shutil.copy(ROOT / "examples/billing.py", installed.directory)
    with _local_cloud(installed) as url:
        page = _at(f"{url}/")
        scripts = re.findall(r'"(?:\./|/)?(assets/[^"]+\.js)"', page)
        licences = _at(f"{url}/assets/licences.txt")
        if sum(len(_at(f"{url}/{script}")) for script in scripts) < 50_000 or "preact" not in licences:
            raise CheckFailed("the console is not served completely")
        if '"items"' not in _at(f"{url}/api/v1/jobs"):
            raise CheckFailed("the API does not list jobs")


@contextmanager
def _local_cloud(installed: Installed) -> Iterator[str]:
    command = [installed.directory / "venv/bin/duetime", "local", "--app", "billing:app", "--port", "0"]
    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        cwd=installed.directory,
        env={**installed.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as cloud:
        output = ""
        for line in cloud.stdout or ():
            output += line
            if "Ctrl-C" in line:
                break
        found = re.search(r"(http://\S+?)/ is the console", output)
        try:
            if not found:
                raise CheckFailed(f"duetime local printed:\n{output}")
            yield found[1]
        finally:
            cloud.send_signal(signal.SIGINT)
            cloud.communicate()


def _at(url: str) -> str:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - the local cloud's
        return str(answer.read().decode())


def _check_synthesis(installed: Installed) -> None:
    """Synthesise the app of the deployment page with the installed package as its functions' code."""
    marked = (ROOT / "docs/deploy.md").read_text().partition("<!-- own-app -->\n```py\n")[2]
    (installed.directory / "app.py").write_text(marked.partition("```")[0])
    for name in ("billing", "checkout"):
        (installed.directory / "src" / name).mkdir(parents=True)
    shutil.copy(ROOT / "examples/billing.py", installed.directory / "src/billing/handlers.py")
    (installed.directory / "src/checkout/checkout.py").write_text("def handler(event, context): ...\n")
    installed.python("app.py")
    out = installed.directory / "out"
    for part in (
        "duetime/functions/work.py",
        "duetime/functions/console.py",
        "duetime/console/built/index.html",
    ):
        if not [*out.glob(f"asset.*/{part}")]:
            raise CheckFailed(f"no asset of the stack has {part}")
    if not (out / "Billing.template.json").is_file():
        raise CheckFailed("there is no template")
