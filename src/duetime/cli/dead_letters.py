"""``duetime dead-letters``: groups dead letters by their error, and dismisses some with a reason."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from duetime._english import counted
from duetime.cli.arguments import client_of
from duetime.cli.client import Client, Json
from duetime.cli.filters import Filters, filters_of
from duetime.cli.many import BulkVerb, change
from duetime.cli.output import pasted, print_json
from duetime.cli.pager import print_long
from duetime.cli.progress import ProgressBar
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.clock import SystemClock
from duetime.errors import truncate
from duetime.model.error_pattern import error_pattern

PATH = "dead-letters"
"""The API's path of dead letters."""

MOST_PAGES = 20
"""The number of pages that one grouping reads."""

_PAGE = 100
_LONGEST_ERROR = 100


def failed_at(action: Json) -> str:
    """Return when the action failed, as ISO 8601."""
    last = action["attempts"][-1] if action["attempts"] else {}
    return str(last.get("finished_at") or action["due_at"])


def list_groups(arguments: argparse.Namespace) -> int:
    """Print the dead letters by error, the largest group first."""
    filters = filters_of(arguments)
    pages = []
    with ProgressBar("read dead letters", MOST_PAGES) as bar:
        for page in _pages(client_of(arguments), filters, arguments.cursor):
            pages.append(page)
            bar.done(len(pages))
    rows = [action for page in pages for action in page["items"]]
    groups, cursor = grouped(rows), pages[-1]["next_cursor"]
    if arguments.json:
        print_json({"groups": groups, "dead_letters": len(rows), "pages": len(pages), "next_cursor": cursor})
        return 0
    if not rows and cursor is None:
        print("no dead letters")
        return 0
    now = SystemClock().now()
    more = "there are no more"
    if cursor is not None:
        given = {f"--{name.replace('_', '-')}": value for name, value in filters.items()}
        options = pasted(arguments, {**given, "--group-by": "error", "--cursor": cursor})
        more = f"more may exist: duetime dead-letters list {options}"
    counts = f"{counted(len(rows), 'dead letter')} read, on {counted(len(pages), 'page')}"
    print_long("\n\n".join([*([_drawn(groups, now)] if groups else []), f"{counts}; {more}"]))
    return 0


def _pages(client: Client, filters: Filters, cursor: str | None) -> Iterator[Json]:
    for _ in range(MOST_PAGES):
        page = client.ask("GET", PATH, query={**filters, "limit": str(_PAGE), "cursor": cursor})
        yield page
        if (cursor := page["next_cursor"]) is None:
            return


def grouped(actions: Sequence[Json]) -> list[dict[str, Any]]:
    """Return the groups of actions with one type and one error, with the latest as the example."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for action in actions:
        key = action["job"] or action["type"], error_pattern(action["failure_reason"] or "")
        groups.setdefault(key, []).append(action)
    found = [
        {
            "error": error,
            "type_or_job": name,
            "count": len(members),
            "first_at": min(map(failed_at, members)),
            "last_at": max(map(failed_at, members)),
            "example": max(members, key=failed_at)["id"],
        }
        for (name, error), members in groups.items()
    ]
    return sorted(found, key=lambda group: (group["count"], group["last_at"]), reverse=True)


def _drawn(groups: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            str(group["count"]),
            group["type_or_job"],
            both(group["first_at"], now),
            both(group["last_at"], now),
            group["example"],
            truncate(group["error"] or "-", _LONGEST_ERROR),
        ]
        for group in groups
    ]
    return table(["COUNT", "TYPE OR JOB", "FIRST", "LAST", "EXAMPLE", "ERROR"], rows)


def dismiss(arguments: argparse.Namespace) -> int:
    """Remove some dead letters from the list. They stay failed."""
    body = {"reason": arguments.reason}

    def dismiss_one(client: Client, action_id: str) -> Json:
        return client.ask("POST", "actions", action_id, "dismiss", body=body)

    return change(arguments, BulkVerb("dismiss", "dismissed", dismiss_one, _dismissed), {})


def _dismissed(action: Json, _now: datetime) -> str:
    return f"dismissed {action['id']}: {plain(action['dismissed_reason'])}"
