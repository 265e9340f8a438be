"""``duetime doctor``: looks a deployment over, and says what to do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from duetime.cli.arguments import JOBS, Commands, add_connection, client_of, print_json
from duetime.cli.tables import plain, table
from duetime.clock import SystemClock

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.cli.client import Client
    from duetime.cli.diagnosis import Finding, Json

RUNBOOK = "docs/runbook.md"
_MOST_PAGES = 10
"""Of a hundred jobs each."""


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        help="look the deployment over: what lags, what is wrong, what to do",
        description="Look the deployment over. It needs the permission `system`. Exit status 1: something is ill.",
    )
    add_connection(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Tell what was found; 1 if something is ill."""
    from duetime.cli.diagnosis import diagnose, diagnose_jobs  # noqa: PLC0415 - as above

    client = client_of(arguments)
    me = client.ask("GET", "me")
    health = client.ask("GET", "health", "details")
    now = SystemClock().now()
    found = [*diagnose(health, now)]
    if "jobs:read" in me["permissions"]:
        found += diagnose_jobs(_jobs(client), now)
    is_ill = any(each.state == "ill" for each in found)
    if arguments.json:
        told = {"url": client.url, "me": me, "health": health, "findings": [each._asdict() for each in found]}
        print_json({**told, "status": "ill" if is_ill else "ok"})
    else:
        print(f"{client.url}, as {plain(me['actor'])} of {plain(me['tenant_id'])}\n")
        print(_drawn(found))
    return 1 if is_ill else 0


def _jobs(client: Client) -> Sequence[Json]:
    """The jobs that the caller sees: code's, and those of its tenant."""
    jobs: list[Json] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = client.ask("GET", JOBS, query={"limit": "100", "cursor": cursor})
        jobs += page["items"]
        if (cursor := page["next_cursor"]) is None:
            break
    return jobs


def _drawn(found: Sequence[Finding]) -> str:
    rows = [[each.about, each.state, each.told, each.remedy or "-"] for each in found]
    lines = [table(["LOOKED AT", "STATE", "FOUND", "WHAT TO DO"], rows)]
    if sections := list(dict.fromkeys(each.section for each in found if each.section)):
        lines += ["", f"{RUNBOOK} tells more:", *(f"  {each}" for each in sections)]
    return "\n".join(lines)
