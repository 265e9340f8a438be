"""``duetime doctor``: looks a deployment over, and says what to do."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from duetime.cli.arguments import JOBS, Commands, add_connection, client_of, pasted, print_json
from duetime.cli.tables import plain, table
from duetime.clock import SystemClock

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.cli.client import Client
    from duetime.cli.diagnosis import Finding, Json

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
    found = [each.asking(pasted(arguments, {})) for each in found]
    is_ill = any(each.state == "ill" for each in found)
    if arguments.json:
        told = {"url": client.url, "me": me, "health": health, "findings": [each._asdict() for each in found]}
        print_json({**told, "status": "ill" if is_ill else "ok"})
    else:
        print(f"{client.url}, as {plain(me['actor'])} of {plain(me['tenant_id'])}\n")
        print(_drawn(found, health.get("runbook")))
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


def _drawn(found: Sequence[Finding], runbook: str | None) -> str:
    """The findings, and where to read on: an installed package has no pages, so sections are named where nobody said where."""
    rows = [[each.about, each.state, each.told, each.remedy or "-"] for each in found]
    lines = [table(["LOOKED AT", "STATE", "FOUND", "WHAT TO DO"], rows)]
    if sections := list(dict.fromkeys(each.section for each in found if each.section)):
        places = [f"{plain(runbook)}#{_anchor(section)}" if runbook else section for section in sections]
        lines += ["", "the runbook tells more:" if runbook else "the runbook tells more, under:"]
        lines += [f"  {place}" for place in places]
    return "\n".join(lines)


def _anchor(section: str) -> str:
    return re.sub(r"[^\w\- ]", "", section).lower().replace(" ", "-")
