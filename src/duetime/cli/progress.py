"""A progress bar in a terminal, for what takes longer than a second."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 1.0
"""Seconds until the bar is drawn."""


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
