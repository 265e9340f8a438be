"""``duetime local``: runs an app on a local cloud, on one port of this machine."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from datetime import timedelta
from importlib import util
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from duetime.cli.arguments import Commands
from duetime.cli.failures import BadUsage, CommandFailed
from duetime.cli.loading import app_at, setup_at
from duetime.cli.times import duration
from duetime.errors import DeclarationError, SettingsError
from duetime.profiles import PROFILES, STANDARD, with_profile

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.app import App
    from duetime.local import LocalOptions
    from duetime.settings import Settings

# The probability of a second delivery with ``--at-least-once``.
_DOUBLES = 0.3
_A_MINUTE = timedelta(minutes=1)
_ACCESS = ("authorization", "roles", "required_role", "identities")
_LARGEST_PORT, _MOST_AT_ONCE = 65_535, 1_000


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "local",
        help="run an app on a local cloud, with the API on one port",
        description="Run an app on a cloud of its own: moto and the Lambda handlers,"
        " in one process, on 127.0.0.1.",
    )
    add = parser.add_argument
    add("--app", required=True, metavar="MODULE:NAME", help="the app, such as examples.billing:app")
    add(
        "--setup",
        metavar="MODULE:NAME",
        help="a function that creates the handlers' tables, queues and topics",
    )
    add(
        "--port",
        type=_port,
        default=8080,
        help="the port to listen on; 0 takes any free port (default: 8080)",
    )
    add(
        "--data",
        type=Path,
        metavar="DIR",
        help="keep the tables in this folder: a restart continues with them",
    )
    add("--concurrency", type=_count, default=20, metavar="N", help="handlers at once (default: 20)")
    add("--worker-batch", type=_count, default=1, metavar="N", help="messages in one call (default: 1)")
    add(
        "--profile",
        choices=tuple(PROFILES),
        default=STANDARD,
        help="the defaults of the settings (default: standard)",
    )
    add(
        "--target",
        action="append",
        default=[],
        metavar="TARGET",
        help="grant a target: an ARN, or https://HOST[,secret=env:NAME][,deliver_to=http://127.0.0.1:PORT]",
    )
    add("--off", action="store_true", help="begin with the global switch off: nothing runs")
    add("--near-limit", type=_span, metavar="SPAN", help="actions due later need a timer (default: 15m)")
    add("--lease", type=_span, metavar="SPAN", help="how long a dead run's lease lasts (default: 5m)")
    add("--wheel", action="store_true", help="wake far actions by the sweep instead of timers")
    add("--timers-late", action="store_true", help="timers fire up to 60 s late, as EventBridge may")
    add("--at-least-once", action="store_true", help="some wakes and messages come twice, as they may on AWS")
    add("--mail-to", type=_address, metavar="ADDRESS", help="send every notification to this address")
    add("--verbose", action="store_true", help="show all log lines")
    group = parser.add_argument_group(
        "access",
        "As the deployment's settings of these names. JSON is an object of texts, or a file that holds one.",
    )
    add = group.add_argument
    add("--roles", type=_texts, metavar="JSON", help="the permissions of each role")
    add(
        "--identities",
        type=_texts,
        metavar="JSON",
        help="the tenant and roles of each ARN that signs requests",
    )
    add("--required-role", metavar="ROLE", help="the role that every caller needs")
    add(
        "--authorization",
        choices=("roles", "allow-all"),
        help="check roles, or allow everything (default: roles)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the local cloud until a signal stops it."""
    if util.find_spec("moto") is None:
        raise CommandFailed("the local cloud needs moto: pip install 'duetime[local]'")
    print(f"starting a local cloud for {arguments.app}", flush=True)  # the imports take seconds
    options = _options(arguments)
    app = _with_targets(app_at(arguments.app), arguments.target)
    with _Signals() as stop:
        _serve(app, options, stop, verbose=arguments.verbose)
    return 0


def _with_targets(app: App, targets: list[str]) -> App:
    if not targets:
        return app
    from duetime.targets import with_targets  # noqa: PLC0415 - only with targets

    try:
        return with_targets(app, targets)
    except DeclarationError as error:
        raise BadUsage(f"--target: {error}") from error


def _serve(app: App, options: LocalOptions, stop: threading.Event, *, verbose: bool) -> None:
    from duetime.clock import SystemClock  # noqa: PLC0415 - as below
    from duetime.local import LocalCloud  # noqa: PLC0415 - `duetime --help` needs no moto
    from duetime.local.run_lines import run_lines  # noqa: PLC0415
    from duetime.local.welcome import SavedData, upcoming_runs, welcome  # noqa: PLC0415

    lines = run_lines(sys.stdout, verbose=verbose, shows_tenants=not options.settings.only_tenant)
    with lines, LocalCloud(app, options) as cloud:
        jobs = upcoming_runs(cloud.jobs, SystemClock().now())
        text = welcome(
            app,
            cloud.settings,
            cloud.url,
            _program(),
            jobs=jobs,
            has_console=cloud.has_console,
            data=SavedData(options.data, cloud.found) if options.data and cloud.found else None,
        )
        print(text, end="\n\n", flush=True)
        stop.wait()
        print("stopping: running handlers may finish", flush=True)


def _program() -> str:
    """Return how to call the command line: by its name if the shell finds it, else by its path."""
    import shutil  # noqa: PLC0415 - `duetime --help` needs none

    called = Path(sys.argv[0])
    found = shutil.which("duetime")
    if called.name != "duetime" or (found and Path(found).samefile(called)):
        return "duetime"
    here = Path.cwd()
    return str(called.absolute().relative_to(here)) if called.absolute().is_relative_to(here) else str(called)


def _options(arguments: argparse.Namespace) -> LocalOptions:
    from duetime.local import LocalOptions, SchedulerQuirks  # noqa: PLC0415 - as above

    doubles = _DOUBLES if arguments.at_least_once else 0.0
    lateness = _A_MINUTE if arguments.timers_late else timedelta(0)
    setup = None if arguments.setup is None else setup_at(arguments.setup)
    try:
        return LocalOptions(
            settings=_settings(arguments),
            port=arguments.port,
            concurrency=arguments.concurrency,
            timers=SchedulerQuirks(lateness=lateness, doubles=doubles),
            message_doubles=doubles,
            mail_to=arguments.mail_to or "",
            setup=setup,
            data=arguments.data,
        )
    except SettingsError as error:
        raise BadUsage(str(error)) from error


def _settings(arguments: argparse.Namespace) -> Settings:
    from duetime.settings import Settings  # noqa: PLC0415 - as above

    usual = Settings()
    changes = dict[str, Any](enabled=not arguments.off, worker_batch=arguments.worker_batch)
    if arguments.wheel:
        changes["timers"] = "wheel"
    if (near_limit := arguments.near_limit) is not None:
        changes |= {"near_limit": near_limit, "wake_early": min(usual.wake_early, near_limit / 2)}
    if (lease := arguments.lease) is not None:
        heartbeat = min(usual.heartbeat, lease / 4)
        changes |= {"lease": lease, "heartbeat": heartbeat}
        changes |= {"cancel_poll": min(usual.cancel_poll, heartbeat)}
        changes |= {"clock_skew": min(usual.clock_skew, lease / 4)}
    settings = with_profile(Settings(**changes, **access_of(arguments)), arguments.profile)
    if arguments.mail_to and settings.events == "off":
        raise BadUsage(
            f"--mail-to is {arguments.mail_to}, but the profile {arguments.profile} has no notifications;"
            " remove one of the two options"
        )
    return settings


def access_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given."""
    given = {name: getattr(arguments, name) for name in _ACCESS}
    return {name: value for name, value in given.items() if value is not None}


class _Signals:
    """Turns Ctrl-C and SIGTERM into an event; the second one ends the process."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> threading.Event:
        for signal_ in (signal.SIGINT, signal.SIGTERM):
            self._before[signal_] = signal.signal(signal_, self._stop)
        return self._event

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for signal_, handler in self._before.items():
            signal.signal(signal_, handler)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._event.set()
        for signal_ in self._before:
            signal.signal(signal_, signal.SIG_DFL)


def _span(written: str) -> timedelta:
    try:
        return duration(written)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _address(written: str) -> str:
    from duetime.errors import DuetimeError  # noqa: PLC0415 - `duetime --help` reads no addresses
    from duetime.ids import SYSTEM_TENANT  # noqa: PLC0415 - as above
    from duetime.model.preferences import Preferences  # noqa: PLC0415 - as above

    try:
        Preferences(tenant_id=SYSTEM_TENANT, addresses=(written,))
    except DuetimeError:
        raise argparse.ArgumentTypeError(
            f"{written[:60]!r} is no mail address; write it as in ada@example.com"
        ) from None
    return written


def _port(written: str) -> int:
    return _between(0, _LARGEST_PORT, written)


def _count(written: str) -> int:
    return _between(1, _MOST_AT_ONCE, written)


def _between(low: int, high: int, written: str) -> int:
    if not written.isascii() or not written.isdigit() or not low <= int(written) <= high:
        raise argparse.ArgumentTypeError(f"{written!r} must be a number from {low} to {high}")
    return int(written)


def _texts(written: str) -> dict[str, str]:
    """Parse an object of texts from JSON, or from a file of that name. For argparse."""
    try:
        is_json = written.lstrip().startswith("{")
        content = json.loads(written if is_json else Path(written).read_text(encoding="utf-8"))
    except OSError as error:
        raise argparse.ArgumentTypeError(
            f"{written[:60]!r} is neither a JSON object nor a readable file: {error.strerror}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{written[:60]!r} is not JSON: {error}") from None
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise argparse.ArgumentTypeError(
            f'{written[:60]!r} is not a JSON object of texts, such as {{"viewers": "actions:read"}}'
        )
    return content
