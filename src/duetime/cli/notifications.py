"""``duetime notifications``: lists, shows and marks notifications, and sets their recipients."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import datetime

from duetime.cli import preferences
from duetime.cli.arguments import Commands, add_command, add_group, add_page, client_of
from duetime.cli.client import Client, Json
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_content, print_list
from duetime.cli.screen import add_watch
from duetime.cli.tables import facts, plain, table
from duetime.cli.times import both

PATH = "notifications"
"""The API's path of notifications."""

KINDS = (
    "scheduling.action_failed",
    "scheduling.dead_lettered",
    "scheduling.undelivered",
    "scheduling.breaker_opened",
    "scheduling.approval_requested",
    "jobs.recurring_failing",
    "jobs.recurring_succeeding",
    "jobs.chain_refused",
    "jobs.deadline_missed",
    "jobs.deadline_at_risk",
    "jobs.silent",
)
"""Those of `duetime.model.notification.NotificationKind`, which `duetime --help` need not load."""


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    verbs = add_group(commands, PATH, "list notifications, and choose recipients and channels")
    parser = add_command(verbs, "list", list_all, "list them, newest first")
    parser.add_argument("--unread", action="store_true", help="only unread ones")
    _add_kind(parser, "only those of this kind")
    preferences.add_language(parser, "the language of the texts (default: that of the preferences)")
    preferences.add_system(parser)
    add_page(parser)
    add_watch(parser)
    parser = add_command(verbs, "show", show, "show one in full")
    parser.add_argument("id", metavar="ID", help="its id")
    preferences.add_language(parser, "the language of the text (default: that of the preferences)")
    preferences.add_system(parser)
    parser = add_command(verbs, "read", read, "mark some as read, or all")
    parser.add_argument("ids", metavar="ID", nargs="*", help="their ids")
    parser.add_argument("--all", action="store_true", help="all unread ones")
    _add_kind(parser, "with --all: only those of this kind")
    preferences.add_system(parser)
    preferences.add_parser(verbs, KINDS)


def _add_kind(parser: argparse.ArgumentParser, help_text: str) -> None:
    parser.add_argument("--kind", choices=KINDS, metavar="KIND", help=f"{help_text}, such as {KINDS[3]}")


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of notifications."""
    filters = {"kind": arguments.kind, "language": arguments.language}
    scope = {**preferences.scope_of(arguments), "unread": "true" if arguments.unread else None}
    flags = "".join(f" --{name}" for name in ("unread", "system") if getattr(arguments, name))
    return print_list(
        arguments,
        [PATH],
        f"notifications list{flags}",
        _listed,
        empty="no notifications",
        filters=filters,
        scope=scope,
    )


def show(arguments: argparse.Namespace) -> int:
    """Show one in full."""
    query = {"language": arguments.language, **preferences.scope_of(arguments)}
    item = client_of(arguments).ask("GET", PATH, arguments.id, query=query)
    return print_content(arguments, item, _in_full)


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
    message = f"marked {count} as read" if count else "nothing was unread"
    return print_content(arguments, {"read": count}, lambda *_: message)


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


def _listed(items: Sequence[Json], now: datetime) -> str:
    rows = [
        (
            item["id"],
            item["severity"],
            item["kind"] + (" (digest)" if item["is_digest"] else ""),
            both(item["at"], now),
            "-" if item["read_at"] is None else item["read_by"] or "?",
            item["subject"],
        )
        for item in items
    ]
    return table(("ID", "SEVERITY", "KIND", "AT", "READ BY", "SUBJECT"), rows)


def _in_full(item: Json, now: datetime) -> str:
    reader = "no user" if item["read_at"] is None else f"{item['read_by']}, {both(item['read_at'], now)}"
    values = {
        "kind": item["kind"] + (", a digest" if item["is_digest"] else ""),
        "severity": item["severity"],
        "at": both(item["at"], now),
        "read by": reader,
    }
    head = facts(f"{item['id']}  {plain(item['subject'])}", values.items())
    return "\n".join([head, "", *map(plain, item["text"].rstrip().split("\n"))])
