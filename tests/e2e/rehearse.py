"""A rehearsal of a deploy.

``make rehearse`` deploys what ``cdk.json`` says onto an emulator of AWS, and leaves it up until Ctrl-C.

Words for ``cdk deploy`` may follow: ``make rehearse WITH='-c duetime:app=billing.handlers:app -c
duetime:handlers=src'``.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.e2e import emulator
from tests.e2e.deployment import CDK, ROOT
from tests.e2e.emulator import ACCOUNT, REGION

OF_THIS_MACHINE = {
    "architecture": "arm64" if platform.machine() == "aarch64" else "x86_64",
    "python": f"{sys.version_info.major}.{sys.version_info.minor}",
}
"""The emulator runs functions on this machine, and with this Python."""

INSTRUCTIONS = """
{outputs}

It is up until Ctrl-C. In another terminal, here:

export {environment}
.venv/bin/python -c 'from datetime import timedelta; from duetime import Scheduler
from examples.greeting import SendGreeting
scheduler = Scheduler.from_env(tenant_id="acme", actor="me")
print(scheduler.schedule(SendGreeting(name="Ada"), at=timedelta(seconds=10)).id)'
npx cdk deploy {context} --output {directory}/again   # once more, after a change

What the functions say is in {directory}/ministack.log.
"""


def main(words: Sequence[str]) -> int:
    """Deploy and wait, until Ctrl-C or SIGTERM; then all is gone.

    A shell's background job would ignore Ctrl-C by itself.
    """
    for row in (signal.SIGINT, signal.SIGTERM):
        signal.signal(row, signal.default_int_handler)
    try:
        _rehearse(words)
    except KeyboardInterrupt:
        print("gone")
    return 0


def _rehearse(words: Sequence[str]) -> None:
    with TemporaryDirectory(prefix="duetime-rehearsal-") as made, emulator.running(Path(made)) as endpoint:
        directory, environment = Path(made), emulator.environment_of(endpoint)
        print(f"an emulator of AWS is at {endpoint}; the deploy takes a minute or two", flush=True)
        context = [f"--context=duetime:{name}={value}" for name, value in OF_THIS_MACHINE.items()]
        _cdk(["bootstrap", f"aws://{ACCOUNT}/{REGION}"], environment, cwd=directory)
        outputs = directory / "outputs.json"
        deploy = ["deploy", "--require-approval", "never", "--outputs-file", str(outputs)]
        _cdk([*deploy, "--output", str(directory / "cdk.out"), *context, *words], environment, cwd=ROOT)
        _tell(json.loads(outputs.read_text()), environment, context, directory)
        threading.Event().wait()


def _cdk(words: Sequence[str], environment: Mapping[str, str], *, cwd: Path) -> None:
    done = subprocess.run([str(CDK), *words], cwd=cwd, env=os.environ | environment, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(done.returncode)


def _tell(
    outputs: Mapping[str, Mapping[str, str]],
    environment: Mapping[str, str],
    context: Sequence[str],
    directory: Path,
) -> None:
    (stack,) = outputs.values()
    tables = {
        "DUETIME_ACTIONS_TABLE": stack["ActionsTable"],
        "DUETIME_JOBS_TABLE": stack["JobsTable"],
    }
    print(
        INSTRUCTIONS.format(
            outputs="\n".join(f"{name:24} {value}" for name, value in sorted(stack.items())),
            environment=" ".join(f"{name}={value}" for name, value in (environment | tables).items()),
            context=" ".join(context),
            directory=directory,
        ),
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
