"""What a terminal allows: a pager for long texts, a progress bar, and output that is drawn again."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from duetime.cli.failures import BadUsage, CommandFailed
from duetime.cli.tables import has_colours, plain
from duetime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 1.0
"""Seconds until the bar is drawn."""

PAUSE = timedelta(seconds=1)
"""The time between two looks at work that goes on."""

INTERVAL = timedelta(seconds=2)
"""The time between two drawings."""


def print_long(text: str) -> None:
    """Print a text; in a terminal that is shorter than the text, through the pager.

    Without ``PAGER``, the pager is less, if it is installed. An empty ``PAGER`` turns paging off.
    """
    command = _pager() if _is_longer_than_terminal(text) else []
    if not command:
        print(text)
        return
    try:
        subprocess.run(  # noqa: S603 - the user's own choice
            command, input=f"{text}\n", text=True, errors="backslashreplace", check=False, env=_environment()
        )
    except OSError:  # no such program
        print(text)


def _is_longer_than_terminal(text: str) -> bool:
    # `--watch` draws in a terminal too, but its standard output is another object
    if not sys.stdout.isatty() or sys.stdout is not sys.__stdout__:
        return False
    return text.count("\n") + 1 >= shutil.get_terminal_size().lines


def _pager() -> list[str]:
    from duetime.environment import pager  # noqa: PLC0415 - only a terminal needs it

    chosen = pager()
    if chosen is None:
        return ["less"] if shutil.which("less") else []
    try:
        return shlex.split(chosen)
    except ValueError:  # unbalanced quotes
        return []


def _environment() -> dict[str, str]:
    """Return the environment with less's options for colours and for texts of one screen."""
    return {"LESS": "FRX", **os.environ}  # noqa: TID251 - the pager's, no setting of duetime


class ProgressBar:
    """Draws on standard error, if that is a terminal, and is removed at its end.

    Elsewhere it prints the lines of `note`, or nothing.
    """

    def __init__(self, label: str, total: int | None = None, *, delay: float = DELAY) -> None:
        """Prepare a bar; without a total it shows only that work goes on.

        Args:
            label: what is done, such as "redrive".
            total: how many steps there are, if that is known.
            delay: seconds until it is drawn.
        """
        self._bar: Progress | None = None
        self._timer: threading.Timer | None = None
        self._line: str | None = None
        if sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task(label, total=total)
            self._timer = threading.Timer(delay, self._bar.start)
            self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._timer:
            self._timer.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._timer and self._bar:
            self._timer.cancel()
            self._timer.join()
            self._bar.stop()

    def done(self, count: int) -> None:
        """Show that so many steps are done."""
        if self._bar:
            self._bar.update(self._task, completed=count)

    def note(self, line: str) -> None:
        """Show a line instead of the label; without a terminal, print it to standard error."""
        if self._bar:
            self._bar.update(self._task, description=line)
        else:
            print(line, file=sys.stderr, flush=True)

    def wait(self, done: int, line: str, clock: Clock) -> None:
        """Show what is done and a line, if that is new, until the next look is due."""
        self.done(done)
        if line != self._line:
            self.note(line)
        self._line = line
        clock.wait_until(clock.now() + PAUSE)


def check_terminal() -> None:
    """Raise `BadUsage` if there is no terminal in which a change can be confirmed."""
    if not sys.stdin.isatty():
        raise BadUsage("there is no terminal for the confirmation: look with --dry-run, then use --yes")


def confirmed(question: str) -> bool:
    """Return whether the operator confirms a change."""
    print(f"{question}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _bar() -> Progress:
    from rich.console import Console  # noqa: PLC0415 - `duetime --help` needs no rich
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def redraw(run: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Run a command again and again in a terminal, until it is interrupted.

    Raises:
        BadUsage: the output is JSON, or no terminal.
    """
    if arguments.json:
        raise BadUsage("--watch draws for people; leave out --json")
    if not sys.stdout.isatty():
        raise BadUsage("--watch draws in a terminal, and there is none; leave it out")
    return keep_drawing(partial(run, arguments), SystemClock())


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
