"""``duetime undelivered redrive``: processes again what queues, the stream and EventBridge gave up on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from duetime.cli.arguments import fields_of
from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage, RequestRejected
from duetime.cli.output import print_content, print_json
from duetime.cli.tables import plain
from duetime.cli.texts import origin
from duetime.cli.watch import PAUSE
from duetime.clock import Clock, SystemClock

_PATH = "undelivered"
_NOT_FOUND = 404


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
    lines = [f"{verb} {item['id']}: {origin(item)}" for item in done["items"]]
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
        return client.ask("GET", _PATH, undelivered_id)
    except RequestRejected as rejected:
        if rejected.status == _NOT_FOUND:
            return None
        raise


def _redrive_all(arguments: argparse.Namespace) -> Json:
    body = fields_of(arguments, ("kind", "limit", "dry_run"))
    return client_of(arguments).ask("POST", _PATH, "redrive", body=body)


def _redrive_some(arguments: argparse.Namespace) -> Json:
    """Redrive some. All are looked up first: one wrong id changes nothing."""
    client = client_of(arguments)
    items = [client.ask("GET", _PATH, id_) for id_ in arguments.ids]
    if not arguments.dry_run:
        items = [client.ask("POST", _PATH, id_, "redrive") for id_ in arguments.ids]
    return {"items": items, "dry_run": arguments.dry_run}
