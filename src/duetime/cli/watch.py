"""``--watch`` of commands that change something: waits until actions, a batch or inputs are settled."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from duetime.cli import terminal
from duetime.cli.client import Client, Json
from duetime.cli.failures import CommandFailed, RequestRejected
from duetime.cli.output import print_json
from duetime.cli.tables import plain
from duetime.cli.terminal import ProgressBar
from duetime.cli.views import progress
from duetime.clock import Clock

OFTEN, SELDOM = timedelta(seconds=0.5), timedelta(seconds=10)
"""The time between two requests: `SELDOM` while the action is far from due."""

OPEN = {"pending", "processing"}
"""The statuses that are not final."""

# The number of actions not executed that are listed.
_FIRST, _NOT_FOUND = 10, 404


def watch(client: Client, action: Json, clock: Clock, *, as_json: bool) -> int:
    """Print each change until the action is settled; also the begin of a run that ended between two looks.

    Raises:
        CommandFailed: it was not executed.
    """
    printed, runs = None, len(action["attempts"])
    while True:
        stage = (action["status"], action["due_at"], len(action["attempts"]), action["is_handed_over"])
        if stage[2] > runs and action["status"] != "processing" and not as_json:
            print(progress({**action, "status": "processing"}, clock.now()), flush=True)
        if stage != printed and not as_json:
            print(progress(action, clock.now()), flush=True)
        printed, runs = stage, stage[2]
        if action["status"] not in OPEN:
            break
        left = datetime.fromisoformat(action["due_at"]) - clock.now()
        clock.wait_until(clock.now() + min(max(left, OFTEN), SELDOM))
        action = client.call("getAction", action).body
    if as_json:
        print_json(action)
    if action["status"] != "executed":
        raise CommandFailed(f"the action {action['id']} is {action['status']}, not executed")
    return 0


def follow(client: Client, actions: Sequence[Json], clock: Clock) -> Sequence[Json]:
    """Return the settled actions in the same order; print the number of open ones to standard error."""
    latest = {action["id"]: action for action in actions}
    with ProgressBar("watch", len(latest)) as bar:
        while waiting := [action for action in latest.values() if action["status"] in OPEN]:
            bar.wait(len(latest) - len(waiting), f"{len(waiting)} not done yet", clock)
            latest |= {action["id"]: client.call("getAction", action).body for action in waiting}
    return list(latest.values())


def completed(client: Client, name: str, clock: Clock) -> Json:
    """Return a batch once it is complete; print the number of members that are left to standard error.

    Two reads in a row must find it complete: a count may have begun just before the last redrive.
    """
    before, batch = None, client.call("getBatch", {"name": name}).body
    with ProgressBar("watch", batch["size"]) as bar:
        while batch["state"] != "complete" or batch["counted_at"] != before:
            before = batch["counted_at"]
            line = f"{batch['left']:,} of {batch['size']:,} left" if before else "not counted yet"
            bar.wait(batch["size"] - batch["left"] if before else 0, line, clock)
            batch = client.call("getBatch", {"name": name}).body
    return batch


def redriven(client: Client, items: Sequence[Json], clock: Clock) -> Iterator[tuple[Json, Json | None]]:
    """Yield each input once its redrive has ended: with None if it is gone, else as it came back."""
    waiting = list(items)
    while waiting:
        looked = [(item, _latest(client, item)) for item in waiting]
        waiting = [item for item, latest in looked if latest and latest["count"] == item["count"]]
        yield from ((item, latest) for item, latest in looked if item not in waiting)
        if waiting:
            print(f"{len(waiting)} not done yet", file=sys.stderr, flush=True)
            clock.wait_until(clock.now() + terminal.PAUSE)


def _latest(client: Client, item: Json) -> Json | None:
    try:
        return client.call("getUndelivered", item).body
    except RequestRejected as rejected:
        if rejected.status == _NOT_FOUND:
            return None
        raise


def ends(actions: Sequence[Json]) -> Iterator[str]:
    """Yield the number of actions by status, and the first that were not executed with the reason."""
    counts = sorted(Counter(one["status"] for one in actions).items())
    yield ", ".join(f"{count} {status}" for status, count in counts) or "nothing to wait for"
    others = [action for action in actions if action["status"] != "executed"]
    reasons = {one["id"]: plain(one["failure_reason"] or "-") for one in others[:_FIRST]}
    yield from (f"{one['status']} {one['id']}: {reasons[one['id']]}" for one in others[:_FIRST])
    if len(others) > _FIRST:
        yield f"and {len(others) - _FIRST} more"


def all_executed(actions: Sequence[Json]) -> bool:
    """Return whether all were executed."""
    return all(action["status"] == "executed" for action in actions)
