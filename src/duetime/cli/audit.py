"""``duetime access audit``: the trail of changes, and the last recount of all nominal times."""

from __future__ import annotations

import argparse
from datetime import datetime

from duetime._english import counted
from duetime.cli.client import Json, client_of
from duetime.cli.failures import BadUsage
from duetime.cli.output import Listing, print_content
from duetime.cli.tables import Table, plain
from duetime.cli.times import both
from duetime.cli.views import CHANGES

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


def audit(arguments: argparse.Namespace) -> int:
    """List a page of the trail, verify all of it, or print the last recount."""
    if arguments.verb == "runs":
        return _print_recount(arguments)
    if arguments.heads and not arguments.verb:
        raise BadUsage("--heads belongs to `duetime access audit verify`")
    if arguments.verb or arguments.system:
        from duetime.cli.audit_verification import print_system, verify_trail  # noqa: PLC0415 - the trail needs no model

        return verify_trail(arguments) if arguments.verb else print_system(arguments)
    return Listing("listAuditEntries", CHANGES)(arguments)


def _print_recount(arguments: argparse.Namespace) -> int:
    """Print the last recount; return 1 if it found something, or could not read a job."""
    for name in _OTHERS:
        if getattr(arguments, name, None):
            raise BadUsage(f"`audit runs` prints the last recount of all jobs; omit --{name}")
    state = client_of(arguments).call("getRecount").body
    last = state["last"]
    return print_content(arguments, state, _recount) or int(bool(last and (last["found"] or last["unread"])))


def _recount(state: Json, now: datetime) -> str:
    if (last := state["last"]) is None:
        return "no recount has ended yet; `duetime jobs trigger duetime-recount` runs one now"
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
    if (more := last["found"] - len(last["findings"])) > 0:
        lines.append(f"{counted(last['found'], 'finding')}, {more} of them not listed")
    return "\n".join([*lines, "", _FINDINGS(last["findings"], now)])


_FINDINGS = Table(
    {
        "PROBLEM": "problem",
        "OF": lambda found, _: found["job"] or found["action_id"],
        "TENANT": "tenant_id",
        "AT": "{at:when}",
        "MEANING": lambda found, _: _MEANINGS.get(found["problem"]),
    }
)


def _counts(counts: Json) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"
