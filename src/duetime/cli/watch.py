"""Watches an action until it is settled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from duetime.cli.action_text import progress
from duetime.cli.arguments import print_json
from duetime.cli.client import Client
from duetime.cli.failures import CommandFailed
from duetime.clock import Clock

OFTEN, SELDOM = timedelta(seconds=0.5), timedelta(seconds=10)
"""The time between two requests: `SELDOM` while the action is far from due."""

GOES_ON = {"pending", "processing"}
"""The statuses of open actions."""


def watch(client: Client, action: Mapping[str, Any], clock: Clock, *, as_json: bool) -> int:
    """Print each change until the action is settled.

    Raises:
        CommandFailed: it was not executed.
    """
    printed = None
    while True:
        stage = (action["status"], action["due_at"], len(action["attempts"]))
        if stage != printed and not as_json:
            print(progress(action, clock.now()), flush=True)
        printed = stage
        if action["status"] not in GOES_ON:
            break
        clock.wait_until(_next_look(action, clock.now()))
        action = client.ask("GET", "scheduling", action["id"])
    if as_json:
        print_json(action)
    if action["status"] != "executed":
        raise CommandFailed(f"the action {action['id']} is {action['status']}, not executed")
    return 0


def _next_look(action: Mapping[str, Any], now: datetime) -> datetime:
    left = datetime.fromisoformat(action["due_at"]) - now
    return now + min(max(left, OFTEN), SELDOM)
