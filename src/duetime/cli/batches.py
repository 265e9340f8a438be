"""``duetime actions batches``: list and show batches, close one, cancel or redrive its members."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from duetime._english import counted
from duetime.cli.arguments import Commands, Run, add_command, add_group, add_page, client_of
from duetime.cli.client import Client, Json
from duetime.cli.failures import BadUsage
from duetime.cli.many import add_many
from duetime.cli.output import print_content, print_json, print_list
from duetime.cli.progress import ProgressBar
from duetime.cli.screen import add_watch
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.cli.watch import PAUSE
from duetime.clock import Clock, SystemClock

_PATH = "batches"
_STEP = 100
_WIDTH = 30
"""Characters of the progress bar."""
_DONE = {"cancel": "cancelled or requested to stop", "redrive": "redriven"}


def add_commands(verbs: Commands) -> None:
    """Add the group, and its commands."""
    group = add_group(verbs, "batches", "the progress of batches; close, cancel or redrive one")
    parser = add_command(group, "list", list_batches, "list batches by name, with their progress")
    add_page(parser)
    add_watch(parser)
    add_watch(_add_one(group, "show", show, "show the progress of a batch"))
    _add_one(group, "close", close, "close an open one: it is complete when all members are final")
    add_many(_add_one(group, "cancel", cancel, "close one, and cancel its members that are not final"))
    parser = _add_one(group, "redrive", redrive, "run the failed members of one again")
    add_many(parser)
    parser.add_argument(
        "--watch",
        action="store_true",
        help="print the progress until the batch is complete; exit with 0 if all members were executed",
    )


def _add_one(group: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = add_command(group, name, run, help_text)
    parser.add_argument("name", metavar="NAME", help="the batch's name")
    return parser


def list_batches(arguments: argparse.Namespace) -> int:
    """List a page of batches."""
    return print_list(arguments, [_PATH], "actions batches list", _listed, empty="no batches", filters={})


def show(arguments: argparse.Namespace) -> int:
    """Show one batch."""
    return print_content(arguments, client_of(arguments).ask("GET", _PATH, arguments.name), _in_full)


def close(arguments: argparse.Namespace) -> int:
    """Close one batch."""
    batch = client_of(arguments).ask("POST", _PATH, arguments.name, "close", body={})
    return print_content(arguments, batch, lambda found, _now: f"closed {found['name']}")


def cancel(arguments: argparse.Namespace) -> int:
    """Cancel the members of one batch."""
    return _change(arguments, "cancel")


def redrive(arguments: argparse.Namespace) -> int:
    """Run the failed members of one batch again, and with ``--watch`` wait until it is complete."""
    if not arguments.watch:
        return _change(arguments, "redrive")
    if arguments.dry_run:
        raise BadUsage("--dry-run changes nothing, so there is nothing to --watch")
    client, name = client_of(arguments), arguments.name
    if client.ask("GET", _PATH, name)["state"] == "open":
        raise BadUsage(f"{name} is open, so it is not complete before it is closed: leave out --watch")
    status = _change(arguments, "redrive", prints_json=False)
    batch = _completed(client, name, SystemClock())
    print_content(arguments, batch, _in_full)
    return status or int(batch["executed"] < batch["size"])


def _completed(client: Client, name: str, clock: Clock) -> Json:
    """Return a batch once it is complete; print the number of members that are left to standard error.

    Two reads in a row must find it complete: a count may have begun just before the last redrive.
    """
    noted, before, batch = None, None, client.ask("GET", _PATH, name)
    with ProgressBar("watch", batch["size"]) as bar:
        while batch["state"] != "complete" or batch["counted_at"] != before:
            before = batch["counted_at"]
            is_counted = batch["counted_at"] is not None
            line = f"{batch['left']:,} of {batch['size']:,} left" if is_counted else "not counted yet"
            bar.done(batch["size"] - batch["left"] if is_counted else 0)
            if line != noted:
                noted = line
                bar.note(line)
            clock.wait_until(clock.now() + PAUSE)
            batch = client.ask("GET", _PATH, name)
    return batch


def _change(arguments: argparse.Namespace, verb: str, *, prints_json: bool = True) -> int:
    if not (arguments.yes or arguments.dry_run):
        raise BadUsage(f"{verb} changes all members that it can: look with --dry-run, then use --yes")
    changed, left = list[Json](), list[Json]()
    with ProgressBar(verb) as bar:
        for step in _steps(client_of(arguments), arguments, verb):
            changed += step["changed"]
            left += step["left"]
            bar.done(len(changed))
    if arguments.json and prints_json:
        print_json({"changed": changed, "left": left, "next_cursor": None, "dry_run": arguments.dry_run})
    elif not arguments.json:
        done = f"would {verb}" if arguments.dry_run else _DONE[verb]
        print(f"{done} {counted(len(changed), 'member')} of {arguments.name}")
        for action in left:
            print(f"left {action['id']}: {plain(action['reason'])}", file=sys.stderr)
    return 1 if left else 0


def _steps(client: Client, arguments: argparse.Namespace, verb: str) -> Iterator[Json]:
    body: dict[str, Any] = {"limit": _STEP, "dry_run": arguments.dry_run}
    while True:
        step = client.ask("POST", _PATH, arguments.name, verb, body=body)
        yield step
        if step["next_cursor"] is None:
            return
        body["cursor"] = step["next_cursor"]


def _listed(batches: Sequence[Json], now: datetime) -> str:
    names = ("size", "executed", "failed", "left")
    rows = [
        [batch["name"], batch["state"], *(str(batch[name]) for name in names), both(batch["opened_at"], now)]
        for batch in batches
    ]
    return table(["NAME", "STATE", "MEMBERS", "EXECUTED", "FAILED", "LEFT", "OPENED"], rows)


def _in_full(batch: Json, now: datetime) -> str:
    ended = batch["size"] - batch["left"]
    filled = _WIDTH * ended // batch["size"] if batch["size"] else 0
    share = 100 * ended // batch["size"] if batch["size"] else 0
    counts = ", ".join(f"{name} {batch[name]:,}" for name in ("executed", "failed", "cancelled", "skipped"))
    lines = [
        f"{batch['name']}: {batch['state']}",
        f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {share} %, {batch['left']:,} of {batch['size']:,} left",
        counts,
        f"counted {both(batch['counted_at'], now)}" if batch["counted_at"] else "not counted yet",
        f"opened {both(batch['opened_at'], now)} by {plain(batch['opened_by'])}",
    ]
    if batch["closed_at"]:
        lines.append(f"closed {both(batch['closed_at'], now)} by {plain(batch['closed_by'])}")
    if batch["completed_at"]:
        lines.append(f"complete since {both(batch['completed_at'], now)}")
    if batch["on_complete"]:
        lines.append(f"then runs {batch['on_complete']}")
    return "\n".join(lines)
