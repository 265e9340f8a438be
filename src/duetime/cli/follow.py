"""Follows many actions until all are settled: this shows whether a redrive has worked."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from duetime.cli.client import Client
from duetime.cli.tables import plain
from duetime.cli.watch import GOES_ON
from duetime.clock import Clock

Json = Mapping[str, Any]

PAUSE = timedelta(seconds=1)
"""The time between two requests."""
FIRST = 10
"""The number of actions not executed that are listed."""


def add_follow(parser: argparse.ArgumentParser) -> None:
    """Add ``--watch``."""
    parser.add_argument(
        "--watch", action="store_true", help="wait until each is done; exit with 0 if all were executed"
    )


def follow(client: Client, actions: Sequence[Json], clock: Clock) -> Sequence[Json]:
    """Return the settled actions in the same order; print the number of open ones to standard error."""
    latest = {action["id"]: action for action in actions}
    reported = 0
    while waiting := [action for action in latest.values() if action["status"] in GOES_ON]:
        if len(waiting) != reported:
            reported = len(waiting)
            print(f"{reported} not done yet", file=sys.stderr, flush=True)
        clock.wait_until(clock.now() + PAUSE)
        for action in waiting:
            latest[action["id"]] = client.ask("GET", "scheduling", action["id"])
    return list(latest.values())


def ends(actions: Sequence[Json]) -> Iterator[str]:
    """Yield the number of actions by status, and the first that were not executed with the reason."""
    counted = Counter(action["status"] for action in actions)
    yield ", ".join(f"{count} {status}" for status, count in sorted(counted.items())) or "nothing to wait for"
    others = [action for action in actions if action["status"] != "executed"]
    for other in others[:FIRST]:
        yield f"{other['status']} {other['id']}: {plain(other['failure_reason'] or '-')}"
    if len(others) > FIRST:
        yield f"and {len(others) - FIRST} more"


def all_executed(actions: Sequence[Json]) -> bool:
    """Return whether all were executed."""
    return all(action["status"] == "executed" for action in actions)
