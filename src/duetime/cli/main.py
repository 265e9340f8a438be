"""Reads the command line, runs one command, and tells every failure in one line; a refused cadence is drawn with its caret."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from duetime.cli import (
    actions,
    audit,
    check,
    completion,
    cost,
    dead_letters,
    doctor,
    grants,
    jobs,
    local,
    notifications,
    outbox,
    preview,
    schedule,
    simulate,
    undelivered,
    whoami,
)
from duetime.cli.failures import BadUsage, RequestRejected
from duetime.cli.tables import drawn, is_pointing, plain
from duetime.errors import DuetimeError

FAILED, BAD_USAGE, INTERRUPTED = 1, 2, 130

_COMMANDS = (
    local,
    outbox,
    schedule,
    actions,
    jobs,
    dead_letters,
    undelivered,
    notifications,
    doctor,
    audit,
    grants,
    whoami,
    preview,
    check,
    simulate,
    cost,
    completion,
)

_EPILOG = (
    "exit status: 0 done, 1 failed, 2 bad usage. Commands that ask a scheduler talk to the local one"
    " (duetime local) unless --url or DUETIME_URL names another."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the arguments; those of the process by default.

    Returns:
        The exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    """
    arguments = parser().parse_args(argv)
    _write_what_the_terminal_can()
    try:
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except DuetimeError as error:
        told = drawn(error) if isinstance(error, RequestRejected) or is_pointing(error) else plain(error)
        print(f"duetime: {told}", file=sys.stderr)
        for place in getattr(error, "__notes__", ()):
            print(f"    {plain(place)}", file=sys.stderr)
        return BAD_USAGE if isinstance(error, BadUsage) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads our output has seen enough, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return status


class _Parser(argparse.ArgumentParser):
    """Tells bad usage in one line, as every other failure is told; what begins like ``-2h`` is a value, not an option."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._negative_number_matcher = re.compile(r"-\d")

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_USAGE, f"duetime: {plain(message)}; `{self.prog} --help` shows how\n")


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = _Parser(prog="duetime", description="Run code when it is due.", epilog=_EPILOG)
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(commands)
    return whole


def _write_what_the_terminal_can() -> None:
    """A character that the terminal's encoding lacks is escaped; it must not end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
