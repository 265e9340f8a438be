"""``duetime schedule TYPE``: schedules an action, and optionally watches it."""

from __future__ import annotations

import argparse

from duetime.cli.arguments import (
    Commands,
    add_command,
    add_due_time,
    add_expiry,
    client_of,
    due_time_of,
    expiry_of,
    json_object,
    seconds,
)
from duetime.cli.output import print_json, print_next
from duetime.cli.times import both
from duetime.cli.watch import add_wait, watch
from duetime.clock import SystemClock

# Sent if they are given.
_OPTIONS = (
    *("correlation_id", "idempotency_key", "idempotency_ttl", "concurrency_key", "concurrency_limit"),
    *("debounce_key", "at_most_after", "rate_key", "priority"),
    *("after_any_end", "after_failure"),
)

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
    parser.add_argument(
        "--after",
        dest="predecessors",
        metavar="ID",
        action="append",
        help="hold it until this action, or batch:NAME, is executed; repeat for several",
    )
    parser.add_argument(
        "--after-any-end", action="store_const", const=True, help="run it after any end of these"
    )
    parser.add_argument(
        "--after-failure", choices=("fail", "skip"), help="what it does if one of these is not executed: fail"
    )
    parser.add_argument(
        "--debounce-key",
        metavar="KEY",
        help="until the first run begins, a repeated key changes the action's due time and payload",
    )
    parser.add_argument(
        "--at-most-after",
        metavar="SPAN",
        type=seconds,
        help="how long after the first call of the debounce key it is due at the latest: 10m, 1h",
    )
    parser.add_argument(
        "--rate-key", metavar="KEY", help="the key under the type's rate limit, instead of the payload's"
    )
    parser.add_argument(
        "--priority", choices=("normal", "high"), help="high: do not wait behind normal actions"
    )
    add_expiry(parser)
    add_wait(parser)


def run(arguments: argparse.Namespace) -> int:
    """Schedule the action and print its id."""
    order = {"type": arguments.type, "payload": json_object(arguments.payload), **due_time_of(arguments)}
    order |= expiry_of(arguments)
    for name in _OPTIONS:
        if (given := getattr(arguments, name)) is not None:
            order[name] = given
    if arguments.predecessors:
        order["after"] = arguments.predecessors
    client, clock = client_of(arguments), SystemClock()
    status, action, _ = client.answer("POST", "actions", body=order)
    if not arguments.json:
        due = both(action["due_at"], clock.now())
        if status == _CREATED:
            when = f"held until {action['after']} has ended" if action["is_held"] else f"due {due}"
            print(f"scheduled {action['id']}, {when}")
        elif action["debounce_key"]:
            print(f"changed {action['id']}, due {due} (call {action['coalesced'] + 1} of its debounce key)")
        else:
            print(f"already scheduled (as {action['id']}, {action['status']}), due {due}")
    if arguments.watch:
        return watch(client, action, clock, as_json=arguments.json)
    if arguments.json:
        print_json(action)
    else:
        print_next(arguments, "actions", "show", action["id"])
    return 0
