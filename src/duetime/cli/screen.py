"""Draws what a command prints again and again, in a terminal, until it is interrupted."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import timedelta
from functools import partial, wraps

from duetime.cli.failures import BadUsage, CommandFailed
from duetime.cli.tables import plain
from duetime.clock import Clock, SystemClock

EVERY = timedelta(seconds=2)
"""How long a drawing stands."""

_HOME, _REST_OF_LINE, _REST_OF_SCREEN, _CLEAR = "\033[H", "\033[K", "\033[J", "\033[2J"

Run = Callable[[argparse.Namespace], int]


def add_watch(parser: argparse.ArgumentParser, run: Run) -> None:
    """``--watch``; and what runs, once or again and again."""
    parser.add_argument(
        "--watch", action="store_true", help="in a terminal, draw it again every 2 s until interrupted"
    )
    parser.set_defaults(run=watchable(run))


def watchable(run: Run) -> Run:
    """The same command, which goes on where ``--watch`` is said."""

    @wraps(run)
    def either(arguments: argparse.Namespace) -> int:
        if not arguments.watch:
            return run(arguments)
        if arguments.json:
            raise BadUsage("--watch draws for people; leave out --json")
        if not sys.stdout.isatty():
            raise BadUsage("--watch draws in a terminal, and there is none; leave it out")
        return keep_drawing(partial(run, arguments), SystemClock())

    return either


def keep_drawing(run: Callable[[], object], clock: Clock) -> int:
    """Draw until interrupted, which is its good end; what fails later than at first may pass, and is drawn.

    Raises:
        CommandFailed: it failed at first.
    """
    drawn, out = _drawn(run), sys.stdout
    out.write(_CLEAR)
    try:
        while True:
            out.write(_screen(drawn))
            out.flush()
            clock.wait_until(clock.now() + EVERY)
            try:
                drawn = _drawn(run)
            except CommandFailed as error:
                drawn = f"duetime: {plain(error)}"
    except KeyboardInterrupt:
        return 0


def _screen(drawn: str) -> str:
    """As much as fits, over what was there before."""
    from shutil import get_terminal_size  # noqa: PLC0415 - `duetime --help` draws nothing

    height = get_terminal_size().lines - 1
    lines = drawn.splitlines()[:height]
    return _HOME + "".join(f"{line}{_REST_OF_LINE}\n" for line in lines) + _REST_OF_SCREEN


class _Terminal(io.StringIO):
    """Takes what is printed as the terminal would, colours included."""

    def isatty(self) -> bool:
        return True


def _drawn(run: Callable[[], object]) -> str:
    with redirect_stdout(_Terminal()) as taken:
        run()
    return taken.getvalue()
