"""``duetime jobs``: lists and shows jobs of the code and of the tenant."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from duetime.cli import job_changes, job_registration
from duetime.cli.arguments import (
    JOBS,
    Commands,
    add_connection,
    add_job,
    client_of,
    pasted,
    print_json,
)
from duetime.cli.client import Client
from duetime.cli.filters import moment
from duetime.cli.job_text import accounts, history, in_full, listed
from duetime.cli.screen import add_watch
from duetime.clock import SystemClock

Run = Callable[[argparse.Namespace], int]

_MOST_PAGES = 20
"""The number of pages read for one list: a filtered page may be short or empty."""

_TIME = (
    "A TIME is 2027-06-01T09:00 on this machine's clock, or 2027-06-01T07:00Z,"
    " or a span from now, such as -2h."
)
_TO = "and not later than this (default, without --status: now, which leaves out what is to come)"


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    parser = commands.add_parser("jobs", help="look at jobs, pause and trigger them, register your own")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_list(verbs)
    _add_show(verbs)
    _add_history(verbs)
    job_changes.add_parsers(verbs)
    job_registration.add_parsers(verbs)


def _add_list(verbs: Commands) -> None:
    parser = verbs.add_parser("list", help="list them by name: code's, then the tenant's own")
    _add_page(parser)
    add_connection(parser)
    add_watch(parser, list_all)


def _add_show(verbs: Commands) -> None:
    parser = verbs.add_parser(
        "show",
        help="show all facts of one; with --from or --until, the status of each occurrence",
        description=_TIME,
    )
    add_job(parser)
    _add_window(
        parser, "account for its times from then on (default: 24 h ago)", "and up to then (default: in 24 h)"
    )
    add_connection(parser)
    add_watch(parser, show)


def _add_history(verbs: Commands) -> None:
    parser = verbs.add_parser("history", help="list its runs, newest first", description=_TIME)
    add_job(parser)
    parser.add_argument(
        "--status", help="only those that are executed, failed, skipped, cancelled, pending or processing"
    )
    _add_window(parser, "only those whose nominal time is later", _TO)
    _add_page(parser)
    add_connection(parser)
    parser.set_defaults(run=list_runs)


def _add_window(parser: argparse.ArgumentParser, start: str, end: str) -> None:
    parser.add_argument("--from", dest="start", metavar="TIME", type=moment, help=start)
    parser.add_argument("--until", metavar="TIME", type=moment, help=end)
    parser.add_argument("--to", dest="until", type=moment, help=argparse.SUPPRESS)  # an old name, not listed


def _add_page(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="how many, 1 to 100 (default: 20)")
    parser.add_argument("--cursor", help="where the page before this one ended")


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of jobs."""
    query = {"limit": str(arguments.limit), "cursor": arguments.cursor, "runs": "1"}
    page = client_of(arguments).ask("GET", JOBS, query=query)
    if arguments.json:
        print_json(page)
        return 0
    print(listed(page["items"], SystemClock().now()) if page["items"] else "no jobs")
    if page["next_cursor"]:
        given = {"--limit": arguments.limit, "--cursor": page["next_cursor"]}
        print(f"more: duetime jobs list {pasted(arguments, given)}")
    return 0


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
        print(f"account for its times: duetime jobs show {job['name']} --from TIME --until TIME")
        return 0
    print(accounts(found["items"]) if found["items"] else "no time of it lies in that window")
    if found["next_from"]:
        given = {"--from": found["next_from"], "--until": arguments.until}
        print(f"more: duetime jobs show {job['name']} {pasted(arguments, given)}")
    return 0


def list_runs(arguments: argparse.Namespace) -> int:
    """List runs of one job."""
    found = _runs(client_of(arguments), arguments)
    if arguments.json:
        print_json(found)
        return 0
    print(history(found["items"], SystemClock().now()) if found["items"] else "no runs")
    if found["next_cursor"]:
        given = {
            "--status": arguments.status,
            "--from": arguments.start,
            "--until": arguments.until,
            "--limit": arguments.limit,
            "--cursor": found["next_cursor"],
        }
        print(f"more: duetime jobs history {arguments.name} {pasted(arguments, given)}")
    return 0


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
