"""``duetime schedule TYPE``: schedules an action, and optionally watches it."""

from __future__ import annotations

import argparse

from duetime.cli.arguments import (
    Commands,
    add_command,
    add_due_time,
    client_of,
    due_time_of,
    json_object,
    seconds,
)
from duetime.cli.output import print_json, print_next
from duetime.cli.times import both
from duetime.cli.watch import add_wait, watch
from duetime.clock import SystemClock

# Sent if they are given.
_OPTIONS = ("correlation_id", "idempotency_key", "idempotency_ttl", "concurrency_key", "concurrency_limit")

# The status for a new action; a repeat returns the first action of its idempotency key.
_CREATED = 201


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "schedule", run, "schedule an action", "Schedule an action: now, if no time is given."
    )
    parser.add_argument("type", metavar="TYPE", help="a payload type of the app, such as apply-plan-change")
    parser.add_argument(
        "--payload", metavar="JSON", default="{}", help="a JSON object, or - to read it from standard input"
    )
    add_due_time(parser, required=False)
    parser.add_argument("--correlation-id", metavar="ID", help="an id to find it by later")
    parser.add_argument(
        "--idempotency-key",
        metavar="KEY",
        help="a repeated key schedules nothing, and shows the first action",
    )
    parser.add_argument(
        "--idempotency-ttl", metavar="SPAN", type=seconds, help="how long the key holds at least: 1m to 30d"
    )
    parser.add_argument(
        "--concurrency-key", metavar="KEY", help="actions with this key share a limit of concurrent runs"
    )
    parser.add_argument(
        "--concurrency-limit",
        metavar="N",
        type=int,
        help="the limit: 1 (default) to 100",
    )
    add_wait(parser)


def run(arguments: argparse.Namespace) -> int:
    """Schedule the action and print its id."""
    order = {"type": arguments.type, "payload": json_object(arguments.payload), **due_time_of(arguments)}
    for name in _OPTIONS:
        if (given := getattr(arguments, name)) is not None:
            order[name] = given
    client, clock = client_of(arguments), SystemClock()
    status, action = client.answer("POST", "actions", body=order)
    if not arguments.json:
        due = both(action["due_at"], clock.now())
        if status == _CREATED:
            print(f"scheduled {action['id']}, due {due}")
        else:
            print(f"already scheduled (as {action['id']}, {action['status']}), due {due}")
    if arguments.watch:
        return watch(client, action, clock, as_json=arguments.json)
    if arguments.json:
        print_json(action)
    else:
        print_next(arguments, "actions", "show", action["id"])
    return 0
