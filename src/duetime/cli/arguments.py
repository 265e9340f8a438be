"""Adds commands and the arguments that several share, and converts them to a client, a time, a payload."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, Protocol

from duetime.cli.client import Client
from duetime.cli.failures import BadUsage
from duetime.cli.times import duration, positive_seconds
from duetime.clock import SystemClock

JOBS = "jobs"
"""The API's path of jobs."""

_LARGEST_PAGE = 100

Run = Callable[[argparse.Namespace], int]
"""Runs a command, and returns its exit status."""


class Commands(Protocol):
    """The subcommands of argparse, to which a command's module adds its parser."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """Return a parser for the command of that name."""
        ...


def add_group(commands: Commands, name: str, help_text: str) -> Commands:
    """Add a command that has commands of its own; return those."""
    parser = commands.add_parser(name, help=help_text)
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_command(
    commands: Commands, name: str, run: Run, help_text: str, description: str | None = None
) -> argparse.ArgumentParser:
    """Add a command that calls a scheduler; return its parser."""
    aliases = ["ls"] if name == "list" else []
    parser = commands.add_parser(name, aliases=aliases, help=help_text, description=description)
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add ``--limit`` and ``--cursor``."""
    parser.add_argument(
        "--limit", type=_page_size, default=20, metavar="N", help="how many, 1 to 100 (default: 20)"
    )
    parser.add_argument("--cursor", help="the end of the previous page")


def _page_size(written: str) -> int:
    if not written.isdecimal() or not 1 <= int(written) <= _LARGEST_PAGE:
        raise argparse.ArgumentTypeError(f"{written[:20]!r} is not a whole number from 1 to {_LARGEST_PAGE}")
    return int(written)


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the scheduler and the caller, and ``--json``."""
    group = parser.add_argument_group("the scheduler")
    group.add_argument(
        "--profile", metavar="NAME", help="a profile of the configuration file (default: DUETIME_PROFILE)"
    )
    group.add_argument("--url", help="the API's address (default: DUETIME_URL, or the local cloud)")
    group.add_argument(
        "--token", type=_name, help="the ID token of a sign-in (safer in DUETIME_TOKEN: others see options)"
    )
    group.add_argument(
        "--sign", action="store_true", help="sign with your AWS credentials (or DUETIME_SIGN=1)"
    )
    group.add_argument("--region", type=_name, help="the AWS region to sign for, if the URL names none")
    group.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="how long a response may take (default: DUETIME_TIMEOUT, or 35)",
    )
    group.add_argument("--tenant", type=_name, help="the caller's tenant on the local cloud")
    group.add_argument("--user", type=_name, help="the caller's user on the local cloud")
    parser.add_argument("--json", action="store_true", help="print the API's JSON")


def add_due_time(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add ``--at`` or ``--in``, ``--tz`` and ``--precision``."""
    choice = parser.add_mutually_exclusive_group(required=required)
    choice.add_argument(
        "--at", metavar="TIME", help="ISO 8601: 2027-06-01T09:00:00Z, or a local time and --tz"
    )
    choice.add_argument(
        "--in", dest="after", metavar="SPAN", type=seconds, help="from now: 3s, 5m, 2h30m, 1d"
    )
    parser.add_argument("--tz", metavar="ZONE", help="the zone of a local --at, such as Europe/Paris")
    parser.add_argument(
        "--precision",
        choices=("second", "millisecond"),
        help="second (default): --in is rounded up; or millisecond",
    )


EXPIRY = ("expires_at", "expires_after")
"""The arguments of `add_expiry`, as the API names them."""


def add_expiry(parser: argparse.ArgumentParser) -> None:
    """Add ``--expires-at`` or ``--expires-after``."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--expires-at", metavar="TIME", help="skip it if no run has begun by this time")
    choice.add_argument(
        "--expires-after", metavar="SPAN", type=seconds, help="the same, from its due time: 30m, 2h, 1d"
    )


def expiry_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the expiry as the API expects it."""
    return {name: given for name in EXPIRY if (given := getattr(arguments, name)) is not None}


def add_end(parser: argparse.ArgumentParser) -> None:
    """Add ``--until`` or ``--for``, the end of a pause."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--until",
        metavar="TIME",
        type=instant,
        help="end the pause at this time: 2027-06-01T09:00 on this machine's clock",
    )
    choice.add_argument(
        "--for", dest="span", metavar="SPAN", type=seconds, help="end the pause after 30m, 2h, 1d"
    )


def end_of(arguments: argparse.Namespace) -> str | None:
    """Return the end as the API expects it; None if the pause ends by a resume alone."""
    if arguments.span is None:
        return str(arguments.until) if arguments.until else None
    try:
        end = SystemClock().now() + timedelta(seconds=arguments.span)
    except OverflowError:
        end = datetime.max.replace(tzinfo=UTC)
    return end.isoformat().removesuffix("+00:00") + "Z"


def client_of(arguments: argparse.Namespace) -> Client:
    """Return the client that the arguments choose, then a profile, then the environment."""
    from duetime.cli.connection import connect  # noqa: PLC0415 - `duetime --help` needs no settings

    return connect(arguments)


def due_time_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the due time as the API expects it: now, if none was given."""
    due = {"in": arguments.after or 0} if arguments.at is None else {"at": arguments.at}
    options = {name: getattr(arguments, name) for name in ("tz", "precision")}
    return due | {name: value for name, value in options.items() if value}


def add_job(parser: argparse.ArgumentParser) -> None:
    """Add ``NAME``, of a job."""
    parser.add_argument("name", metavar="NAME", type=_job_name, help="the job, such as billing-nightly")


def _job_name(written: str) -> str:
    from duetime.errors import InvalidIdentifier  # noqa: PLC0415 - `duetime --help` reads no names
    from duetime.ids import job_name  # noqa: PLC0415 - as above

    try:
        return job_name(written)
    except InvalidIdentifier as refused:
        raise argparse.ArgumentTypeError(f"{refused}; `duetime jobs list` shows them") from None


def json_object(written: str) -> dict[str, Any]:
    """Parse ``--payload``; ``-`` reads it from standard input.

    Raises:
        BadUsage: it is not a JSON object.
    """
    text = sys.stdin.read() if written == "-" else written
    try:
        payload = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadUsage(f"--payload is not JSON: {reason}") from None
    if not isinstance(payload, dict):
        raise BadUsage('--payload must be a JSON object, such as \'{"order": "o-1"}\'')
    return payload


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value; use null or text")


def instant(written: str) -> str:
    """Parse a time to UTC; without an offset it is in this machine's zone. For argparse."""
    try:
        at = datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(
            f"{written[:40]!r} is not a time; write one such as 2027-06-01T09:00, or 2027-06-01T07:00Z"
        ) from None
    return at.isoformat().removesuffix("+00:00") + "Z"


def seconds(written: str) -> float:
    """Parse a duration to seconds. For argparse."""
    try:
        return duration(written).total_seconds()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(written: str) -> float:
    try:
        return positive_seconds(written)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _name(written: str) -> str:
    if not re.fullmatch(r"[!-~]+", written):
        raise argparse.ArgumentTypeError(f"{written!r} must be printable ASCII without spaces")
    return written
