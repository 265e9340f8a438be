"""``duetime jobs``: lists and shows jobs of the code and of the tenant."""

from __future__ import annotations

import argparse
from typing import Any

from duetime.cli import backfills, job_changes, job_definitions, job_registration, load
from duetime.cli.arguments import (
    JOBS,
    Commands,
    add_command,
    add_group,
    add_job,
    add_page,
    client_of,
)
from duetime.cli.client import Client
from duetime.cli.filters import moment, statuses
from duetime.cli.job_text import accounts, history, in_full, listed
from duetime.cli.output import pasted, print_json, print_list, print_page
from duetime.cli.screen import add_watch
from duetime.clock import SystemClock

# The number of pages read for one list: a filtered page may be short or empty.
_MOST_PAGES = 20

_TIME = (
    "A TIME is 2027-06-01T09:00 on this machine's clock, or 2027-06-01T07:00Z,"
    " or a span from now, such as -2h."
)
_TO = "and not later than this (default, without --status: now, which leaves out what is to come)"


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    verbs = add_group(commands, "jobs", "list, pause and trigger jobs, and register your own")
    parser = add_command(verbs, "list", list_all, "list them by name: code's, then the tenant's own")
    add_page(parser)
    add_watch(parser)
    help_text = "show all details of a job; with --from or --until, the status of each nominal time"
    parser = add_command(verbs, "show", show, help_text, _TIME)
    add_job(parser)
    _add_window(
        parser, "list its occurrences from then on (default: 24 h ago)", "and up to then (default: in 24 h)"
    )
    add_watch(parser)
    parser = add_command(verbs, "history", list_runs, "list its runs, newest first", _TIME)
    add_job(parser)
    parser.add_argument(
        "--status",
        type=statuses,
        help="only executed, failed, skipped, cancelled, pending or processing runs",
    )
    _add_window(parser, "only those whose nominal time is later", _TO)
    add_page(parser)
    load.add_parser(verbs)
    job_changes.add_parsers(verbs)
    job_registration.add_parsers(verbs)
    job_definitions.add_parsers(verbs)
    backfills.add_parsers(verbs)


def _add_window(parser: argparse.ArgumentParser, start: str, end: str) -> None:
    parser.add_argument("--from", dest="start", metavar="TIME", type=moment, help=start)
    parser.add_argument("--until", metavar="TIME", type=moment, help=end)


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of jobs."""
    return print_list(arguments, [JOBS], "jobs list", listed, empty="no jobs", scope={"runs": "1"})


def show(arguments: argparse.Namespace) -> int:
    """Show one job in full, and the status of its occurrences if requested."""
    client, now = client_of(arguments), SystemClock().now()
    job, found = client.ask("GET", JOBS, arguments.name), None
    if arguments.start or arguments.until:
        query = {"from": arguments.start, "until": arguments.until}
        found = client.ask("GET", JOBS, arguments.name, "occurrences", query=query)
    if arguments.json:
        print_json(job if found is None else {**job, "occurrences": found})
        return 0
    print(in_full(job, now))
    print()
    if found is None:
        print(f"list its occurrences: duetime jobs show {job['name']} --from -24h --until 24h")
        return 0
    print(accounts(found["items"]) if found["items"] else "no occurrence in this window")
    if found["next_from"]:
        given = {"--from": found["next_from"], "--until": arguments.until}
        print(f"more: duetime jobs show {job['name']} {pasted(arguments, given)}")
    return 0


def list_runs(arguments: argparse.Namespace) -> int:
    """List runs of one job."""
    filters = {"status": arguments.status, "from": arguments.start, "until": arguments.until}
    page = _runs(client_of(arguments), arguments)
    command = f"jobs history {arguments.name}"
    return print_page(arguments, page, command, history, empty="no runs", filters=filters)


def _runs(client: Client, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the requested number of runs, from several pages if a filter makes them short."""
    items: list[Any] = []
    cursor = arguments.cursor
    until = arguments.until or (None if arguments.status else moment("0s"))
    for _ in range(_MOST_PAGES):
        query = {
            "limit": str(arguments.limit - len(items)),
            "cursor": cursor,
            "status": arguments.status,
            "from": arguments.start,
            "until": until,
        }
        page = client.ask("GET", JOBS, arguments.name, "runs", query=query)
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None or len(items) >= arguments.limit:
            break
    return {"items": items, "next_cursor": cursor}
