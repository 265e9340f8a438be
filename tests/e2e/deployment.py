"""The real app.py, deployed with the real CDK command line.

Only settings differ from what one deploys to AWS.
"""

import json
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from duetime.rehearsal.emulator import ACCOUNT, REGION

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"
PREFIX = "e2e-"
STACK = f"{PREFIX}scheduler"
SENDER = "duetime@example.com"
BURST = 2

SETTINGS = {
    # the machine and the Python that the emulator runs functions on
    "architecture": "arm64" if platform.machine() == "aarch64" else "x86_64",
    "python": f"{sys.version_info.major}.{sys.version_info.minor}",
    # short enough to be seen; the emulator looks at its schedules every ten seconds
    "near_limit": 16,
    "wake_early": 14,
    "lease": 4,
    "clock_skew": 1,
    "heartbeat": 1,
    "cancel_poll": 0.5,
    "worker_timeout": 5,
    "canary": 60,
    "max_receives": 2,
    "notification_burst": BURST,
    # what is deployed, and that it may go again
    "prefix": PREFIX,
    "handlers": "tests/e2e/handlers",
    "app": "errands.first:app",
    "keep_data": "false",
    # sends notifications
    "mail_from": SENDER,
    # may call the API
    "console_url": "https://console.example.com",
    "identities": json.dumps({f"arn:aws:iam::{ACCOUNT}:role/shop": "acme operators"}),
}


@dataclass(frozen=True)
class Deployment:
    """A deployment's command line; everything that it writes is in `directory`."""

    directory: Path
    app: str = "app.py"
    """The program that makes the stack, and its arguments to Python."""

    def bootstrap(self) -> None:
        # away from cdk.json: an environment is bootstrapped without any app
        self._run("bootstrap", f"aws://{ACCOUNT}/{REGION}", cwd=self.directory)

    def deploy(self, **settings: object) -> dict[str, str]:
        """Deploy with these settings besides; the stack's outputs."""
        report = str(self.directory / "outputs.json")
        self._run("deploy", "--require-approval", "never", "--outputs-file", report, *self._app(settings))
        return self.outputs

    @property
    def outputs(self) -> dict[str, str]:
        """The stack's outputs, as the last deploy left them."""
        return json.loads((self.directory / "outputs.json").read_text())[STACK]

    def destroy(self) -> None:
        self._run("destroy", "--force", *self._app({}))

    def _app(self, settings: dict[str, object]) -> list[str]:
        chosen = SETTINGS | settings
        context = [
            word for name, value in chosen.items() for word in ("--context", f"duetime:{name}={value}")
        ]
        return [
            "--app",
            f"{sys.executable} {self.app}",
            "--output",
            str(self.directory / "cdk.out"),
            *context,
        ]

    def attempt(self, command: str, *words: str, **settings: object) -> tuple[int, str]:
        """Run a command of CDK on the app with these settings besides; its exit status and its output."""
        return self._call(command, *words, *self._app(settings))

    def _run(self, *words: str, cwd: Path = ROOT) -> None:
        status, output = self._call(*words, cwd=cwd)
        assert status == 0, output[-6_000:]

    def _call(self, *words: str, cwd: Path = ROOT) -> tuple[int, str]:
        done = subprocess.run(  # noqa: S603 - every word is from this file
            [str(CDK), *words], cwd=cwd, capture_output=True, text=True, check=False
        )
        output = done.stdout + done.stderr
        (self.directory / f"{words[0]}.log").write_text(output)
        return done.returncode, output
