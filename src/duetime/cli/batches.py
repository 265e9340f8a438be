"""``duetime actions batches``: cancels or redrives the members of a batch."""

from __future__ import annotations

import argparse
import sys

from duetime._english import counted
from duetime.cli.action_text import batch as text
from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_content, print_json
from duetime.cli.tables import plain
from duetime.cli.terminal import ProgressBar
from duetime.cli.watch import PAUSE
from duetime.clock import Clock, SystemClock

_PATH = "batches"
_STEP = 100
_DONE = {"cancel": "cancelled or requested to stop", "redrive": "redriven"}


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
    print_content(arguments, batch, text)
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
        body = {"limit": _STEP, "dry_run": arguments.dry_run}
        for step in client_of(arguments).steps(_PATH, arguments.name, verb, body=body):
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
