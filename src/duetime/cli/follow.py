"""Follows many actions until nothing more happens to any: how one sees that a redrive has worked."""

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
"""Between two looks at those that are not done."""
FIRST = 10
"""So many that were not executed are told one by one."""


def add_follow(parser: argparse.ArgumentParser) -> None:
    """``--watch``."""
    parser.add_argument(
        "--watch", action="store_true", help="wait until each is done; exit with 0 if all were executed"
    )


def follow(client: Client, actions: Sequence[Json], clock: Clock) -> Sequence[Json]:
    """The actions as they ended, in the same order; meanwhile standard error is told how many are not done."""
    latest = {action["id"]: action for action in actions}
    told = 0
    while waiting := [each for each in latest.values() if each["status"] in GOES_ON]:
        if len(waiting) != told:
            told = len(waiting)
            print(f"{told} not done yet", file=sys.stderr, flush=True)
        clock.wait_until(clock.now() + PAUSE)
        for each in waiting:
            latest[each["id"]] = client.ask("GET", "scheduling", each["id"])
    return list(latest.values())


def ends(actions: Sequence[Json]) -> Iterator[str]:
    """How they ended, counted; of those that were not executed the first, with the reason."""
    counted = Counter(action["status"] for action in actions)
    yield ", ".join(f"{count} {status}" for status, count in sorted(counted.items())) or "nothing to wait for"
    others = [action for action in actions if action["status"] != "executed"]
    for other in others[:FIRST]:
        yield f"{other['status']} {other['id']}: {plain(other['failure_reason'] or '-')}"
    if len(others) > FIRST:
        yield f"and {len(others) - FIRST} more"


def all_executed(actions: Sequence[Json]) -> bool:
    """Whether each has run to its end."""
    return all(action["status"] == "executed" for action in actions)
