"""Changes of many: actions, members of a batch, undelivered inputs and notifications.

Actions are changed by their ids, or after a confirmation all that match filters.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from duetime._english import counted
from duetime.cli.arguments import NONE, Filters, filters_of
from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage, RequestRejected
from duetime.cli.output import print_content, print_json, text_of
from duetime.cli.tables import plain
from duetime.cli.terminal import ProgressBar, check_terminal, confirmed
from duetime.cli.views import ACTIONS, batch, preferences
from duetime.cli.watch import all_executed, completed, ends, follow, redriven
from duetime.clock import SystemClock

FIRST = 10
"""The number of actions that are shown before the change."""

# The number of rows that one API call changes.
_STEP = 100


class BulkVerb(NamedTuple):
    """A change: its name, its past tense, its operations for one and for many, and a line for the result."""

    name: str
    done: str
    one: str
    many: str
    text: str


_STOPPED = "requested {id} to stop: it is running, and ends when its handler checks"
_CANCEL = BulkVerb("cancel", "cancelled", "cancelAction", "cancelActions", "cancelled {id}")
REDRIVE = BulkVerb(
    "redrive", "redriven", "redriveAction", "redriveActions", "redriven {id}, due {due_at:when}"
)
_DISMISS = BulkVerb("dismiss", "dismissed", "dismissAction", "", "dismissed {id}: {dismissed_reason}")
_CANCEL_BATCH = BulkVerb("cancel", "cancelled or requested to stop", "", "cancelBatch", "")
_REDRIVE_BATCH = BulkVerb("redrive", "redriven", "", "redriveBatch", "")


def cancel(arguments: argparse.Namespace) -> int:
    """Cancel actions, or request them to stop."""
    return change(arguments, _CANCEL, filters_of(arguments))


def dismiss(arguments: argparse.Namespace) -> int:
    """Remove some dead letters from the list. They stay failed."""
    arguments.dry_run = False
    return change(arguments, _DISMISS, {})


def cancel_batch(arguments: argparse.Namespace) -> int:
    """Cancel the members of one batch."""
    return _change_members(arguments, _CANCEL_BATCH)


def redrive_batch(arguments: argparse.Namespace) -> int:
    """Run the failed members of one batch again, and with ``--watch`` wait until it is complete."""
    if not arguments.watch:
        return _change_members(arguments, _REDRIVE_BATCH)
    _check_watch(arguments)
    client, name = client_of(arguments), arguments.name
    if client.call("getBatch", {"name": name}).body["state"] == "open":
        raise BadUsage(f"{name} is open, so it is not complete before it is closed: leave out --watch")
    status = _change_members(arguments, _REDRIVE_BATCH, prints_json=False)
    found = completed(client, name, SystemClock())
    print_content(arguments, found, batch)
    return status or int(found["executed"] < found["size"])


def _check_watch(arguments: argparse.Namespace) -> None:
    if arguments.dry_run and getattr(arguments, "watch", False):
        raise BadUsage("--dry-run changes nothing, so there is nothing to --watch")


def _change_members(arguments: argparse.Namespace, verb: BulkVerb, *, prints_json: bool = True) -> int:
    if not (arguments.yes or arguments.dry_run):
        raise BadUsage(f"{verb.name} changes all members that it can: look with --dry-run, then use --yes")
    given = {"name": arguments.name, "dry_run": arguments.dry_run}
    document = _in_steps(client_of(arguments), verb, given, is_quiet=True)
    if arguments.json and prints_json:
        print_json(document)
    elif not arguments.json:
        done = f"would {verb.name}" if arguments.dry_run else verb.done
        print(f"{done} {counted(len(document['changed']), 'member')} of {arguments.name}")
        for action in document["left"]:
            print(f"left {action['id']}: {plain(action['reason'])}", file=sys.stderr)
    return 1 if document["left"] else 0


def _in_steps(client: Client, verb: BulkVerb, given: Json, *, is_quiet: bool) -> dict[str, Any]:
    """Make a change of many, and return what was changed and left, as the API's JSON."""
    changed, left = list[Json](), list[Json]()
    with ProgressBar(verb.name) as bar:
        for step in client.pages(verb.many, {**given, "limit": _STEP}):
            changed += step["changed"]
            left += step["left"]
            bar.done(len(changed))
            if step["next_cursor"] and not is_quiet:
                bar.note(f"{verb.done} {len(changed)} so far")
    return _document(changed, left, dry_run=given["dry_run"])


def _document(
    changed: Sequence[Json] = (), left: Sequence[Json] = (), *, dry_run: bool = False
) -> dict[str, Any]:
    """Return the changes of many steps, as the API returns those of one."""
    return {"changed": [*changed], "left": [*left], "next_cursor": None, "dry_run": dry_run}


def change(arguments: argparse.Namespace, verb: BulkVerb, filters: Filters) -> int:
    """Change the actions of the given ids, or all that match the filters.

    Raises:
        BadUsage: ids and filters are given, or neither; or there is no terminal for the confirmation.
        CommandFailed: the API failed; some may be changed, and a repeat is safe.
    """
    _check_watch(arguments)
    if arguments.ids and (filters or arguments.dry_run):
        raise BadUsage(f"{verb.name} takes ids or filters, not both; --dry-run goes with filters")
    if not arguments.ids and not filters:
        raise BadUsage(f"choose which to {verb.name}: ids, or filters such as --correlation-id")
    client, is_one = client_of(arguments), len(arguments.ids) == 1
    if arguments.dry_run:
        found, _ = _matching(client, verb, filters)
        return print_content(arguments, found, lambda _, now: _shown(verb, found["changed"], now))
    done = _each(arguments, client, verb) if arguments.ids else _all(arguments, client, verb, filters)
    is_well = not done["left"]
    if getattr(arguments, "watch", False):
        done["changed"] = list(follow(client, done["changed"], SystemClock()))
        is_well = is_well and all_executed(done["changed"])
        if not arguments.json:
            print("\n".join(ends(done["changed"])))
    if arguments.json:
        print_json(done["changed"][0] if is_one else done)
    return 0 if is_well else 1


def _each(arguments: argparse.Namespace, client: Client, verb: BulkVerb) -> dict[str, Any]:
    changed, left = list[Json](), list[Json]()
    for one in arguments.ids:
        try:
            changed.append(client.call(verb.one, {**vars(arguments), "id": one}).body)
        except RequestRejected as refused:
            if len(arguments.ids) == 1:
                raise
            left.append({"id": one, "reason": str(refused)})
            print(f"duetime: {plain(refused)}", file=sys.stderr)
            continue
        if not arguments.json:
            is_asked = verb is _CANCEL and changed[-1]["status"] != "cancelled"
            print(text_of(_STOPPED if is_asked else verb.text, changed[-1]))
    return _document(changed, left)


def _all(arguments: argparse.Namespace, client: Client, verb: BulkVerb, filters: Filters) -> dict[str, Any]:
    done = _document()
    if (chosen := filters if arguments.yes else agreed(client, verb, filters)) is not None:
        done = _in_steps(client, verb, {**chosen, "dry_run": False}, is_quiet=arguments.json)
    if not arguments.json:
        stopping = sum(action["status"] == "processing" for action in done["changed"])
        lines = [f"{verb.done} {counted(len(done['changed']) - stopping, 'action')}"]
        if stopping:
            request = f"requested {counted(stopping, 'action')} to stop"
            lines.append(f"{request}: a running action ends when its handler checks")
        lines += [f"left {action['id']}: {plain(action['reason'])}" for action in done["left"]]
        print("\n".join(lines), flush=True)
    return done


def agreed(client: Client, verb: BulkVerb, filters: Filters) -> Filters | None:
    """Show the actions, and return their filters if the operator confirms; without actions return None.

    The filters have the preview's cut-off: actions that are scheduled after it were not shown.

    Raises:
        BadUsage: there is no terminal.
    """
    check_terminal()
    found, cut_off = _matching(client, verb, filters)
    actions = found["changed"]
    print(_shown(verb, actions, SystemClock().now()), file=sys.stderr)
    if not actions or not confirmed(f"{verb.name} {counted(len(actions), 'action')}"):
        return None
    return filters if cut_off is None else {**filters, "created_until": cut_off}


def _matching(client: Client, verb: BulkVerb, filters: Filters) -> tuple[dict[str, Any], str | None]:
    """Return the actions that match, and until when those were scheduled which were compared."""
    with ProgressBar("look for actions"):
        steps = [*client.pages(verb.many, {**filters, "limit": _STEP, "dry_run": True})]
    found = [action for step in steps for action in step["changed"]]
    return _document(found, dry_run=True), steps[0]["created_until"]


def _shown(verb: BulkVerb, actions: Sequence[Json], now: datetime) -> str:
    if not actions:
        return f"no actions to {verb.name}"
    more = f", the first {FIRST}" if len(actions) > FIRST else ""
    return f"would {verb.name} {counted(len(actions), 'action')}{more}:\n{ACTIONS(actions[:FIRST], now)}"


# Undelivered inputs and notifications. All ids are looked up first: one wrong id changes nothing.


def redrive_undelivered(arguments: argparse.Namespace) -> int:
    """Process some again, or all."""
    if arguments.all == bool(arguments.ids):
        raise BadUsage("give either the ids to redrive, or --all")
    if arguments.ids and (arguments.kind or arguments.limit):
        raise BadUsage("--kind and --limit go with --all")
    _check_watch(arguments)
    client, verb = client_of(arguments), "would redrive" if arguments.dry_run else "requested redrive of"
    if arguments.all:
        done = client.call("redriveManyUndelivered", vars(arguments)).body
    else:
        items = [client.call("getUndelivered", {"id": one}).body for one in arguments.ids]
        if not arguments.dry_run:
            items = [client.call("redriveUndelivered", {"id": one}).body for one in arguments.ids]
        done = {"items": items, "dry_run": arguments.dry_run}
    lines = [f"{verb} {item['id']}: {item['kind']}  from {plain(item['source'])}" for item in done["items"]]
    text = "\n".join(lines) or "nothing to redrive"
    if not arguments.watch:
        return print_content(arguments, done, lambda *_: text)
    return _watch_inputs(arguments, client, done["items"], text)


def _watch_inputs(arguments: argparse.Namespace, client: Client, items: Sequence[Json], text: str) -> int:
    """Wait until each input is gone or came back; return 1 if one came back."""
    if not arguments.json:
        print(text, flush=True)
    gone, back = list[str](), list[Json]()
    for item, latest in redriven(client, items, SystemClock()):
        if latest is None:
            gone.append(item["id"])
        else:
            back.append(latest)
        if not arguments.json:
            result = "gone" if latest is None else f"came back: {plain(latest['reason'])}"
            print(f"{item['id']}  {result}", flush=True)
    if arguments.json:
        print_json({"gone": gone, "came_back": back})
    elif items:
        print(f"{len(gone)} gone, {len(back)} came back")
    return 1 if back else 0


def read(arguments: argparse.Namespace) -> int:
    """Mark some notifications as read, or all."""
    if arguments.all == bool(arguments.ids):
        raise BadUsage("give either the ids of those that were read, or --all")
    if arguments.ids and arguments.kind:
        raise BadUsage("--kind goes with --all")
    client, given = client_of(arguments), {"scope": arguments.scope, "kind": arguments.kind}
    for operation in ("getNotification", "readNotification"):
        for one in arguments.ids:
            client.call(operation, {"scope": arguments.scope, "id": one})
    steps = client.pages("readNotifications", given) if arguments.all else ()
    count = len(arguments.ids) + sum(step["read"] for step in steps)
    text = f"marked {count} as read" if count else "nothing was unread"
    return print_content(arguments, {"read": count}, lambda *_: text)


def choose(arguments: argparse.Namespace) -> int:
    """Change the recipients, the channels and the language of notifications."""
    given = {
        "language": arguments.language,
        "addresses": _addresses(arguments.email),
        "admin_addresses": _addresses(arguments.admin_email),
        "channels": dict(arguments.channel) if arguments.channel else None,
    }
    if all(value is None for value in given.values()):
        raise BadUsage("nothing to set; give --language, --email, --admin-email or --channel")
    chosen = client_of(arguments).call("setNotificationPreferences", {"scope": arguments.scope, **given})
    return print_content(arguments, chosen.body, preferences)


def _addresses(values: list[str] | None) -> list[str] | None:
    if values is None or NONE not in values:
        return values
    if len(values) > 1:
        raise BadUsage(f"{NONE!r} removes all; leave it out, or the addresses beside it")
    return []
