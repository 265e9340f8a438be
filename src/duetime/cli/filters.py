"""The arguments that filter actions, and their conversion to the API's filters."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC
from typing import TypeAlias

from duetime.cli.arguments import instant
from duetime.cli.suggestions import did_you_mean
from duetime.cli.times import duration
from duetime.clock import SystemClock

_TIMES = {
    "due_after": "due after then",
    "due_until": "due then or before",
    "created_after": "scheduled after then",
    "created_until": "scheduled then or before",
}
_FILTERS = ("status", "type", "correlation_id", "job", *_TIMES, "error", "payload")

Filters: TypeAlias = Mapping[str, str | list[str]]
"""The given filters by the API's names."""


def add_filters(parser: argparse.ArgumentParser, *, has_status: bool = True) -> None:
    """Add an option for each filter of `_FILTERS`; a list of dead letters has no ``--status``."""
    group = parser.add_argument_group(
        "filters",
        "Actions that match all of them. A TIME is 2027-06-01T09:00, or a span from now: -2h.",
    )
    if has_status:
        group.add_argument(
            "--status",
            metavar="STATUS[,STATUS…]",
            type=statuses,
            help="pending, retrying, processing, executed, failed, …",
        )
    group.add_argument("--type", help="of this payload type")
    group.add_argument("--correlation-id", metavar="ID", help="with this correlation id")
    group.add_argument("--job", metavar="NAME", help="runs of this job")
    for name, help_text in _TIMES.items():
        group.add_argument(f"--{name.replace('_', '-')}", metavar="TIME", type=moment, help=help_text)
    group.add_argument("--error", metavar="TEXT", help="with this text in the last attempt's error")
    group.add_argument(
        "--payload",
        metavar="FIELD=VALUE",
        action="append",
        help="with this value in their payload: customer=42; may be repeated",
    )


def statuses(written: str) -> str:
    """Check a status, or several with commas between them. For argparse."""
    from duetime.model.action import Status  # noqa: PLC0415 - `duetime --help` reads no status

    known = ["retrying", *map(str, Status)]
    for status in written.split(","):
        if status not in known:
            raise argparse.ArgumentTypeError(
                f"there is no status {status!r}; use {', '.join(known)}{did_you_mean(status, known)}"
            )
    return written


def filters_of(arguments: argparse.Namespace) -> dict[str, str | list[str]]:
    """Return the given filters by the API's names."""
    given = {name: getattr(arguments, name, None) for name in _FILTERS}
    return {name: value for name, value in given.items() if value is not None}


def moment(written: str) -> str:
    """Parse a time, or a duration from now such as ``2h`` or ``-30m``, to UTC. For argparse."""
    sign, length = (-1, written[1:]) if written.startswith("-") else (1, written)
    try:
        at = SystemClock().now() + sign * duration(length)
    except ValueError:
        return instant(written)
    except OverflowError:
        raise argparse.ArgumentTypeError(f"{written[:40]!r} lies outside the years 1970 to 2199") from None
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"
