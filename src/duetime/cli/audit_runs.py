"""``duetime access audit runs``: the last recount of all nominal times, and what it found."""

from __future__ import annotations

import argparse

from duetime._english import counted
from duetime.cli.arguments import client_of
from duetime.cli.client import Json
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_json
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.clock import SystemClock

_FOUND = 1
"""The exit status if the recount found something, or could not read a job."""

_OTHERS = ("action", "job", "cursor", "heads", "system")
"""Options of the trail."""

_MEANINGS = {
    "no_row": "it has neither a row nor a reason",
    "ran_twice": "runs of two versions took place",
    "not_nominal": "the cadence does not have this time",
    "no_reason": "it was skipped without a reason",
    "not_made_up_for": "catch_up requires a run of it",
    "not_planned": "no planner has come to it",
    "no_end": "the final action has no run, or no end of its retention",
    "not_in_due_index": "no sweep can find the overdue action",
}


def audit_runs(arguments: argparse.Namespace) -> int:
    """Print the last recount; return 1 if it found something."""
    for name in _OTHERS:
        if getattr(arguments, name, None):
            raise BadUsage(f"`audit runs` prints the last recount of all jobs; omit --{name}")
    state = client_of(arguments).ask("GET", "recount")
    last = state["last"]
    if arguments.json:
        print_json(state)
    elif last is None:
        print("no recount has ended yet; `duetime jobs trigger duetime-recount` runs one now")
    else:
        print(_text(last))
    return _FOUND if last and (last["found"] or last["unread"]) else 0


def _text(last: Json) -> str:
    now = SystemClock().now()
    lines = [
        f"recounted {both(last['ended_at'], now)}: nominal times from {last['since']} to {last['until']}",
        f"{counted(last['jobs'], 'job')}, {last['left_out']} of paused tenants left out",
        f"nominal times: {_counts(last['times'])}",
        f"one-shots (a sample): {_counts(last['one_shots'])}",
    ]
    if last["unread"]:
        lines.append(f"not read: {', '.join(map(plain, last['unread']))}")
    if not last["found"]:
        return "\n".join([*lines, "nothing found"])
    rows = [
        [
            found["problem"],
            plain(found["job"] or found["action_id"] or ""),
            plain(found["tenant_id"]),
            both(found["at"], now),
            _MEANINGS.get(found["problem"], ""),
        ]
        for found in last["findings"]
    ]
    if (more := last["found"] - len(rows)) > 0:
        lines.append(f"{counted(last['found'], 'finding')}, {more} of them not listed")
    return "\n".join([*lines, "", table(["PROBLEM", "OF", "TENANT", "AT", "MEANING"], rows)])


def _counts(counts: Json) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"
