"""``duetime actions``: list, show, cancel, reschedule and redrive."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from duetime.cli.action_text import in_full, listed
from duetime.cli.arguments import (
    Commands,
    add_connection,
    add_due_time,
    client_of,
    due_time_of,
    pasted,
    print_json,
)
from duetime.cli.times import both
from duetime.clock import SystemClock

Run = Callable[[argparse.Namespace], int]


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    parser = commands.add_parser(
        "actions",
        help="look at actions and change them",
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_list(verbs)
    _add_one(verbs, "show", show, "show everything that is known of one")
    _add_one(verbs, "cancel", cancel, "cancel a pending one, or ask a running one to stop")
    add_due_time(
        _add_one(verbs, "reschedule", reschedule, "give a pending one another due time"), required=True
    )
    _add_one(verbs, "redrive", redrive, "run a failed one again, at once")


def _add_list(verbs: Commands) -> None:
    parser = verbs.add_parser(
        "list", help="list them: newest first, or those of a correlation id, oldest first"
    )
    parser.add_argument("--correlation-id", metavar="ID", help="only those scheduled with it")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="how many, 1 to 100 (default: 20)")
    parser.add_argument("--cursor", help="where the page before this one ended")
    add_connection(parser)
    parser.set_defaults(run=list_all)


def _add_one(verbs: Commands, name: str, run: Run, told: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=told)
    parser.add_argument("id", metavar="ID", type=_id, help="the action's id")
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of actions."""
    query = {
        "correlation_id": arguments.correlation_id,
        "limit": str(arguments.limit),
        "cursor": arguments.cursor,
    }
    page = client_of(arguments).ask("GET", "scheduling", "query", query=query)
    if arguments.json:
        print_json(page)
        return 0
    print(listed(page["items"], SystemClock().now()) if page["items"] else "no actions")
    if page["next_cursor"]:
        print(f"more: duetime actions list {_next_page(arguments, page['next_cursor'])}")
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Show one action in full."""
    action = client_of(arguments).ask("GET", "scheduling", arguments.id)
    if arguments.json:
        print_json(action)
    else:
        print(in_full(action, SystemClock().now()))
    return 0


def cancel(arguments: argparse.Namespace) -> int:
    """Cancel one action, or ask it to stop."""
    action = client_of(arguments).ask("DELETE", "scheduling", arguments.id)
    if arguments.json:
        print_json(action)
    elif action["status"] == "cancelled":
        print(f"cancelled {action['id']}")
    else:
        print(f"asked {action['id']} to stop: it is running, and ends when its handler looks")
    return 0


def reschedule(arguments: argparse.Namespace) -> int:
    """Give one action another due time."""
    return _move(arguments, "PUT", "reschedule", "rescheduled")


def redrive(arguments: argparse.Namespace) -> int:
    """Run one failed action again."""
    return _move(arguments, "POST", "redrive", "redriven")


def _move(arguments: argparse.Namespace, method: str, verb: str, done: str) -> int:
    body = due_time_of(arguments) if verb == "reschedule" else None
    action = client_of(arguments).ask(method, "scheduling", arguments.id, verb, body=body)
    if arguments.json:
        print_json(action)
    else:
        print(f"{done} {action['id']}, due {both(action['due_at'], SystemClock().now())}")
    return 0


def _next_page(arguments: argparse.Namespace, cursor: str) -> str:
    """The same arguments with the next cursor, ready to be pasted."""
    given = {
        "--correlation-id": arguments.correlation_id,
        "--limit": arguments.limit,
        "--cursor": cursor,
    }
    return pasted(arguments, given)


def _id(written: str) -> str:
    if not written.strip():
        raise argparse.ArgumentTypeError("it is empty; `duetime actions list` shows the ids")
    return written
