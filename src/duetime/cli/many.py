"""Changes of many: actions, members of a batch, undelivered inputs and notifications, and their end.

Actions are changed by their ids, or after a confirmation all that match filters.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from duetime._english import counted
from duetime.cli import output
from duetime.cli.arguments import NONE, Filters, filters_of
from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage, RequestRejected
from duetime.cli.output import (
    Listing,
    Operation,
    ProgressBar,
    check_terminal,
    confirmed,
    last_word,
    print_content,
    print_json,
    redraw,
    text_of,
)
from duetime.cli.tables import plain
from duetime.cli.views import ACTIONS, BATCH, BATCHES, preferences, progress
from duetime.clock import Clock, SystemClock
from duetime.errors import OperationFailed

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
VERBS = {
    "cancel": BulkVerb("cancel", "cancelled", "cancelAction", "cancelActions", "cancelled {id}"),
    "redrive": BulkVerb(
        "redrive", "redriven", "redriveAction", "redriveActions", "redriven {id}, due {due_at:when}"
    ),
    "dismiss": BulkVerb("dismiss", "dismissed", "dismissAction", "", "dismissed {id}: {dismissed_reason}"),
}
_OF_BATCHES = {
    "cancel": BulkVerb("cancel", "cancelled or requested to stop", "", "cancelBatch", ""),
    "redrive": BulkVerb("redrive", "redriven", "", "redriveBatch", ""),
}


def batches(arguments: argparse.Namespace) -> int:
    """List batches, or show, close, cancel or redrive one; with ``--watch`` wait until it is complete."""
    if arguments.verb is None:
        shown = Operation("getBatch", BATCH) if arguments.name else Listing("listBatches", BATCHES)
        return redraw(shown, arguments) if arguments.watch else shown(arguments)
    if arguments.verb == "close":
        return Operation("closeBatch", "closed {name}")(arguments)
    if not arguments.watch:
        return _change_members(arguments)
    _check_watch(arguments)
    client, name = client_of(arguments), arguments.name
    if arguments.verb == "redrive" and client.call("getBatch", {"name": name}).body["state"] == "open":
        raise BadUsage(f"{name} is open, so it is not complete before it is closed: leave out --watch")
    status = _change_members(arguments, prints_json=False)
    found = completed(client, name, SystemClock())
    print_content(arguments, found, BATCH)
    return status or int(found["executed"] < found["size"])


def chosen_by(arguments: argparse.Namespace) -> Filters:
    """Return the filters that were given, and with ``--all`` every dead letter."""
    everything = {"status": "failed"} if getattr(arguments, "all", False) else {}
    return filters_of(arguments) or everything


def _check_watch(arguments: argparse.Namespace) -> None:
    if getattr(arguments, "watch", False) and arguments.dry_run:
        raise BadUsage("--dry-run changes nothing, so there is nothing to --watch")


def _change_members(arguments: argparse.Namespace, *, prints_json: bool = True) -> int:
    """Cancel or redrive the members of one batch."""
    verb = _OF_BATCHES[arguments.verb]
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


def change(arguments: argparse.Namespace) -> int:
    """Change the actions of the given ids, or all that match the filters, by the last word of the command.

    Raises:
        BadUsage: ids and filters are given, or neither; or there is no terminal for the confirmation.
        OperationFailed: the API failed; some may be changed, and a repeat is safe.
    """
    _check_watch(arguments)
    verb, filters, is_dry = (
        VERBS[last_word(arguments)],
        chosen_by(arguments),
        getattr(arguments, "dry_run", False),
    )
    if arguments.ids and (filters or is_dry):
        raise BadUsage(f"{verb.name} takes ids or filters, not both; --dry-run goes with filters")
    if not arguments.ids and not filters:
        raise BadUsage(f"choose which to {verb.name}: ids, or filters such as --correlation-id")
    client, is_one = client_of(arguments), len(arguments.ids) == 1
    if is_dry:
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
            is_asked = verb.name == "cancel" and changed[-1]["status"] != "cancelled"
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


# Undelivered inputs and notifications. One wrong id changes nothing.


def redrive_undelivered(arguments: argparse.Namespace) -> int:
    """Process some again, or all."""
    if arguments.all == bool(arguments.ids):
        raise BadUsage("give either the ids to redrive, or --all")
    if arguments.ids and (arguments.kind or arguments.limit):
        raise BadUsage("--kind and --limit go with --all")
    _check_watch(arguments)
    client, verb = client_of(arguments), "would redrive" if arguments.dry_run else "requested redrive of"
    done = client.call("redriveUndelivered", {**vars(arguments), "ids": arguments.ids or None}).body
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
    given = {"scope": arguments.scope, "kind": arguments.kind, "ids": arguments.ids or None}
    count = sum(step["read"] for step in client_of(arguments).pages("readNotifications", given))
    text = f"marked {count} as read" if count else "nothing was unread"
    return print_content(arguments, {"read": count}, lambda *_: text)


def choose(arguments: argparse.Namespace) -> int:
    """Show the recipients, the channels and the language of notifications, or change them."""
    given = {
        "language": arguments.language,
        "addresses": _addresses(arguments.email),
        "admin_addresses": _addresses(arguments.admin_email),
        "channels": dict(arguments.channel) if arguments.channel else None,
    }
    if all(value is None for value in given.values()):
        return Operation("getNotificationPreferences", preferences)(arguments)
    chosen = client_of(arguments).call("setNotificationPreferences", {"scope": arguments.scope, **given})
    return print_content(arguments, chosen.body, preferences)


def _addresses(values: list[str] | None) -> list[str] | None:
    if values is None or NONE not in values:
        return values
    if len(values) > 1:
        raise BadUsage(f"{NONE!r} removes all; leave it out, or the addresses beside it")
    return []


OFTEN, SELDOM = timedelta(seconds=0.5), timedelta(seconds=10)
"""The time between two requests: `SELDOM` while the action is far from due."""

OPEN = {"pending", "processing"}
"""The statuses that are not final."""

# The number of actions not executed that are listed.
_FIRST, _NOT_FOUND = 10, 404


def watch(client: Client, action: Json, clock: Clock, *, as_json: bool) -> int:
    """Print each change until the action is settled; also the begin of a run that ended between two looks.

    Raises:
        OperationFailed: it was not executed.
    """
    printed, runs = None, len(action["attempts"])
    while True:
        stage = (action["status"], action["due_at"], len(action["attempts"]), action["is_handed_over"])
        if stage[2] > runs and action["status"] != "processing" and not as_json:
            print(progress({**action, "status": "processing"}, clock.now()), flush=True)
        if stage != printed and not as_json:
            print(progress(action, clock.now()), flush=True)
        printed, runs = stage, stage[2]
        if action["status"] not in OPEN:
            break
        left = datetime.fromisoformat(action["due_at"]) - clock.now()
        clock.wait_until(clock.now() + min(max(left, OFTEN), SELDOM))
        action = client.call("getAction", action).body
    if as_json:
        print_json(action)
    if action["status"] != "executed":
        raise OperationFailed(f"the action {action['id']} is {action['status']}, not executed")
    return 0


def follow(client: Client, actions: Sequence[Json], clock: Clock) -> Sequence[Json]:
    """Return the settled actions in the same order; print the number of open ones to standard error."""
    latest = {action["id"]: action for action in actions}
    with ProgressBar("watch", len(latest)) as bar:
        while waiting := [action for action in latest.values() if action["status"] in OPEN]:
            bar.wait(len(latest) - len(waiting), f"{len(waiting)} not done yet", clock)
            latest |= {action["id"]: client.call("getAction", action).body for action in waiting}
    return list(latest.values())


def completed(client: Client, name: str, clock: Clock) -> Json:
    """Return a batch once it is complete; print the number of members that are left to standard error.

    Two reads in a row must find it complete: a count may have begun just before the last redrive.
    """
    before, batch = None, client.call("getBatch", {"name": name}).body
    with ProgressBar("watch", batch["size"]) as bar:
        while batch["state"] != "complete" or batch["counted_at"] != before:
            before = batch["counted_at"]
            line = f"{batch['left']:,} of {batch['size']:,} left" if before else "not counted yet"
            bar.wait(batch["size"] - batch["left"] if before else 0, line, clock)
            batch = client.call("getBatch", {"name": name}).body
    return batch


def redriven(client: Client, items: Sequence[Json], clock: Clock) -> Iterator[tuple[Json, Json | None]]:
    """Yield each input once its redrive has ended: with None if it is gone, else as it came back."""
    waiting = list(items)
    while waiting:
        looked = [(item, _latest(client, item)) for item in waiting]
        waiting = [item for item, latest in looked if latest and latest["count"] == item["count"]]
        yield from ((item, latest) for item, latest in looked if item not in waiting)
        if waiting:
            print(f"{len(waiting)} not done yet", file=sys.stderr, flush=True)
            clock.wait_until(clock.now() + output.PAUSE)


def _latest(client: Client, item: Json) -> Json | None:
    try:
        return client.call("getUndelivered", item).body
    except RequestRejected as rejected:
        if rejected.status == _NOT_FOUND:
            return None
        raise


def ends(actions: Sequence[Json]) -> Iterator[str]:
    """Yield the number of actions by status, and the first that were not executed with the reason."""
    counts = sorted(Counter(one["status"] for one in actions).items())
    yield ", ".join(f"{count} {status}" for status, count in counts) or "nothing to wait for"
    others = [action for action in actions if action["status"] != "executed"]
    reasons = {one["id"]: plain(one["failure_reason"] or "-") for one in others[:_FIRST]}
    yield from (f"{one['status']} {one['id']}: {reasons[one['id']]}" for one in others[:_FIRST])
    if len(others) > _FIRST:
        yield f"and {len(others) - _FIRST} more"


def all_executed(actions: Sequence[Json]) -> bool:
    """Return whether all were executed."""
    return all(action["status"] == "executed" for action in actions)
