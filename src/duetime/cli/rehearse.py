"""``duetime deployment rehearse``: deploys a CDK app onto an emulator of AWS, until Ctrl-C."""

from __future__ import annotations

import argparse
import shlex
import signal
import threading
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from duetime.errors import OperationFailed
from duetime.rehearsal import emulator
from duetime.rehearsal.rehearse import CdkApp, Rehearsal

_ENDS = (signal.SIGINT, signal.SIGTERM)
_TRY = """
It is up until Ctrl-C. In another terminal:

. {file}
{commands}

The functions' output is in {log}.
"""
_WITH_API = """duetime deployment verify          # tests the deployment with probes
duetime jobs list
duetime access whoami"""
_SIGNED = """duetime access whoami          # signed with the key in that file, which is of
                        # {signer};
                        # name it in the setting identities, such as {{"{signer}": "acme admins"}}"""
_WITHOUT_API = "# the deployment has no API: schedule by Scheduler.from_env(tenant_id=…, actor=…)"


def run(arguments: argparse.Namespace) -> int:
    """Deploy, and wait for a signal."""
    if find_spec("ministack") is None:
        raise OperationFailed("the emulator is not installed: pip install 'duetime[rehearse]'")
    # a shell's background job ignores Ctrl-C by itself
    before = {number: signal.signal(number, signal.default_int_handler) for number in _ENDS}
    try:
        _rehearse(arguments)
    except KeyboardInterrupt:
        print("gone", flush=True)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0


def _rehearse(arguments: argparse.Namespace) -> None:
    app = CdkApp(Path.cwd(), arguments.cdk_app, arguments.stack, arguments.context)
    with TemporaryDirectory(prefix="duetime-rehearsal-") as made:
        working = Path(made)
        with emulator.running(working, arguments.port) as endpoint:
            print(f"an emulator of AWS is at {endpoint}; the deploy takes a minute or two", flush=True)
            rehearsal = app.deploy(endpoint, working)
            file = working / "environment"
            file.write_text(_exports(rehearsal))
            print(_instructions(rehearsal, file, working / emulator.LOG), flush=True)
            threading.Event().wait()


def _exports(rehearsal: Rehearsal) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in rehearsal.environment.items())


def _instructions(rehearsal: Rehearsal, file: Path, log: Path) -> str:
    outputs = "\n".join(f"{name:24} {value}" for name, value in sorted(rehearsal.outputs.items()))
    environment = rehearsal.environment
    commands = _SIGNED.format(signer=rehearsal.signer) if rehearsal.signer else _WITH_API
    return f"\n{outputs}\n" + _TRY.format(
        file=file,
        commands=commands if "DUETIME_URL" in environment else _WITHOUT_API,
        log=log,
    )
