"""``duetime actions``: list, show, cancel, reschedule and redrive."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

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
from duetime.cli.filters import add_filters, as_options, filters_of
from duetime.cli.follow import add_follow
from duetime.cli.many import BulkVerb, Json, add_many, change
from duetime.cli.screen import add_watch
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
    add_watch(_add_one(verbs, "show", show, "show all facts of one"), show)
    _add_many(verbs, "cancel", cancel, "cancel pending ones, and request running ones to stop")
    add_due_time(
        _add_one(verbs, "reschedule", reschedule, "give a pending one another due time"), required=True
    )
    add_follow(_add_many(verbs, "redrive", redrive, "run failed ones again, at once"))


def _add_list(verbs: Commands) -> None:
    parser = verbs.add_parser(
        "list", help="list them: newest first, or those of a correlation id, oldest first"
    )
    add_filters(parser)
    add_page(parser)
    add_watch(parser, list_all)


def _add_many(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        name, help=help_text, description=f"{help_text.capitalize()}: by id, or all that filters mean."
    )
    add_ids(parser)
    add_filters(parser)
    add_many(parser)
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add ``--limit``, ``--cursor``, and the connection's."""
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="how many, 1 to 100 (default: 20)")
    parser.add_argument("--cursor", help="where the page before this one ended")
    add_connection(parser)


def add_ids(parser: argparse.ArgumentParser) -> None:
    """Add ``ID…``, of actions."""
    parser.add_argument("ids", metavar="ID", nargs="*", type=_id, help="an action's id")


def _add_one(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=help_text)
    parser.add_argument("id", metavar="ID", type=_id, help="the action's id")
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of actions."""
    filters, limit = filters_of(arguments), str(arguments.limit)
    query = {**filters, "limit": limit, "cursor": arguments.cursor}
    page = client_of(arguments).ask("GET", "scheduling", "query", query=query)
    if arguments.json:
        print_json(page)
        return 0
    print(listed(page["items"], SystemClock().now()) if page["items"] else "no actions")
    if page["next_cursor"]:
        given = {**as_options(filters), "--limit": limit, "--cursor": page["next_cursor"]}
        print(f"more: duetime actions list {pasted(arguments, given)}")
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
    """Cancel actions, or request them to stop."""
    return change(arguments, CANCEL, filters_of(arguments))


def redrive(arguments: argparse.Namespace) -> int:
    """Run failed actions again."""
    return change(arguments, REDRIVE, filters_of(arguments))


def reschedule(arguments: argparse.Namespace) -> int:
    """Give one action another due time."""
    body = due_time_of(arguments)
    action = client_of(arguments).ask("PUT", "scheduling", arguments.id, "reschedule", body=body)
    if arguments.json:
        print_json(action)
    else:
        print(_moved("rescheduled", action))
    return 0


def _moved(done: str, action: Json) -> str:
    return f"{done} {action['id']}, due {both(action['due_at'], SystemClock().now())}"


def _cancelled(action: Json) -> str:
    if action["status"] == "cancelled":
        return f"cancelled {action['id']}"
    return f"asked {action['id']} to stop: it is running, and ends when its handler looks"


CANCEL = BulkVerb(
    "cancel", "cancelled", lambda client, one: client.ask("DELETE", "scheduling", one), _cancelled
)
REDRIVE = BulkVerb(
    "redrive",
    "redriven",
    lambda client, one: client.ask("POST", "scheduling", one, "redrive"),
    partial(_moved, "redriven"),
)


def _id(written: str) -> str:
    if not written.strip():
        raise argparse.ArgumentTypeError("it is empty; `duetime actions list` shows the ids")
    return written
