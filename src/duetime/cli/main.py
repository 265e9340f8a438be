"""Reads the command line, runs one command, and prints a failure in one line, or with a caret."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from duetime.cli import (
    access,
    actions,
    check,
    completion,
    cost,
    diff,
    doctor,
    failover,
    import_crontab,
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
    tenants,
    undelivered,
    verify,
)
from duetime.cli.arguments import add_group
from duetime.cli.command_line import JSON, OF_ACTIONS, expand
from duetime.cli.failures import BadUsage, CommandFailed, RequestRejected
from duetime.cli.parser import BAD_USAGE, CommandParser
from duetime.cli.suggestions import job_meant
from duetime.cli.tables import has_caret, plain, plain_lines
from duetime.environment import has_variables
from duetime.errors import DuetimeError

FAILED, INTERRUPTED = 1, 130

_COMMANDS = (
    *(local, outbox, preview, "app"),
    *(schedule, actions, jobs),
    *(undelivered, notifications, doctor, tenants),
    *("deployment", "access", completion),
)
"""The commands by task: develop, use, look after, operate. A text is the name of a group."""

_GROUPS = {
    "app": (
        "check an app, simulate and compare its jobs, estimate its cost, import a crontab",
        (check, simulate, diff, cost, import_crontab),
    ),
    "deployment": (
        "rehearse, check, test, restore and fail over a deployment, and its runbook",
        (preflight, rehearse, verify, restore, failover, runbook),
    ),
    "access": ("your identity, granted permissions and the audit trail", (access,)),
}
_EPILOG = (
    f"{', '.join(f'`{name}`' for name in OF_ACTIONS)} need no `actions` before them."
    " `duetime help COMMAND` prints a command's help. Exit status: 0 done, 1 failed, 2 bad usage."
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
    _complete(command_line)
    arguments = command_line.parse_args(expand(sys.argv[1:] if argv is None else argv))
    _escape_what_the_terminal_lacks()
    if arguments.run is None:
        command_line.print_help()
        return 0
    try:
        if has_variables():
            from duetime.settings import check_variables  # noqa: PLC0415 - most shells have none

            check_variables()
        _require_rich()
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except DuetimeError as error:
        has_lines = isinstance(error, RequestRejected) or has_caret(error)
        message = plain_lines(error) if has_lines else plain(error)
        meant = job_meant(arguments, error) if isinstance(error, RequestRejected) else ""
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


class _Version(argparse.Action):
    """Prints the version of the installed package, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415 - only this option reads it

        print(f"duetime {version('duetime')}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    root = CommandParser(prog="duetime", description="Run code when it is due.", epilog=_EPILOG)
    root.add_argument("--version", action=_Version, nargs=0, help="print the version, and exit")
    root.add_argument(JSON, action="store_true", help="print JSON; also after the command")
    root.set_defaults(run=None)
    commands = root.add_subparsers(title="commands", metavar="COMMAND")
    for command in _COMMANDS:
        if isinstance(command, str):
            help_text, members = _GROUPS[command]
            group = add_group(commands, command, help_text)
            for member in members:
                member.add_parser(group)
        else:
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
