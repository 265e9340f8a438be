"""Reads the command line, runs one command, and prints a failure in one line, or with a caret."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import islice

from duetime.cli.arguments import flag
from duetime.cli.client import client_of
from duetime.cli.commands import COMMANDS
from duetime.cli.failures import BadUsage, RequestRejected, did_you_mean
from duetime.cli.parser import BAD_USAGE, OF_ACTIONS, CommandParser, expand
from duetime.cli.tables import has_caret, plain, plain_lines
from duetime.environment import has_variables
from duetime.errors import DuetimeError, OperationFailed

FAILED, INTERRUPTED = 1, 130
_NOT_FOUND = 404
# The number of pages of jobs that are read for a suggestion.
_MOST_PAGES = 10

_EPILOG = (
    f"{', '.join(f'`{name}`' for name in OF_ACTIONS)} need no `actions` before them."
    " `duetime help COMMAND` prints a command's help. Exit status: 0 done, 1 failed, 2 bad usage."
    " A table fits the terminal, elsewhere 80 columns or COLUMNS: it may leave columns out, which --json has."
    " Commands that call a scheduler use the local one"
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
    if "_ARGCOMPLETE" in os.environ:  # noqa: TID251 - argcomplete's protocol, no setting of duetime
        import argcomplete  # noqa: PLC0415 - only a completion needs it

        argcomplete.autocomplete(command_line)
    arguments = command_line.parse_args(expand(sys.argv[1:] if argv is None else argv))
    _escape_what_the_terminal_lacks()
    if arguments.version:
        from importlib.metadata import version  # noqa: PLC0415 - only this option reads it

        print(f"duetime {version('duetime')}")
        return 0
    if arguments.run is None:
        command_line.print_help()
        return 0
    try:
        if has_variables():
            from duetime.settings import check_variables  # noqa: PLC0415 - most shells have none

            check_variables()
        if find_spec("rich") is None:
            raise OperationFailed(
                'the command line needs the package rich: pip install "duetime[cli]";'
                ' `duetime local` needs "duetime[local]"'
            )
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except DuetimeError as error:
        has_lines = isinstance(error, RequestRejected) or has_caret(error)
        message = plain_lines(error) if has_lines else plain(error)
        meant = _job_meant(arguments, error) if isinstance(error, RequestRejected) else ""
        print(f"duetime: {message}{meant}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(f"    {plain(note)}", file=sys.stderr)
        return BAD_USAGE if isinstance(error, BadUsage) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return status


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    root = CommandParser(prog="duetime", description="Run code when it is due.", epilog=_EPILOG)
    flag("--version", "print the version, and exit").add_to(root)
    flag("--json", "print JSON; also after the command").add_to(root)
    root.set_defaults(run=None)
    commands = root.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    return root


def _job_meant(arguments: argparse.Namespace, rejected: RequestRejected) -> str:
    """Return a suggestion if the scheduler has no job with the name that the arguments give."""
    written = getattr(arguments, "name", None) or getattr(arguments, "job", None)
    if rejected.status != _NOT_FOUND or not written:
        return ""
    try:
        pages = [*islice(client_of(arguments).pages("listJobs", {"limit": 100}), _MOST_PAGES)]
    except OperationFailed:  # the first failure is the one to print
        return ""
    known = [job["name"] for page in pages for job in page["items"]]
    return "" if written in known else did_you_mean(written, known)


def _escape_what_the_terminal_lacks() -> None:
    """Escape characters that the terminal's encoding lacks: they must not end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
