"""``duetime deployment rehearse``: deploys a CDK app onto an emulator of AWS, until Ctrl-C."""

from __future__ import annotations

import argparse
import shlex
import signal
import threading
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from duetime.cli.arguments import Commands
from duetime.cli.failures import CommandFailed

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.rehearsal.rehearse import Rehearsal

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


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "rehearse",
        help="deploy a CDK app onto an emulator of AWS on this machine",
        description="Deploy the CDK app of this directory onto an emulator of AWS (ministack) on 127.0.0.1,"
        " print how to call it, and keep it up until Ctrl-C. No account is used. It needs Node and CDK's"
        " command line (npm install aws-cdk@2), but no Docker. The emulator checks no rights.",
    )
    add = parser.add_argument
    add("--cdk-app", metavar="COMMAND", help='runs the CDK app, such as "python app.py" (default: cdk.json)')
    add("--stack", metavar="NAME", help="the stack to deploy (default: all)")
    add("--port", type=int, default=0, metavar="N", help="the emulator's port; 0 takes any (default: 0)")
    add(
        "-c",
        "--context",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a value of the CDK context, such as duetime:lease=60; may be repeated",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Deploy, and wait for a signal."""
    if find_spec("ministack") is None:
        raise CommandFailed("the emulator is not installed: pip install 'duetime[rehearse]'")
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
    from duetime.rehearsal import emulator  # noqa: PLC0415 - `duetime --help` must be quick
    from duetime.rehearsal.rehearse import CdkApp  # noqa: PLC0415 - as above

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
