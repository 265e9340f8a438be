"""``duetime doctor``: checks a deployment, and prints remedies."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from duetime.cli.action_text import tenant
from duetime.cli.arguments import JOBS, Commands, add_command, client_of
from duetime.cli.output import pasted, print_json
from duetime.cli.runbook import anchor
from duetime.cli.tables import plain, table
from duetime.clock import SystemClock

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.cli.client import Client
    from duetime.cli.diagnosis import Finding, Json

# A page has 100 jobs.
_MOST_PAGES = 10


def add_parser(commands: Commands) -> None:
    """Add the command."""
    add_command(
        commands,
        "doctor",
        run,
        "check the deployment: what lags, what is wrong, what to do",
        "Check the deployment. It needs the permission `system`. Exit status 1: a part is ill.",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if a part is ill."""
    from duetime.cli.diagnosis import diagnose, diagnose_jobs  # noqa: PLC0415 - as above

    client = client_of(arguments)
    me = client.ask("GET", "me")
    health = client.ask("GET", "health", "details")
    now = SystemClock().now()
    found = [*diagnose(health, now)]
    if "jobs:read" in me["permissions"]:
        found += diagnose_jobs(_jobs(client), now)
    found = [finding.with_connection(pasted(arguments, {})) for finding in found]
    is_ill = any(finding.state == "ill" for finding in found)
    if arguments.json:
        document = {
            "url": client.url,
            "me": me,
            "health": health,
            "findings": [_as_json(finding) for finding in found],
        }
        print_json({**document, "status": "ill" if is_ill else "ok"})
    else:
        of = "".join(f" of {plain(name)}" for _, name in tenant(me))
        print(f"{client.url}, as {plain(me['actor'])}{of}\n")
        print(_drawn(found, health.get("runbook")))
    return 1 if is_ill else 0


def _jobs(client: Client) -> Sequence[Json]:
    """Return the jobs that the caller may see: those of the code, and those of its tenant."""
    jobs: list[Json] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = client.ask("GET", JOBS, query={"limit": "100", "cursor": cursor})
        jobs += page["items"]
        if (cursor := page["next_cursor"]) is None:
            break
    return jobs


def _as_json(finding: Finding) -> Json:
    """Return the finding with the published key of its message."""
    return {"told" if name == "message" else name: value for name, value in finding._asdict().items()}


def _drawn(found: Sequence[Finding], runbook: str | None) -> str:
    """Return the findings, and the runbook's sections: addresses if its URL is set, else commands."""
    rows = [[finding.about, finding.state, finding.message, finding.remedy or "-"] for finding in found]
    lines = [table(["CHECK", "STATE", "FINDING", "REMEDY"], rows)]
    if sections := list(dict.fromkeys(finding.section for finding in found if finding.section)):
        before = f"{plain(runbook)}#" if runbook else "duetime deployment runbook "
        places = [f"{before}{anchor(section)}" for section in sections]
        lines += ["", "see the runbook:"]
        lines += [f"  {place}" for place in places]
    return "\n".join(lines)
