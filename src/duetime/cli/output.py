"""Prints results: the API's JSON, or text for people; through a pager, with a bar, or again and again."""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import islice
from string import Formatter
from types import TracebackType
from typing import TYPE_CHECKING, Self

from duetime._english import counted
from duetime._masking import printable_json
from duetime.cli.arguments import Part, fields_of
from duetime.cli.client import Json, client_of, operations
from duetime.cli.failures import BadUsage, strange_answer
from duetime.cli.tables import Table, Text, has_colours, plain, worded
from duetime.clock import Clock, SystemClock
from duetime.errors import OperationFailed

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
        OperationFailed: the first run failed.
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
                except OperationFailed as error:
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


# The options of a connection that a printed command repeats.
_CONNECTION = ("profile", "url", "region", "tenant", "user")

_OK = 200

# How many pages a list reads after an empty one, before it prints the command that continues.
_EMPTY_PAGES = 20


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API as a command: its id, and how its answer is printed.

    It sends the arguments of the names that the operation takes. A text may have fields of the answer, then
    arguments, and ``scheduler``, the URL.
    """

    id: str
    text: Text
    given: Sequence[Part] = ()
    """What it sends beside the arguments."""
    then: str | None = None
    """The operation whose answer ``--json`` prints, as this one has none; empty for the path's arguments."""

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Make the call, and print its answer; return 0."""
        client, given = client_of(arguments), {**vars(arguments), **fields_of(arguments, self.given)}
        answer = client.call(self.id, given).body
        if answer and self.then is not None:
            raise strange_answer(client.url, _OK, None)
        if not arguments.json:
            print(text_of(self.text, {**given, "scheduler": client.url, **answer}))
        elif self.then:
            print_json(client.call(self.then, given).body)
        else:
            names = [name for _, name, _, _ in Formatter().parse(operations()[self.id].path) if name]
            print_json(answer or {name: given[name] for name in names})
        return 0


@dataclass(frozen=True, slots=True)
class Listing:
    """An operation of the API that lists, as a command: its id, and the table of its items."""

    id: str
    table: Table
    given: Sequence[Part] = ()
    """What it sends beside the arguments."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Options without a value, with the arguments that they set; the command that continues repeats them."""

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Print a page; return 0.

        A filter can leave pages empty: as text, a list reads on to the first item, within a bound.
        """
        names = {*operations()[self.id].parameters} - {"limit", "cursor"}
        filters = {name: value for name, value in vars(arguments).items() if name in names}
        given, rows = {**vars(arguments), **fields_of(arguments, self.given)}, 0
        for page in islice(client_of(arguments).pages(self.id, given), _EMPTY_PAGES + 1):
            scanned = page.get("scanned") or {"rows": 0}
            rows += scanned["rows"]
            if arguments.json or page["items"]:
                break
        if not arguments.json:
            scanned["rows"] = rows
        flags = {name: bool(filters.pop(of)) for name, of in self.flags.items()}
        return print_page(arguments, page, self.table, {**flags, **filters})


def last_word(arguments: argparse.Namespace) -> str:
    """Return the last word of the command: the verb of what it does."""
    return str(arguments.command).rpartition(" ")[2]


def text_of(text: Text, found: Json) -> str:
    """Return the text of an answer at the present time."""
    now = SystemClock().now()
    return plain(worded(text, found, now)) if isinstance(text, str) else text(found, now)


def print_json(content: object) -> None:
    """Print the API's JSON; control characters are escapes."""
    print(printable_json(json.dumps(content, indent=2, ensure_ascii=False)))


def print_content(arguments: argparse.Namespace, content: Json, text: Text) -> int:
    """Print the API's JSON with ``--json``, else its text at the present time; return 0."""
    return print_either(arguments, content, lambda: text_of(text, content))


def print_either(
    arguments: argparse.Namespace, content: object, text: Callable[[], str], *, is_long: bool = False
) -> int:
    """Print JSON with ``--json``, else a text, if it is long through a pager; return 0."""
    if arguments.json:
        print_json(content)
    else:
        (print_long if is_long else print)(text())
    return 0


def print_page(arguments: argparse.Namespace, page: Json, of: Table, filters: Mapping[str, object]) -> int:
    """Print a page of a list, and the command that prints the next one; return 0.

    Args:
        arguments: the arguments of the command.
        page: the API's JSON.
        of: the table of the items.
        filters: the command's options by the API's names.
    """
    now, cursor = SystemClock().now(), page["next_cursor"]
    lines = [of(page, now) if page["items"] or not cursor else "none on the pages read"]
    if (scanned := page.get("scanned")) and cursor:
        until = worded("{until:?, up to @when}", scanned, now)
        lines.append(f"{counted(scanned['rows'], 'action')} compared{until}; there are more to compare")
    if cursor:
        lines.append(more(arguments, {**filters, "limit": arguments.limit, "cursor": cursor}))
    return print_either(arguments, page, lambda: "\n".join(lines), is_long=True)


def more(arguments: argparse.Namespace, given: Mapping[str, object], start: str = "more") -> str:
    """Return the command with other options, by the API's names, as the line that continues a list."""
    name = f" {arguments.name}" if getattr(arguments, "name", None) else ""
    return f"{start}: {arguments.command}{name} {pasted(arguments, given)}"


def pasted(arguments: argparse.Namespace, given: Mapping[str, object] | None = None) -> str:
    """Return the options and those of the connection, quoted for a shell, without the token."""
    connection = {name: getattr(arguments, name) for name in _CONNECTION}
    words = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}")
        for name, values in {**(given or {}), **connection}.items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None and value is not False
    ]
    return " ".join([*words, "--sign"] if arguments.sign else words)


def print_made(arguments: argparse.Namespace, made: Json, lines: Sequence[str], *command: str) -> int:
    """Print what was made as JSON, or as text with the command that shows it on the same scheduler."""
    look = " ".join(word for word in ("look at it: duetime", *command, pasted(arguments)) if word)
    return print_either(arguments, made, lambda: "\n".join([*lines, look]))


def print_completion(arguments: argparse.Namespace) -> int:
    """Print the script with which a shell completes commands."""
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - only a completion needs it

    print(shellcode(["duetime"], shell=arguments.shell))
    return 0
