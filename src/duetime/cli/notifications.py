"""``duetime notifications``: lists, shows and marks notifications, and sets their recipients."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from duetime.cli import preferences
from duetime.cli.actions import add_page
from duetime.cli.arguments import Commands, add_connection, client_of, pasted, print_json
from duetime.cli.client import Client
from duetime.cli.failures import BadUsage
from duetime.cli.screen import add_watch
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.clock import SystemClock

PATH = "notifications"
"""The API's path of notifications."""

KINDS = (
    "scheduling.action_failed",
    "scheduling.dead_lettered",
    "scheduling.undelivered",
    "jobs.recurring_failing",
    "jobs.recurring_succeeding",
)
"""Those of `duetime.model.notification.NotificationKind`, which `duetime --help` need not load."""

Run = Callable[[argparse.Namespace], int]


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    parser = commands.add_parser(
        "notifications", help="look at notifications, and choose recipients and channels"
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_list(verbs)
    _add_show(verbs)
    _add_read(verbs)
    preferences.add_parser(verbs, KINDS)


def _add_list(verbs: Commands) -> None:
    parser = verbs.add_parser("list", help="list them, newest first")
    parser.add_argument("--unread", action="store_true", help="only unread ones")
    _add_kind(parser, "only those of this kind")
    preferences.add_language(parser, "the language of the texts (default: that of the preferences)")
    preferences.add_system(parser)
    add_page(parser)
    add_watch(parser, list_all)


def _add_show(verbs: Commands) -> None:
    parser = verbs.add_parser("show", help="show one in full")
    parser.add_argument("id", metavar="ID", help="its id")
    preferences.add_language(parser, "the language of the text (default: that of the preferences)")
    preferences.add_system(parser)
    add_connection(parser)
    parser.set_defaults(run=show)


def _add_read(verbs: Commands) -> None:
    parser = verbs.add_parser("read", help="mark some as read, or all")
    parser.add_argument("ids", metavar="ID", nargs="*", help="their ids")
    parser.add_argument("--all", action="store_true", help="all that are unread")
    _add_kind(parser, "with --all: only those of this kind")
    preferences.add_system(parser)
    add_connection(parser)
    parser.set_defaults(run=read)


def _add_kind(parser: argparse.ArgumentParser, help_text: str) -> None:
    parser.add_argument("--kind", choices=KINDS, metavar="KIND", help=f"{help_text}, such as {KINDS[3]}")


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of notifications."""
    filters = {"kind": arguments.kind, "language": arguments.language}
    query = {
        **filters,
        **preferences.scope_of(arguments),
        "unread": "true" if arguments.unread else None,
        "limit": str(arguments.limit),
        "cursor": arguments.cursor,
    }
    page = client_of(arguments).ask("GET", PATH, query=query)
    if arguments.json:
        print_json(page)
        return 0
    print(_listed(page["items"]) if page["items"] else "no notifications")
    if page["next_cursor"]:
        given = {f"--{name}": value for name, value in filters.items()}
        given |= {"--limit": arguments.limit, "--cursor": page["next_cursor"]}
        flags = "".join(f" --{name}" for name in ("unread", "system") if getattr(arguments, name))
        print(f"more: duetime notifications list{flags} {pasted(arguments, given)}")
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Show one in full."""
    query = {"language": arguments.language, **preferences.scope_of(arguments)}
    item = client_of(arguments).ask("GET", PATH, arguments.id, query=query)
    if arguments.json:
        print_json(item)
    else:
        print(_in_full(item))
    return 0


def read(arguments: argparse.Namespace) -> int:
    """Mark some as read, or all."""
    if arguments.all == bool(arguments.ids):
        raise BadUsage("give either the ids of those that were read, or --all")
    if arguments.ids and arguments.kind:
        raise BadUsage("--kind goes with --all")
    client, scope = client_of(arguments), preferences.scope_of(arguments)
    count = (
        _read_all(client, arguments.kind, scope)
        if arguments.all
        else _read_some(client, arguments.ids, scope)
    )
    if arguments.json:
        print_json({"read": count})
    else:
        print(f"marked {count} as read" if count else "nothing was unread")
    return 0


def _read_some(client: Client, ids: list[str], scope: Mapping[str, str | None]) -> int:
    """Mark some as read. All are looked up first: one wrong id changes nothing."""
    for id_ in ids:
        client.ask("GET", PATH, id_, query=scope)
    for id_ in ids:
        client.send("POST", PATH, id_, "read", query=scope)
    return len(ids)


def _read_all(client: Client, kind: str | None, scope: Mapping[str, str | None]) -> int:
    count = 0
    body = {"kind": kind} if kind else {}
    while True:
        step = client.ask("POST", PATH, "read", query=scope, body=body)
        count += int(step["read"])
        if step["next_cursor"] is None:
            return count
        body = {**body, "cursor": step["next_cursor"]}


def _listed(found: list[dict[str, Any]]) -> str:
    now = SystemClock().now()
    heads = ("ID", "SEVERITY", "KIND", "AT", "READ BY", "SUBJECT")
    rows = [
        (
            item["id"],
            item["severity"],
            item["kind"] + (" (digest)" if item["is_digest"] else ""),
            both(item["at"], now),
            "-" if item["read_at"] is None else item["read_by"] or "?",
            item["subject"],
        )
        for item in found
    ]
    return table(heads, rows)


def _in_full(item: Mapping[str, Any]) -> str:
    now = SystemClock().now()
    seen = "no user" if item["read_at"] is None else f"{item['read_by']}, {both(item['read_at'], now)}"
    lines = {
        "kind": item["kind"] + (", a digest" if item["is_digest"] else ""),
        "severity": item["severity"],
        "at": both(item["at"], now),
        "read by": seen,
    }
    head = f"{item['id']}  {plain(item['subject'])}"
    facts = [f"  {name:<14}  {plain(line)}" for name, line in lines.items()]
    words = [plain(line) for line in item["text"].rstrip().split("\n")]
    return "\n".join([head, *facts, "", *words])
