"""Reads the command line, runs one command, and prints a failure in one line, or with a caret."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

from duetime.cli import (
    access,
    actions,
    check,
    completion,
    cost,
    doctor,
    jobs,
    local,
    notifications,
    outbox,
    preflight,
    preview,
    rehearse,
    restore,
    runbook,
    schedule,
    simulate,
    undelivered,
    verify,
)
from duetime.cli.failures import BadUsage, CommandFailed, RequestRejected
from duetime.cli.tables import has_caret, plain, plain_lines
from duetime.errors import DuetimeError

FAILED, BAD_USAGE, INTERRUPTED = 1, 2, 130

_COMMANDS = (
    local,
    outbox,
    schedule,
    actions,
    jobs,
    undelivered,
    notifications,
    rehearse,
    preflight,
    verify,
    doctor,
    restore,
    runbook,
    access,
    preview,
    check,
    simulate,
    cost,
    completion,
)

_EPILOG = (
    "exit status: 0 done, 1 failed, 2 bad usage. Commands that call a scheduler use the local one"
    " (duetime local) unless --url or DUETIME_URL names another."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the arguments; those of the process by default.

    Returns:
        The exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    """
    command_line = parser()
    _complete(command_line)
    arguments = command_line.parse_args(argv)
    _escape_what_the_terminal_lacks()
    try:
        _require_rich()
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except DuetimeError as error:
        has_lines = isinstance(error, RequestRejected) or has_caret(error)
        print(f"duetime: {plain_lines(error) if has_lines else plain(error)}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(f"    {plain(note)}", file=sys.stderr)
        return BAD_USAGE if isinstance(error, BadUsage) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return status


class _Parser(argparse.ArgumentParser):
    """Prints bad usage in one line, as every other failure. Words such as ``-2h`` are values, not options."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._negative_number_matcher = re.compile(r"-\d")

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_USAGE, f"duetime: {plain(message)}; `{self.prog} --help` shows how\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    root = _Parser(prog="duetime", description="Run code when it is due.", epilog=_EPILOG)
    commands = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(commands)
    return root


def _complete(command_line: argparse.ArgumentParser) -> None:
    """Offer completions and exit, if a shell runs this process to complete a command."""
    if "_ARGCOMPLETE" in os.environ:  # noqa: TID251 - argcomplete's protocol, no setting of duetime
        import argcomplete  # noqa: PLC0415 - only a completion needs it

        argcomplete.autocomplete(command_line)


def _require_rich() -> None:
    if find_spec("rich") is None:
        raise CommandFailed(
            'the command line needs the package rich: pip install "duetime[cli]";'
            ' `duetime local` needs "duetime[local]"'
        )


def _escape_what_the_terminal_lacks() -> None:
    """Escape characters that the terminal's encoding lacks: they must not end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
