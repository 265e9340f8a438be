"""The arguments that several commands take, and how they become a client and a due time."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any, Protocol

from duetime.cli.client import Client
from duetime.cli.duration import duration


class Commands(Protocol):
    """Where a command's module adds its parser: what argparse gives for subcommands."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """A parser for the command of that name."""
        ...


def add_connection(parser: argparse.ArgumentParser) -> None:
    """``--url``, ``--tenant``, ``--user`` and ``--json``: every command that asks a scheduler has them."""
    group = parser.add_argument_group("the scheduler that is asked")
    group.add_argument("--url", help="where its API is (default: DUETIME_URL, or the local cloud)")
    group.add_argument("--tenant", type=_name, help="which tenant to play on the local cloud")
    group.add_argument("--user", type=_name, help="which user to play on the local cloud")
    parser.add_argument("--json", action="store_true", help="print the API's JSON")


def add_due_time(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """``--at`` or ``--in``, and ``--tz``."""
    choice = parser.add_mutually_exclusive_group(required=required)
    choice.add_argument(
        "--at", metavar="TIME", help="ISO 8601: 2027-06-01T09:00:00Z, or a local time and --tz"
    )
    choice.add_argument(
        "--in", dest="after", metavar="SPAN", type=_seconds, help="from now: 3s, 5m, 2h30m, 1d"
    )
    parser.add_argument("--tz", metavar="ZONE", help="the zone of a local --at, such as Europe/Paris")


def client_of(arguments: argparse.Namespace) -> Client:
    """The client that the connection's arguments say."""
    from duetime.settings import api_url  # noqa: PLC0415 - `duetime --help` needs no settings

    url = api_url() if arguments.url is None else arguments.url
    return Client(url, arguments.tenant, arguments.user)


def due_time_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The due time as the API takes it: at once, if none was said."""
    if arguments.at is None:
        return {"in": arguments.after or 0} | ({"tz": arguments.tz} if arguments.tz else {})
    return {"at": arguments.at} | ({"tz": arguments.tz} if arguments.tz else {})


def print_json(content: object) -> None:
    """The API's JSON, as it came."""
    print(json.dumps(content, indent=2, ensure_ascii=False))


def _seconds(written: str) -> float:
    try:
        return duration(written).total_seconds()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _name(written: str) -> str:
    if not re.fullmatch(r"[!-~]+", written):
        raise argparse.ArgumentTypeError(f"{written!r} must be printable ASCII without spaces")
    return written
