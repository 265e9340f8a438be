"""The commands of jobs with work of their own: show, history, trigger, register, versions, backfills."""

from __future__ import annotations

import argparse
from typing import Any

from duetime._english import counted
from duetime.cli.actions import watch_or_print
from duetime.cli.arguments import fields_of, moment, payload_of
from duetime.cli.client import Client, client_of
from duetime.cli.failures import BadUsage
from duetime.cli.job_text import (
    DEFINITIONS,
    HISTORY,
    OCCURRENCES,
    definition,
    draft,
    in_full,
    previewed,
    words,
)
from duetime.cli.output import more, print_content, print_either, print_made, print_page
from duetime.cli.times import local
from duetime.clock import SystemClock

# The number of pages read for one list: a filtered page may be short or empty.
_MOST_PAGES = 20
_FIELDS = (
    *("type", payload_of, "cadences", "overlap", "catch_up", "precision", "title", "category", "description"),
    *("failure_threshold", "deadline", "within", "every_success_within", "after", "after_timeout"),
    *("idempotency_key", "idempotency_ttl"),
)


def show(arguments: argparse.Namespace) -> int:
    """Show one job in full, and the status of its occurrences if requested."""
    client, now = client_of(arguments), SystemClock().now()
    job, found = client.ask("GET", "jobs", arguments.name), None
    if query := fields_of(arguments, ("from", "until")):
        found = client.ask("GET", "jobs", arguments.name, "occurrences", query=query)
    lines = [in_full(job, now), ""]
    if found is None:
        lines.append(f"list its occurrences: duetime jobs show {job['name']} --from -24h --until 24h")
        return print_either(arguments, job, lambda: "\n".join(lines))
    lines.append(OCCURRENCES(found, now))
    if found["next_from"]:
        lines.append(more(arguments, {"from": found["next_from"], "until": arguments.until}))
    return print_either(arguments, {**job, "occurrences": found}, lambda: "\n".join(lines))


def history(arguments: argparse.Namespace) -> int:
    """List runs of one job: as many as requested, from several pages if a filter makes them short."""
    filters = fields_of(arguments, ("status", "from", "until"))
    usual = {} if arguments.status else {"until": moment("0s")}
    client, items, cursor = client_of(arguments), list[Any](), arguments.cursor
    for _ in range(_MOST_PAGES):
        query = {**usual, **filters, "limit": str(arguments.limit - len(items)), "cursor": cursor}
        page = client.ask("GET", "jobs", arguments.name, "runs", query=query)
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None or len(items) >= arguments.limit:
            break
    found = {"items": items, "next_cursor": cursor}
    return print_page(arguments, found, HISTORY, empty="no runs", filters=filters)


def trigger(arguments: argparse.Namespace) -> int:
    """Run one job now."""
    client = client_of(arguments)
    run = client.ask("POST", "jobs", arguments.name, "trigger", body=payload_of(arguments))
    return watch_or_print(arguments, client, run, f"triggered {arguments.name}: {run['id']}")


def register(arguments: argparse.Namespace) -> int:
    """Register a job and print its next run; with ``--dry-run`` return 1 if it would be rejected."""
    client, name, body = client_of(arguments), arguments.name, fields_of(arguments, _FIELDS)
    if retry := fields_of(arguments, ("attempts", "backoff", "jitter", "give_up_after")):
        body["retry"] = retry
    if arguments.dry_run:
        if arguments.trigger:
            raise BadUsage("--dry-run registers nothing, so nothing runs; leave out --trigger, or --dry-run")
        sent = {**body, "name": name, "replace": arguments.replace}
        found = client.ask("POST", "jobs", "draft", body=sent)
        return print_content(arguments, found, draft) or int(bool(found["problems"]))
    if arguments.replace:
        job = client.ask("PUT", "jobs", name, body=body)
    else:
        job = client.ask("POST", "jobs", body={**body, "name": name, "trigger": arguments.trigger})
    next_run = local(job["next_due_at"], SystemClock().now())
    lines = [f"registered {job['name']}: {words(job)}; next run {next_run}"]
    if job["run_id"]:
        lines.append(f"triggered {job['run_id']}")
    return print_made(arguments, job, lines, "jobs", "show", job["name"])


def versions(arguments: argparse.Namespace) -> int:
    """List the definitions of one job, or show one."""
    client, path = client_of(arguments), ("jobs", arguments.name, "definitions")
    if arguments.id is not None:
        query = {"against": arguments.against}
        one = client.ask("GET", *path, arguments.id, query=query)
        return print_content(arguments, one, definition)
    if arguments.against is not None:
        raise BadUsage(f"--against compares one definition; use `jobs versions {arguments.name} ID`")
    return print_content(arguments, client.ask("GET", *path), DEFINITIONS)


def roll_back(arguments: argparse.Namespace) -> int:
    """Roll one job back, unless it changes after this command has read it."""
    client, body = client_of(arguments), {"definition": arguments.id}
    etag = client.answer("GET", "jobs", arguments.name).etag
    job = client.ask("POST", "jobs", arguments.name, "roll-back", body=body, etag=etag)
    line = f"rolled back {job['name']} to {arguments.id}: {words(job)}; version {job['version']}"
    return print_made(arguments, job, [line], "jobs", "show", job["name"])


def backfill(arguments: argparse.Namespace) -> int:
    """Begin a backfill, or with ``--dry-run`` print what it would run."""
    client, path = client_of(arguments), ("jobs", arguments.name, "backfills")
    span = {"until": moment("0s"), **fields_of(arguments, ("from", "until"))}
    if arguments.dry_run:
        query = {**span, "again": "true" if arguments.again else None}
        return print_content(arguments, client.ask("GET", *path, "preview", query=query), previewed)
    body = {**span, **fields_of(arguments, ("at_once", "order", "again"))}
    begun = client.ask("POST", *path, body=body)
    times = counted(begun["total"], "nominal time", ",")
    line = f"began backfill {begun['id']}: {times} of {arguments.name}"
    return print_made(arguments, begun, [line], "jobs", "backfills", arguments.name)


def pause_backfill(arguments: argparse.Namespace) -> int:
    """Pause one backfill."""
    return _change(arguments, "pause", "paused")


def resume_backfill(arguments: argparse.Namespace) -> int:
    """Resume one backfill."""
    return _change(arguments, "resume", "resumed")


def cancel_backfill(arguments: argparse.Namespace) -> int:
    """Cancel one backfill."""
    return _change(arguments, "cancel", "cancelled")


def _change(arguments: argparse.Namespace, verb: str, done: str) -> int:
    client, path = client_of(arguments), ("jobs", arguments.name, "backfills")
    changed = client.ask("POST", *path, arguments.id or _only(client, arguments.name), verb)
    still_open = len(changed["open"])
    rest = f"; {still_open} of its runs have not ended" if still_open else ""
    return print_content(arguments, changed, lambda *_: f"{done} backfill {changed['id']}{rest}")


def _only(client: Client, name: str) -> str:
    """Return the id of the job's only unfinished backfill."""
    found = client.ask("GET", "jobs", name, "backfills")["items"]
    unfinished = [one["id"] for one in found if one["ended_at"] is None]
    if len(unfinished) != 1:
        there = (
            f"the unfinished backfills {', '.join(unfinished)}" if unfinished else "no unfinished backfill"
        )
        raise BadUsage(f"{name} has {there}: name one, as `duetime jobs backfills {name}` lists them")
    return str(unfinished[0])
