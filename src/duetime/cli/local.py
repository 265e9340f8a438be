"""``duetime local``: runs an app on a local cloud, on one port of this machine."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from duetime.app import App
from duetime.cli.failures import BadUsage
from duetime.cli.loading import app_at, setup_at
from duetime.clock import SystemClock
from duetime.errors import DeclarationError, OperationFailed, SettingsError
from duetime.profiles import with_profile
from duetime.settings import Settings
from duetime.targets import with_targets

if TYPE_CHECKING:  # its imports take time, and need an extra
    from duetime.local import LocalOptions

# The probability of a second delivery with ``--unreliable``.
_DOUBLES = 0.3


def run(arguments: argparse.Namespace) -> int:
    """Run the local cloud until a signal stops it."""
    if util.find_spec("werkzeug") is None:
        raise OperationFailed("the local cloud needs an extra: pip install 'duetime[local]'")
    print(f"starting a local cloud for {arguments.app}", flush=True)  # the imports take a second
    options = _options(arguments)
    app = _with_targets(app_at(arguments.app), arguments.target)
    with _signals() as stop:
        _serve(app, options, stop, verbose=arguments.verbose)
    return 0


def _with_targets(app: App, targets: list[str]) -> App:
    if not targets:
        return app
    try:
        return with_targets(app, targets)
    except DeclarationError as error:
        raise BadUsage(f"--target: {error}") from error


def _serve(app: App, options: LocalOptions, stop: threading.Event, *, verbose: bool) -> None:
    from duetime.local import LocalCloud  # noqa: PLC0415 - as above
    from duetime.local.run_lines import run_lines  # noqa: PLC0415 - as above
    from duetime.local.welcome import SavedData, upcoming_runs, welcome  # noqa: PLC0415 - as above

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
            data=SavedData(options.data, cloud.found, SystemClock().now())
            if options.data and cloud.found
            else None,
        )
        print(text, end="\n\n", flush=True)
        stop.wait()
        print("stopping: running handlers may finish", flush=True)


def _program() -> str:
    """Return how to call the command line: by its name if the shell finds it, else by its path."""
    called = Path(sys.argv[0])
    found = shutil.which("duetime")
    if called.name != "duetime" or (found and Path(found).samefile(called)):
        return "duetime"
    here = Path.cwd()
    return str(called.absolute().relative_to(here)) if called.absolute().is_relative_to(here) else str(called)


def _options(arguments: argparse.Namespace) -> LocalOptions:
    from duetime.local import LocalOptions  # noqa: PLC0415 - as above

    for_targets = (lambda: None) if arguments.target else None  # they need moto
    setup = setup_at(arguments.setup) if arguments.setup else for_targets
    try:
        return LocalOptions(
            settings=_settings(arguments),
            port=arguments.port,
            concurrency=arguments.concurrency,
            message_doubles=_DOUBLES if arguments.unreliable else 0.0,
            mail_to=arguments.mail_to or "",
            setup=setup,
            data=arguments.data,
        )
    except SettingsError as error:
        raise BadUsage(str(error)) from error


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = with_profile(Settings(**given_settings(arguments)), arguments.profile)
    if arguments.mail_to and settings.events == "off":
        raise BadUsage(
            f"--mail-to is {arguments.mail_to}, but the profile {arguments.profile} has no notifications;"
            " remove one of the two options"
        )
    return settings


def given_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given, and times that must not exceed them, which are shortened."""
    usual, given = Settings(), dict[str, Any](arguments.given)
    if near_limit := given.get("near_limit"):
        given.setdefault("wake_early", min(usual.wake_early, near_limit / 2))
    if lease := given.get("lease"):
        given.setdefault("heartbeat", min(usual.heartbeat, lease / 4))
        given.setdefault("clock_skew", min(usual.clock_skew, lease / 4))
    if heartbeat := given.get("heartbeat"):
        given.setdefault("cancel_poll", min(usual.cancel_poll, heartbeat))
    return given


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """Turn Ctrl-C and SIGTERM into an event; the second one ends the process."""
    event, numbers = threading.Event(), (signal.SIGINT, signal.SIGTERM)

    def stop(_number: int, _frame: FrameType | None) -> None:
        event.set()
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
