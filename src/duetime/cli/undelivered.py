"""``duetime undelivered``: list, show and redrive what queues, the stream and EventBridge gave up on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime

from duetime.cli.arguments import Commands, add_command, add_group, add_page, client_of
from duetime.cli.client import Client, Json
from duetime.cli.failures import BadUsage, RequestRejected
from duetime.cli.output import print_content, print_json, print_list
from duetime.cli.tables import facts, plain, table
from duetime.cli.times import both
from duetime.cli.watch import PAUSE
from duetime.clock import Clock, SystemClock

PATH = "undelivered"
"""The API's path of what is undelivered."""

KINDS = ("message", "record", "wake", "event", "pass", "lifecycle", "notification")
"""Those of `duetime.model.undelivered.Kind`, which `duetime --help` need not load."""

_REASON = 60
_NOT_FOUND = 404


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    verbs = add_group(
        commands,
        PATH,
        "list and redrive inputs that a queue, a stream or EventBridge gave up",
    )
    add_page(add_command(verbs, "list", list_all, "list them, newest first"))
    parser = add_command(verbs, "show", show, "show all details of an input")
    parser.add_argument("id", metavar="ID", help="its id")
    parser = add_command(verbs, "redrive", redrive, "process some again, or all")
    parser.add_argument("ids", metavar="ID", nargs="*", help="their ids")
    parser.add_argument("--all", action="store_true", help="all of them, the newest first")
    parser.add_argument("--kind", choices=KINDS, help="with --all: only those of this kind")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="with --all: how many, 1 to 1,000 (default: 100)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only list them")
    parser.add_argument(
        "--watch",
        action="store_true",
        help="wait until each is gone or came back; exit with 0 if all are gone",
    )


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of what is undelivered."""
    return print_list(arguments, [PATH], "undelivered list", _listed, empty="nothing is undelivered")


def show(arguments: argparse.Namespace) -> int:
    """Show one in full."""
    return print_content(arguments, client_of(arguments).ask("GET", PATH, arguments.id), _in_full)


def redrive(arguments: argparse.Namespace) -> int:
    """Process some again, or all."""
    if arguments.all == bool(arguments.ids):
        raise BadUsage("give either the ids to redrive, or --all")
    if arguments.ids and (arguments.kind or arguments.limit):
        raise BadUsage("--kind and --limit go with --all")
    if arguments.dry_run and arguments.watch:
        raise BadUsage("--dry-run changes nothing, so there is nothing to --watch")
    done = _redrive_all(arguments) if arguments.all else _redrive_some(arguments)
    verb = "would redrive" if arguments.dry_run else "requested redrive of"
    lines = [f"{verb} {item['id']}: {_about(item)}" for item in done["items"]]
    if arguments.watch:
        return _watch(arguments, done["items"], lines)
    return print_content(arguments, done, lambda *_: "\n".join(lines) or "nothing to redrive")


def _watch(arguments: argparse.Namespace, items: Sequence[Json], lines: Sequence[str]) -> int:
    """Wait until each input is gone or came back; return 1 if one came back."""
    if not arguments.json:
        print("\n".join(lines) or "nothing to redrive", flush=True)
    ended = {}
    for item, latest in follow_redrives(client_of(arguments), items, SystemClock()):
        ended[item["id"]] = latest
        if not arguments.json:
            result = "gone" if latest is None else f"came back: {plain(latest['reason'])}"
            print(f"{item['id']}  {result}", flush=True)
    back = [latest for latest in ended.values() if latest is not None]
    if arguments.json:
        print_json({"gone": [id_ for id_, latest in ended.items() if latest is None], "came_back": back})
    elif items:
        print(f"{len(ended) - len(back)} gone, {len(back)} came back")
    return 1 if back else 0


def follow_redrives(
    client: Client, items: Sequence[Json], clock: Clock
) -> Iterator[tuple[Json, Json | None]]:
    """Yield each input once its redrive has ended: with None if it is gone, else as it came back."""
    waiting = list(items)
    while waiting:
        looked = [(item, _latest(client, item["id"])) for item in waiting]
        waiting = [item for item, latest in looked if latest and latest["count"] == item["count"]]
        yield from ((item, latest) for item, latest in looked if item not in waiting)
        if waiting:
            print(f"{len(waiting)} not done yet", file=sys.stderr, flush=True)
            clock.wait_until(clock.now() + PAUSE)


def _latest(client: Client, undelivered_id: str) -> Json | None:
    try:
        return client.ask("GET", PATH, undelivered_id)
    except RequestRejected as rejected:
        if rejected.status == _NOT_FOUND:
            return None
        raise


def _redrive_all(arguments: argparse.Namespace) -> Json:
    options = {"kind": arguments.kind, "limit": arguments.limit}
    body = {name: value for name, value in options.items() if value is not None}
    return client_of(arguments).ask("POST", PATH, "redrive", body={**body, "dry_run": arguments.dry_run})


def _redrive_some(arguments: argparse.Namespace) -> Json:
    """Redrive some. All are looked up first: one wrong id changes nothing."""
    client = client_of(arguments)
    items = [client.ask("GET", PATH, id_) for id_ in arguments.ids]
    if not arguments.dry_run:
        items = [client.ask("POST", PATH, id_, "redrive") for id_ in arguments.ids]
    return {"items": items, "dry_run": arguments.dry_run}


def _listed(items: Sequence[Json], now: datetime) -> str:
    rows = [
        (
            item["id"],
            item["kind"],
            item["source"],
            both(item["last_at"], now),
            str(item["count"]),
            item["action_id"] or "",
            item["reason"] if len(item["reason"]) <= _REASON else f"{item['reason'][: _REASON - 1]}…",
        )
        for item in items
    ]
    return table(("ID", "KIND", "FROM", "LAST", "COUNT", "ACTION", "REASON"), rows)


def _in_full(item: Json, now: datetime) -> str:
    body = "[redacted]" if item["body"] is None else item["body"]
    values = {
        "action": f"{item['action_id']} of {item['tenant_id']}" if item["action_id"] else "not known",
        "reason": item["reason"],
        "first kept": both(item["first_at"], now),
        "last kept": both(item["last_at"], now),
        "count": item["count"],
        "body, cut" if item["is_cut"] else "body": body,
    }
    return facts(f"{item['id']}  {_about(item)}", values.items())


def _about(item: Json) -> str:
    return f"{item['kind']}  from {plain(item['source'])}"
