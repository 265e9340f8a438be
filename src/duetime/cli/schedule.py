"""``duetime schedule TYPE``: schedule an action, and watch it if asked to."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, NoReturn

from duetime.cli.arguments import (
    Commands,
    add_connection,
    add_due_time,
    client_of,
    due_time_of,
    print_json,
)
from duetime.cli.failures import BadUsage
from duetime.cli.times import both
from duetime.cli.watch import watch
from duetime.clock import SystemClock


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "schedule", help="schedule an action", description="Schedule an action: at once, if no time is said."
    )
    parser.add_argument("type", metavar="TYPE", help="a payload type of the app, such as apply-plan-change")
    parser.add_argument(
        "--payload", metavar="JSON", default="{}", help="a JSON object, or - to read it from standard input"
    )
    add_due_time(parser, required=False)
    parser.add_argument("--correlation-id", metavar="ID", help="what to find it by later")
    parser.add_argument(
        "--watch", action="store_true", help="wait until it is done; exit with 0 if it was executed"
    )
    add_connection(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Schedule the action and tell its id."""
    order = {"type": arguments.type, "payload": _payload(arguments.payload), **due_time_of(arguments)}
    if arguments.correlation_id is not None:
        order["correlation_id"] = arguments.correlation_id
    client, clock = client_of(arguments), SystemClock()
    action = client.ask("POST", "scheduling", body=order)
    if not arguments.json:
        print(f"scheduled {action['id']}, due {both(action['due_at'], clock.now())}")
    if arguments.watch:
        return watch(client, action, clock, as_json=arguments.json)
    if arguments.json:
        print_json(action)
    else:
        print(f"look at it: duetime actions show {action['id']}")
    return 0


def _payload(written: str) -> dict[str, Any]:
    text = sys.stdin.read() if written == "-" else written
    try:
        payload = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadUsage(f"--payload is no JSON: {reason}") from None
    if not isinstance(payload, dict):
        raise BadUsage('--payload must be a JSON object, such as \'{"order": "o-1"}\'')
    return payload


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is none of its values; use null or text")
