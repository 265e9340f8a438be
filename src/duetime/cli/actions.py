"""The commands of actions and jobs with work of their own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from typing import Any

from duetime._english import counted
from duetime.cli import views
from duetime.cli.arguments import fields_of, filters_of, moment, payload_of
from duetime.cli.client import Client, Json, client_of
from duetime.cli.commands import scope_of
from duetime.cli.failures import BadUsage
from duetime.cli.many import watch
from duetime.cli.output import (
    Listing,
    Operation,
    ProgressBar,
    more,
    print_content,
    print_either,
    print_made,
    print_page,
    redraw,
)
from duetime.cli.tables import local, worded
from duetime.clock import SystemClock
from duetime.errors import OperationFailed
from duetime.model.error_pattern import error_pattern

MOST_PAGES = 20
"""The number of pages that one grouping reads, and one history: a filtered page may be short or empty."""

# The status for a new action; a repeat returns the first action of its idempotency key.
_CREATED = 201


def schedule(arguments: argparse.Namespace) -> int:
    """Schedule an action and print its id; with ``--watch`` wait for it."""
    client = client_of(arguments)
    given = {**vars(arguments), **payload_of(arguments)}
    if arguments.at is None and given["in"] is None:
        given["in"] = 0
    status, action, _ = client.call("scheduleAction", given)
    if status == _CREATED:
        form = "scheduled {id}, due {due_at:when}"
        if action["is_held"]:
            form = "scheduled {id}, held until {after} has ended"
    elif action["coalesced"]:
        form = f"changed {{id}}, due {{due_at:when}} (call {action['coalesced'] + 1} of its debounce key)"
    else:
        form = "already scheduled (as {id}, {status}), due {due_at:when}"
    return _print_or_watch(arguments, client, action, worded(form, action, SystemClock().now()))


def trigger(arguments: argparse.Namespace) -> int:
    """Run one job now."""
    client = client_of(arguments)
    run = client.call("triggerJob", {"name": arguments.name, **payload_of(arguments)}).body
    return _print_or_watch(arguments, client, run, f"triggered {arguments.name}: {run['id']}")


def _print_or_watch(arguments: argparse.Namespace, client: Client, action: Json, line: str) -> int:
    if not arguments.watch:
        return print_made(arguments, action, [line], "actions", "show", action["id"])
    if not arguments.json:
        print(line)
    return watch(client, action, SystemClock(), as_json=arguments.json)


def show(arguments: argparse.Namespace) -> int:
    """Show one action in full, with the traceback of an attempt, or of its last one if that failed."""
    client = client_of(arguments)
    action = client.call("getAction", vars(arguments)).body
    last = action["attempts"][-1] if action["attempts"] else {"outcome": None}
    if arguments.attempt or (not arguments.json and last["outcome"] in {"failed", "retry"}):
        number = arguments.attempt or last["number"]
        found = client.call("listTracebacks", vars(arguments)).body["items"]
        action = {**action, "tracebacks": [one for one in found if one["number"] == number]}
    return print_content(arguments, action, views.ACTION)


def resume(arguments: argparse.Namespace) -> int:
    """End all pauses with one scope and name, or the one with an id; with ``--of`` only those of a tenant."""
    pause_id, of = arguments.id, arguments.of_tenant
    chosen = {"id": pause_id} if pause_id else scope_of(arguments)
    chosen |= {"tenant": of} if of else {}
    client = client_of(arguments)
    found = [
        item
        for item in client.call("listPauses").body["items"]
        if item["ended_at"] is None and chosen.items() <= item.items()
    ]
    if not found:
        raise OperationFailed("no such pause is in force; `duetime pauses` lists them")
    ended = {"items": [client.call("resumeWork", item).body for item in found]}
    return print_content(arguments, ended, views.resumed)


def list_failed(arguments: argparse.Namespace) -> int:
    """List a page of failed actions, or their groups by error, the largest first."""
    if not arguments.group_by:
        return Listing("listDeadLetters", views.DEAD_LETTERS)(arguments)
    filters, pages = filters_of(arguments), list[Json]()
    given = {**filters, "limit": 100, "cursor": arguments.cursor}
    with ProgressBar("read dead letters", MOST_PAGES) as bar:
        for page in islice(client_of(arguments).pages("listDeadLetters", given), MOST_PAGES):
            pages.append(page)
            bar.done(len(pages))
    rows = [action for page in pages for action in page["items"]]
    groups, cursor = grouped(rows), pages[-1]["next_cursor"]
    rest = "there are no more"
    if cursor is not None:
        rest = more(arguments, {**filters, "group_by": "error", "cursor": cursor}, "more may exist")
    counts = f"{counted(len(rows), 'dead letter')} read, on {counted(len(pages), 'page')}; {rest}"
    text = "\n\n".join([*([views.GROUPS(groups, SystemClock().now())] if groups else []), counts])
    if not rows and cursor is None:
        text = views.DEAD_LETTERS.empty
    content = {"groups": groups, "dead_letters": len(rows), "pages": len(pages), "next_cursor": cursor}
    return print_either(arguments, content, lambda: text, is_long=True)


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
            "first_at": min(map(views.failed_at, members)),
            "last_at": max(map(views.failed_at, members)),
            "example": max(members, key=views.failed_at)["id"],
        }
        for (name, error), members in groups.items()
    ]
    return sorted(found, key=lambda group: (group["count"], group["last_at"]), reverse=True)


def limits(arguments: argparse.Namespace) -> int:
    """List the rate limits, or set or reset the one of a type."""
    if arguments.type is None:
        return Operation("listLimits", views.LIMITS)(arguments)
    if arguments.count is None:
        raise BadUsage(f"give the limit of {arguments.type}, as in 100 --per minute, or reset")
    of_type = ({"name": arguments.type},)
    if arguments.count == "reset":
        return Operation("resetLimit", views.limit_reset, of_type)(arguments)
    return Operation("setLimit", views.limit_set, of_type)(arguments)


def grants(arguments: argparse.Namespace) -> int:
    """List what was granted at run time, or grant to a role in place of what was granted before."""
    if arguments.role is None:
        return Operation("listGrants", views.GRANTS)(arguments)
    if not arguments.permissions:
        raise BadUsage(f"give the permissions of {arguments.role}, or none to revoke all")
    if arguments.permissions == ["none"]:
        revoked = "revoked what was granted to {role}; its settings stay as they are"
        return Operation("revokeFromRole", revoked, then="")(arguments)
    granted = "granted {role}: {permissions}; it holds within ten seconds"
    return Operation("grantToRole", granted)(arguments)


# Jobs.


def show_job(arguments: argparse.Namespace) -> int:
    """Show one job in full, and the status of its occurrences if requested."""
    client, now = client_of(arguments), SystemClock().now()
    job = client.call("getJob", vars(arguments)).body
    lines = [views.JOB(job, now), ""]
    if not fields_of(arguments, ("from", "until")):
        lines.append(f"list its occurrences: duetime jobs show {job['name']} --from -24h --until 24h")
        return print_either(arguments, job, lambda: "\n".join(lines))
    found = client.call("explainJob", vars(arguments)).body
    lines.append(views.OCCURRENCES(found, now))
    if found["next_from"]:
        lines.append(more(arguments, {"from": found["next_from"], "until": arguments.until}))
    return print_either(arguments, {**job, "occurrences": found}, lambda: "\n".join(lines))


def history(arguments: argparse.Namespace) -> int:
    """List runs of one job: as many as requested, from several pages if a filter makes them short."""
    filters, items = fields_of(arguments, ("status", "from", "until")), list[Any]()
    usual = {} if arguments.status else {"until": moment("0s")}
    given = {"name": arguments.name, "cursor": arguments.cursor, **usual, **filters}
    client = client_of(arguments)
    for _ in range(MOST_PAGES):
        page = client.call("listJobRuns", {**given, "limit": arguments.limit - len(items)}).body
        items += page["items"]
        given["cursor"] = page["next_cursor"]
        if given["cursor"] is None or len(items) >= arguments.limit:
            break
    found = {"items": items, "next_cursor": given["cursor"]}
    return print_page(arguments, found, views.HISTORY, filters)


def register(arguments: argparse.Namespace) -> int:
    """Register a job and print its next run; with ``--dry-run`` return 1 if it would be rejected."""
    client, more_fields = client_of(arguments), dict(arguments.given)
    given_up = {"give_up_after": more_fields.pop("give_up_after")} if "give_up_after" in more_fields else {}
    given = {**vars(arguments), **payload_of(arguments), **more_fields}
    retry = {**fields_of(arguments, ("attempts", "backoff", "jitter")), **given_up}
    given["retry"] = retry or None
    if arguments.dry_run:
        if arguments.trigger:
            raise BadUsage("--dry-run registers nothing, so nothing runs; leave out --trigger, or --dry-run")
        found = client.call("draftJob", given).body
        return print_content(arguments, found, views.draft) or int(bool(found["problems"]))
    job = client.call("replaceJob" if arguments.replace else "registerJob", given).body
    next_run = local(job["next_due_at"], SystemClock().now())
    lines = [f"registered {job['name']}: {views.words(job)}; next run {next_run}"]
    if job["run_id"]:
        lines.append(f"triggered {job['run_id']}")
    return print_made(arguments, job, lines, "jobs", "show", job["name"])


def versions(arguments: argparse.Namespace) -> int:
    """List the definitions of one job, show one, or roll the job back, unless it changes after it is read."""
    client, given = client_of(arguments), {**vars(arguments), "definition": arguments.id}
    if arguments.verb is not None:
        job = client.call("rollBackJob", given, etag=client.call("getJob", given).etag).body
        line = f"rolled back {job['name']} to {arguments.id}: {views.words(job)}; version {job['version']}"
        return print_made(arguments, job, [line], "jobs", "show", job["name"])
    if arguments.id is not None:
        return print_content(arguments, client.call("getJobDefinition", given).body, views.DEFINITION)
    if arguments.against is not None:
        raise BadUsage(f"--against compares one definition; use `jobs versions {arguments.name} ID`")
    return print_content(arguments, client.call("listJobDefinitions", given).body, views.DEFINITIONS)


def backfill(arguments: argparse.Namespace) -> int:
    """Begin a backfill, or print what it would run; list a job's backfills, or change one."""
    if arguments.verb is not None:
        return _change_backfill(arguments)
    if not (vars(arguments)["from"] or arguments.until or arguments.dry_run):
        listing = Operation("listBackfills", views.BACKFILLS)
        return redraw(listing, arguments) if arguments.watch else listing(arguments)
    client, given = client_of(arguments), {**vars(arguments), "until": arguments.until or moment("0s")}
    if arguments.dry_run:
        preview = client.call("previewBackfill", {**given, "again": arguments.again or None}).body
        return print_content(arguments, preview, views.previewed)
    begun = client.call("backfillJob", given).body
    times = counted(begun["total"], "nominal time", ",")
    line = f"began backfill {begun['id']}: {times} of {arguments.name}"
    return print_made(arguments, begun, [line], "jobs", "backfill", arguments.name)


def _change_backfill(arguments: argparse.Namespace) -> int:
    """Pause, resume or cancel a backfill; without an id, the only unfinished one."""
    state = {"pause": "paused", "resume": "running", "cancel": "cancelled"}[arguments.verb]
    client, given = client_of(arguments), {"name": arguments.name, "id": arguments.id, "state": state}
    if arguments.id is None:
        found = client.call("listBackfills", given).body["items"]
        unfinished = [one["id"] for one in found if one["ended_at"] is None]
        if len(unfinished) != 1:
            some = f"the unfinished backfills {', '.join(unfinished)}"
            raise BadUsage(
                f"{arguments.name} has {some if unfinished else 'no unfinished backfill'}: name one,"
                f" as `duetime jobs backfill {arguments.name}` lists them"
            )
        given["id"] = unfinished[0]
    changed = client.call("changeBackfill", given).body
    rest = f"; {len(changed['open'])} of its runs have not ended" if changed["open"] else ""
    done = {"running": "resumed"}.get(state, state)
    return print_content(arguments, changed, lambda *_: f"{done} backfill {changed['id']}{rest}")
