"""``duetime undelivered``: list, show and redrive what queues, the stream and EventBridge gave up on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from duetime.cli.arguments import Commands, add_connection, client_of, pasted, print_json
from duetime.cli.failures import BadUsage
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.clock import SystemClock

PATH = "undelivered"
"""The API's path of what is undelivered."""

KINDS = ("message", "record", "wake", "event", "pass", "lifecycle", "notification")
"""Those of `duetime.model.undelivered.Kind`, which `duetime --help` need not load."""

_REASON = 60

Run = Callable[[argparse.Namespace], int]


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    parser = commands.add_parser(
        "undelivered", help="look at what queues, the stream and EventBridge gave up on, and redrive it"
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_list(verbs)
    show_one = _add(verbs, "show", show, "show all facts of one")
    show_one.add_argument("id", metavar="ID", help="its id")
    _add_redrive(verbs)


def _add(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=help_text)
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def _add_list(verbs: Commands) -> None:
    parser = _add(verbs, "list", list_all, "list them, newest first")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="how many, 1 to 100 (default: 20)")
    parser.add_argument("--cursor", help="where the page before this one ended")


def _add_redrive(verbs: Commands) -> None:
    parser = _add(verbs, "redrive", redrive, "process some again, or all")
    parser.add_argument("ids", metavar="ID", nargs="*", help="their ids")
    parser.add_argument("--all", action="store_true", help="all of them, the newest first")
    parser.add_argument("--kind", choices=KINDS, help="with --all: only those of this kind")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="with --all: how many, 1 to 1,000 (default: 100)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only print which")


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of what is undelivered."""
    query = {"limit": str(arguments.limit), "cursor": arguments.cursor}
    page = client_of(arguments).ask("GET", PATH, query=query)
    if arguments.json:
        print_json(page)
        return 0
    print(_listed(page["items"]) if page["items"] else "nothing is undelivered")
    if page["next_cursor"]:
        given = {"--limit": arguments.limit, "--cursor": page["next_cursor"]}
        print(f"more: duetime undelivered list {pasted(arguments, given)}")
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Show one in full."""
    thing = client_of(arguments).ask("GET", PATH, arguments.id)
    if arguments.json:
        print_json(thing)
    else:
        print(_in_full(thing))
    return 0


def redrive(arguments: argparse.Namespace) -> int:
    """Process some again, or all."""
    if arguments.all == bool(arguments.ids):
        raise BadUsage("give either the ids to redrive, or --all")
    if arguments.ids and (arguments.kind or arguments.limit):
        raise BadUsage("--kind and --limit go with --all")
    done = _redrive_all(arguments) if arguments.all else _redrive_some(arguments)
    if arguments.json:
        print_json(done)
        return 0
    verb = "would redrive" if arguments.dry_run else "asked to redrive"
    for item in done["items"]:
        print(f"{verb} {item['id']}: {_about(item)}")
    if not done["items"]:
        print("nothing to redrive")
    return 0


def _redrive_all(arguments: argparse.Namespace) -> dict[str, Any]:
    options = {"kind": arguments.kind, "limit": arguments.limit}
    body = {name: value for name, value in options.items() if value is not None}
    return client_of(arguments).ask("POST", PATH, "redrive", body={**body, "dry_run": arguments.dry_run})


def _redrive_some(arguments: argparse.Namespace) -> dict[str, Any]:
    """Redrive some. All are looked up first: one wrong id changes nothing."""
    client = client_of(arguments)
    things = [client.ask("GET", PATH, id_) for id_ in arguments.ids]
    if not arguments.dry_run:
        things = [client.ask("POST", PATH, id_, "redrive") for id_ in arguments.ids]
    return {"items": things, "dry_run": arguments.dry_run}


def _listed(things: list[dict[str, Any]]) -> str:
    now = SystemClock().now()
    heads = ("ID", "KIND", "FROM", "LAST", "COUNT", "ACTION", "REASON")
    rows = [
        (
            thing["id"],
            thing["kind"],
            thing["source"],
            both(thing["last_at"], now),
            str(thing["count"]),
            thing["action_id"] or "",
            _short(thing["reason"]),
        )
        for thing in things
    ]
    return table(heads, rows)


def _in_full(thing: Mapping[str, Any]) -> str:
    now = SystemClock().now()
    whose = f"{thing['action_id']} of {thing['tenant_id']}" if thing["action_id"] else "not known"
    lines = {
        "action": whose,
        "reason": thing["reason"],
        "first kept": both(thing["first_at"], now),
        "last kept": both(thing["last_at"], now),
        "count": thing["count"],
        "body, cut" if thing["is_cut"] else "body": "[redacted]" if thing["body"] is None else thing["body"],
    }
    head = f"{thing['id']}  {_about(thing)}"
    return "\n".join([head, *(f"  {name:<14}  {plain(line)}" for name, line in lines.items())])


def _about(thing: Mapping[str, Any]) -> str:
    return f"{thing['kind']}  from {plain(thing['source'])}"


def _short(reason: str) -> str:
    return reason if len(reason) <= _REASON else reason[: _REASON - 1] + "…"
