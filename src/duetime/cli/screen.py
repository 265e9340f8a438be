"""``--watch`` in a terminal: runs a command every two seconds and redraws its output in place."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import timedelta
from functools import partial, wraps

from duetime.cli.arguments import Run
from duetime.cli.failures import BadUsage, CommandFailed
from duetime.cli.tables import has_colours, plain
from duetime.clock import Clock, SystemClock

INTERVAL = timedelta(seconds=2)
"""The time between two drawings."""


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Add ``--watch``, which runs the command of the parser repeatedly."""
    parser.add_argument(
        "--watch", action="store_true", help="in a terminal, refresh every 2 s until interrupted"
    )
    parser.set_defaults(run=_watchable(parser.get_default("run")))


def _watchable(run: Run) -> Run:
    @wraps(run)
    def run_once_or_watch(arguments: argparse.Namespace) -> int:
        if not arguments.watch:
            return run(arguments)
        if arguments.json:
            raise BadUsage("--watch draws for people; leave out --json")
        if not sys.stdout.isatty():
            raise BadUsage("--watch draws in a terminal, and there is none; leave it out")
        return keep_drawing(partial(run, arguments), SystemClock())

    return run_once_or_watch


def keep_drawing(run: Callable[[], object], clock: Clock) -> int:
    """Draw the output until interrupted, and return 0. A failure after the first drawing is drawn too.

    Raises:
        CommandFailed: the first run failed.
    """
    from rich.console import Console  # noqa: PLC0415 - `duetime --help` needs no rich
    from rich.live import Live  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    output = _output_of(run)
    console = Console(force_terminal=True, color_system="standard" if has_colours() else None)
    try:
        with Live(
            Text.from_ansi(output),
            console=console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        ) as live:
            while True:
                clock.wait_until(clock.now() + INTERVAL)
                try:
                    output = _output_of(run)
                except CommandFailed as error:
                    output = f"duetime: {plain(error)}"
                live.update(Text.from_ansi(output), refresh=True)
    except KeyboardInterrupt:
        return 0


class _Terminal(io.StringIO):
    """Collects printed text; commands colour it as for a terminal."""

    def isatty(self) -> bool:
        return True


def _output_of(run: Callable[[], object]) -> str:
    with redirect_stdout(_Terminal()) as terminal:
        run()
    return terminal.getvalue().rstrip("\n")
