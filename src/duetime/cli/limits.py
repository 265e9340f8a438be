"""``duetime actions limits``: list, set and reset the rate limits of payload types."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime

from duetime.cli.arguments import Commands, add_command, add_group, client_of, seconds
from duetime.cli.client import Json
from duetime.cli.job_changes import given
from duetime.cli.output import print_content
from duetime.cli.tables import plain, table
from duetime.cli.times import both

PATH = "limits"
"""The API's path of rate limits."""

_WORDS = {1: "second", 60: "minute", 3_600: "hour", 86_400: "day"}


def add_commands(verbs: Commands) -> None:
    """Add the group to the group of actions."""
    verbs = add_group(verbs, PATH, "list, set and reset the rate limits of types, without a deploy")
    add_command(verbs, "list", list_limits, "list the rate limits")
    parser = add_command(verbs, "set", set_limit, "set the limit of a type, until a reset")
    _add_type(parser)
    parser.add_argument("count", metavar="N", type=int, help="the most starts in a period")
    parser.add_argument(
        "--per", metavar="PERIOD", type=_period, default="minute",
        help="second, minute (default), hour or day, or a span such as 10s",
    )  # fmt: skip
    parser.add_argument(
        "--burst", metavar="N", type=int, help="how many may start at once after a rest (default: a second's)"
    )
    _add_type(add_command(verbs, "reset", reset, "let the limit in code hold again"))


def _add_type(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("type", metavar="TYPE", help="a payload type that declares a rate, such as send-mail")


def _period(written: str) -> str | float:
    return written if written in _WORDS.values() else seconds(written)


def list_limits(arguments: argparse.Namespace) -> int:
    """List the limits in force."""
    return print_content(arguments, client_of(arguments).ask("GET", PATH), _listed)


def set_limit(arguments: argparse.Namespace) -> int:
    """Set the limit of one type."""
    body = given({"count": arguments.count, "per": arguments.per, "burst": arguments.burst})
    limit = client_of(arguments).ask("PUT", PATH, arguments.type, body=body)

    def describe(limit: Json, _now: datetime) -> str:
        return f"{plain(limit['name'])}: {_text(limit['limit'])}; it holds within five seconds"

    return print_content(arguments, limit, describe)


def reset(arguments: argparse.Namespace) -> int:
    """Let the declared limit of one type hold again."""
    limits = client_of(arguments).ask("DELETE", PATH, arguments.type)

    def describe(limits: Json, _now: datetime) -> str:
        in_force = next((item["limit"] for item in limits["items"] if item["name"] == arguments.type), None)
        name = plain(arguments.type)
        return f"{name}: {_text(in_force)}, as in code" if in_force else f"{name} has no limit"

    return print_content(arguments, limits, describe)


def _text(limit: Json) -> str:
    unit = _WORDS.get(limit["seconds"])
    span = f"{'an' if unit == 'hour' else 'a'} {unit}" if unit else f"in {limit['seconds']:g} s"
    return f"{limit['count']} {span}, {limit['burst']} at once"


def _listed(limits: Json, now: datetime) -> str:
    items: Sequence[Json] = limits["items"]
    rows = [
        [
            item["name"],
            item["scope"] or "",
            _text(item["limit"]),
            "" if item["declared"] is None else _text(item["declared"]),
            item["set_by"] or "",
            both(item["set_at"], now),
        ]
        for item in items
    ]
    heads = ["TYPE", "FOR EACH", "LIMIT", "IN CODE", "SET BY", "SET AT"]
    return table(heads, rows) if rows else "no type declares a rate"
