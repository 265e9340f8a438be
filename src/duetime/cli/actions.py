"""The commands of actions with work of their own: schedule, show, cancel, redrive, dismiss, end a pause."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from duetime._english import counted
from duetime.cli.action_text import in_full, printable
from duetime.cli.arguments import FILTERS, due_time_of, fields_of, filters_of, payload_of
from duetime.cli.client import Client, Json, client_of
from duetime.cli.commands import scope_of
from duetime.cli.failures import BadUsage, CommandFailed
from duetime.cli.many import BulkVerb, change
from duetime.cli.output import Listing, more, print_content, print_json, print_made
from duetime.cli.staged import redrive_staged
from duetime.cli.tables import Table, plain, when
from duetime.cli.terminal import ProgressBar, print_long
from duetime.cli.texts import subject
from duetime.cli.times import both
from duetime.cli.watch import watch
from duetime.clock import SystemClock
from duetime.errors import truncate
from duetime.model.error_pattern import error_pattern

MOST_PAGES = 20
"""The number of pages that one grouping reads."""

_LONGEST = 100
"""Characters of an error in a list; `duetime actions show` prints all."""

# The status for a new action; a repeat returns the first action of its idempotency key.
_CREATED = 201

# Fields of a new action that are sent if they are given.
_OPTIONS = (
    *("correlation_id", "idempotency_key", "idempotency_ttl", "concurrency_key", "concurrency_limit"),
    *("after", "after_any_end", "after_failure", "debounce_key", "at_most_after", "rate_key", "priority"),
)


def schedule(arguments: argparse.Namespace) -> int:
    """Schedule an action and print its id; with ``--watch`` wait for it."""
    order = fields_of(arguments, ("type", payload_of, due_time_of, *_OPTIONS))
    client = client_of(arguments)
    status, action, _ = client.answer("POST", "actions", body=order)
    due = both(action["due_at"], SystemClock().now())
    if status == _CREATED:
        then = f"held until {action['after']} has ended" if action["is_held"] else f"due {due}"
        line = f"scheduled {action['id']}, {then}"
    elif action["debounce_key"]:
        line = f"changed {action['id']}, due {due} (call {action['coalesced'] + 1} of its debounce key)"
    else:
        line = f"already scheduled (as {action['id']}, {action['status']}), due {due}"
    return watch_or_print(arguments, client, action, line)


def watch_or_print(arguments: argparse.Namespace, client: Client, action: Json, line: str) -> int:
    """Print a line about a new action, and wait for it with ``--watch``."""
    if not arguments.watch:
        return print_made(arguments, action, [line], "actions", "show", action["id"])
    if not arguments.json:
        print(line)
    return watch(client, action, SystemClock(), as_json=arguments.json)


def show(arguments: argparse.Namespace) -> int:
    """Show one action in full, with the traceback of its last attempt."""
    client = client_of(arguments)
    action = client.ask("GET", "actions", arguments.id)
    below = "" if arguments.json else _latest_traceback(client, action)
    return print_content(arguments, action, lambda row, now: f"{in_full(row, now)}{below}")


def _latest_traceback(client: Client, action: Json) -> str:
    """Return the traceback of the action's last attempt if that failed, as text below the action."""
    runs = action["attempts"]
    if not runs or runs[-1]["outcome"] not in {"failed", "retry"}:
        return ""
    items = client.ask("GET", "actions", action["id"], "tracebacks")["items"]
    texts = [one["text"] for one in items if one["started_at"] == runs[-1]["started_at"]]
    return f"\n\n{printable(texts[0])}" if texts else ""


def cancel(arguments: argparse.Namespace) -> int:
    """Cancel actions, or request them to stop."""
    return change(arguments, _CANCEL, filters_of(arguments))


def redrive(arguments: argparse.Namespace) -> int:
    """Run failed actions again, with ``--all`` every dead letter."""
    everything = {"status": "failed"} if getattr(arguments, "all", False) else {}
    filters = filters_of(arguments) or everything
    if arguments.staged:
        return redrive_staged(arguments, _REDRIVE, filters)
    if arguments.stage_wait is not None:
        raise BadUsage("--stage-wait goes with --staged")
    return change(arguments, _REDRIVE, filters)


def dismiss(arguments: argparse.Namespace) -> int:
    """Remove some dead letters from the list. They stay failed."""
    body, arguments.dry_run = {"reason": arguments.reason}, False
    verb = BulkVerb(
        "dismiss",
        "dismissed",
        lambda client, one: client.ask("POST", "actions", one, "dismiss", body=body),
        lambda action, _: f"dismissed {action['id']}: {plain(action['dismissed_reason'])}",
    )
    return change(arguments, verb, {})


def _cancelled(action: Json, _now: datetime) -> str:
    if action["status"] == "cancelled":
        return f"cancelled {action['id']}"
    return f"requested {action['id']} to stop: it is running, and ends when its handler checks"


_CANCEL = BulkVerb(
    "cancel", "cancelled", lambda client, one: client.ask("DELETE", "actions", one), _cancelled
)
_REDRIVE = BulkVerb(
    "redrive",
    "redriven",
    lambda client, one: client.ask("POST", "actions", one, "redrive"),
    lambda action, now: f"redriven {action['id']}, due {both(action['due_at'], now)}",
)


def resume(arguments: argparse.Namespace) -> int:
    """End all pauses with one scope and name, or the one with an id."""
    return _end_pauses(arguments, scope_of(arguments), arguments.id)


def resume_tenant(arguments: argparse.Namespace) -> int:
    """End all pauses of one tenant."""
    return _end_pauses(arguments, {"scope": "tenant", "name": arguments.name})


def _end_pauses(arguments: argparse.Namespace, scope: Mapping[str, Any], pause_id: str | None = None) -> int:
    client = client_of(arguments)
    ids = [
        item["id"]
        for item in client.ask("GET", "pauses")["items"]
        if item["ended_at"] is None
        and (item["id"] == pause_id or {"scope": item["scope"], "name": item["name"]} == scope)
    ]
    if not ids:
        raise CommandFailed("no such pause is in force; `duetime pauses` lists them")
    ended = {"items": [client.ask("DELETE", "pauses", one) for one in ids]}

    def describe(pauses: Json, now: datetime) -> str:
        return "\n".join(
            f"resumed {subject(item)}; what waits begins until {both(item['over_at'], now)}"
            for item in pauses["items"]
        )

    return print_content(arguments, ended, describe)


def list_failed(arguments: argparse.Namespace) -> int:
    """List a page of failed actions, or their groups."""
    if arguments.group_by:
        return _list_groups(arguments)
    return Listing("dead-letters", _DEAD_LETTERS, "no dead letters", FILTERS)(arguments)


def _failed_at(action: Json) -> str:
    """Return when the action failed, as ISO 8601."""
    last = action["attempts"][-1] if action["attempts"] else {}
    return str(last.get("finished_at") or action["due_at"])


_DEAD_LETTERS = Table(
    {
        "ID": "id",
        "FAILED": lambda action, now: both(_failed_at(action), now),
        "TYPE OR JOB": lambda action, _: action["job"] or action["type"],
        "ATTEMPTS": lambda action, _: action["attempts"][-1]["number"] if action["attempts"] else 0,
        "CORRELATION ID": lambda action, _: action["correlation_id"] or "-",
        "REASON": lambda action, _: truncate(action["failure_reason"] or "-", _LONGEST),
    }
)


def _list_groups(arguments: argparse.Namespace) -> int:
    """Print the dead letters by error, the largest group first."""
    filters, pages = filters_of(arguments), list[Json]()
    query = {**filters, "limit": "100"}
    with ProgressBar("read dead letters", MOST_PAGES) as bar:
        found = client_of(arguments).pages("dead-letters", query=query, cursor=arguments.cursor)
        for page in islice(found, MOST_PAGES):
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
    rest = "there are no more"
    if cursor is not None:
        rest = more(arguments, {**filters, "group_by": "error", "cursor": cursor}, "more may exist")
    counts = f"{counted(len(rows), 'dead letter')} read, on {counted(len(pages), 'page')}; {rest}"
    print_long("\n\n".join([*([_GROUPS(groups, SystemClock().now())] if groups else []), counts]))
    return 0


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
            "first_at": min(map(_failed_at, members)),
            "last_at": max(map(_failed_at, members)),
            "example": max(members, key=_failed_at)["id"],
        }
        for (name, error), members in groups.items()
    ]
    return sorted(found, key=lambda group: (group["count"], group["last_at"]), reverse=True)


_GROUPS = Table(
    {
        "COUNT": "count",
        "TYPE OR JOB": "type_or_job",
        "FIRST": when("first_at"),
        "LAST": when("last_at"),
        "EXAMPLE": "example",
        "ERROR": lambda group, _: truncate(group["error"] or "-", _LONGEST),
    }
)
