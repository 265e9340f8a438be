"""``--watch`` of commands that change actions: waits until one action, or many, are settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from duetime.cli.action_text import progress
from duetime.cli.client import Client, Json
from duetime.cli.failures import CommandFailed
from duetime.cli.output import print_json
from duetime.cli.tables import plain
from duetime.cli.terminal import ProgressBar
from duetime.clock import Clock

OFTEN, SELDOM = timedelta(seconds=0.5), timedelta(seconds=10)
"""The time between two requests: `SELDOM` while the action is far from due."""

PAUSE = timedelta(seconds=1)
"""The time between two requests for one of many actions."""

OPEN = {"pending", "processing"}
"""The statuses that are not final."""

# The number of actions not executed that are listed.
_FIRST = 10


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
        clock.wait_until(_next_look(action, clock.now()))
        action = client.ask("GET", "actions", action["id"])
    if as_json:
        print_json(action)
    if action["status"] != "executed":
        raise CommandFailed(f"the action {action['id']} is {action['status']}, not executed")
    return 0


def _next_look(action: Json, now: datetime) -> datetime:
    return now + min(max(datetime.fromisoformat(action["due_at"]) - now, OFTEN), SELDOM)


def follow(client: Client, actions: Sequence[Json], clock: Clock) -> Sequence[Json]:
    """Return the settled actions in the same order; print the number of open ones to standard error."""
    latest = {action["id"]: action for action in actions}
    reported = 0
    with ProgressBar("watch", len(latest)) as bar:
        while waiting := [action for action in latest.values() if action["status"] in OPEN]:
            bar.done(len(latest) - len(waiting))
            if len(waiting) != reported:
                reported = len(waiting)
                bar.note(f"{reported} not done yet")
            clock.wait_until(clock.now() + PAUSE)
            for action in waiting:
                latest[action["id"]] = client.ask("GET", "actions", action["id"])
    return list(latest.values())


def ends(actions: Sequence[Json]) -> Iterator[str]:
    """Yield the number of actions by status, and the first that were not executed with the reason."""
    yield (
        ", ".join(
            f"{count} {status}" for status, count in sorted(Counter(one["status"] for one in actions).items())
        )
        or "nothing to wait for"
    )
    others = [action for action in actions if action["status"] != "executed"]
    for other in others[:_FIRST]:
        yield f"{other['status']} {other['id']}: {plain(other['failure_reason'] or '-')}"
    if len(others) > _FIRST:
        yield f"and {len(others) - _FIRST} more"


def all_executed(actions: Sequence[Json]) -> bool:
    """Return whether all were executed."""
    return all(action["status"] == "executed" for action in actions)
