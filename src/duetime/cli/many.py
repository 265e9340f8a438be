"""Changes many actions: those of the given ids, or after a confirmation all that match filters."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from duetime._english import counted
from duetime.cli.action_text import LIST
from duetime.cli.arguments import Filters
from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage, RequestRejected
from duetime.cli.output import print_content, print_json
from duetime.cli.tables import plain
from duetime.cli.terminal import ProgressBar
from duetime.cli.watch import all_executed, ends, follow
from duetime.clock import SystemClock

FIRST = 10
"""The number of actions that are shown before the change."""

# The number of actions that one API call changes.
_STEP = 100


@dataclass(frozen=True, slots=True)
class BulkVerb:
    """A change: its name in the API, its past tense, the call for one action, and a line for the result."""

    name: str
    done: str
    change_one: Callable[[Client, str], Json]
    describe: Callable[[Json, datetime], str]


@dataclass(slots=True)
class _Sum:
    changed: list[Json] = field(default_factory=list)
    left: list[Json] = field(default_factory=list)
    cut_off: str | None = None
    """Of a preview: actions that were scheduled later did not match."""

    def document(self, *, dry_run: bool) -> Json:
        return {"changed": self.changed, "left": self.left, "next_cursor": None, "dry_run": dry_run}


def change(arguments: argparse.Namespace, verb: BulkVerb, filters: Filters) -> int:
    """Change the actions of the given ids, or all that match the filters.

    Raises:
        BadUsage: ids and filters are given, or neither; or there is no terminal for the confirmation.
        CommandFailed: the API failed; some may be changed, and a repeat is safe.
    """
    if arguments.dry_run and getattr(arguments, "watch", False):
        raise BadUsage("--dry-run changes nothing, so there is nothing to --watch")
    if arguments.ids and (filters or arguments.dry_run):
        raise BadUsage(f"{verb.name} takes ids or filters, not both; --dry-run goes with filters")
    if arguments.ids:
        return _change_each(arguments, verb)
    if not filters:
        raise BadUsage(f"choose which to {verb.name}: ids, or filters such as --correlation-id")
    if arguments.dry_run:
        found = _matching(client_of(arguments), verb, filters)
        return print_content(arguments, found.document(dry_run=True), lambda _, now: _shown(verb, found, now))
    return _change_all(arguments, verb, filters)


def _change_each(arguments: argparse.Namespace, verb: BulkVerb) -> int:
    client, done = client_of(arguments), _Sum()
    for action_id in arguments.ids:
        try:
            done.changed.append(verb.change_one(client, action_id))
        except RequestRejected as refused:
            if len(arguments.ids) == 1:
                raise
            done.left.append({"id": action_id, "reason": str(refused)})
            print(f"duetime: {plain(refused)}", file=sys.stderr)
            continue
        if not arguments.json:
            print(verb.describe(done.changed[-1], SystemClock().now()))
    is_well = _is_well(arguments, client, done)
    if arguments.json:
        print_json(done.changed[0] if len(arguments.ids) == 1 else done.document(dry_run=False))
    return 0 if is_well else 1


def _change_all(arguments: argparse.Namespace, verb: BulkVerb, filters: Filters) -> int:
    client, done = client_of(arguments), _Sum()
    chosen = filters if arguments.yes else agreed(client, verb, filters)
    if chosen is not None:
        with ProgressBar(verb.name) as bar:
            for step in _steps(client, verb, chosen, dry_run=False):
                done.changed += step["changed"]
                done.left += step["left"]
                bar.done(len(done.changed))
                if step["next_cursor"] and not arguments.json:
                    bar.note(f"{verb.done} {len(done.changed)} so far")
    if not arguments.json:
        print("\n".join(_summary(verb, done)), flush=True)
    is_well = _is_well(arguments, client, done)
    if arguments.json:
        print_json(done.document(dry_run=False))
    return 0 if is_well else 1


def _is_well(arguments: argparse.Namespace, client: Client, done: _Sum) -> bool:
    """Return whether all were changed and, with ``--watch``, executed."""
    if not getattr(arguments, "watch", False):
        return not done.left
    done.changed = list(follow(client, done.changed, SystemClock()))
    if not arguments.json:
        print("\n".join(ends(done.changed)))
    return not done.left and all_executed(done.changed)


def agreed(client: Client, verb: BulkVerb, filters: Filters) -> Filters | None:
    """Show the actions, and return their filters if the operator confirms; without actions return None.

    The filters have the preview's cut-off: actions that are scheduled after it were not shown.

    Raises:
        BadUsage: there is no terminal.
    """
    if not sys.stdin.isatty():
        raise BadUsage("there is no terminal for the confirmation: look with --dry-run, then use --yes")
    found = _matching(client, verb, filters)
    print(_shown(verb, found, SystemClock().now()), file=sys.stderr)
    if not found.changed:
        return None
    print(f"{verb.name} {counted(len(found.changed), 'action')}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        return None
    return filters if found.cut_off is None else {**filters, "created_until": found.cut_off}


def _steps(client: Client, verb: BulkVerb, filters: Filters, *, dry_run: bool) -> Iterator[Json]:
    body = {**filters, "limit": _STEP, "dry_run": dry_run}
    return client.steps("actions", verb.name, body=body)


def _matching(client: Client, verb: BulkVerb, filters: Filters) -> _Sum:
    with ProgressBar("look for actions"):
        steps = list(_steps(client, verb, filters, dry_run=True))
    found = [action for step in steps for action in step["changed"]]
    return _Sum(found, cut_off=steps[0]["created_until"])


def _shown(verb: BulkVerb, found: _Sum, now: datetime) -> str:
    if not found.changed:
        return f"no actions to {verb.name}"
    more = f", the first {FIRST}" if len(found.changed) > FIRST else ""
    heading = f"would {verb.name} {counted(len(found.changed), 'action')}{more}"
    return f"{heading}:\n{LIST(found.changed[:FIRST], now)}"


def _summary(verb: BulkVerb, done: _Sum) -> Iterator[str]:
    stopping = sum(action["status"] == "processing" for action in done.changed)
    yield f"{verb.done} {counted(len(done.changed) - stopping, 'action')}"
    if stopping:
        actions = counted(stopping, "action")
        yield f"requested {actions} to stop: a running action ends when its handler checks"
    for action in done.left:
        yield f"left {action['id']}: {plain(action['reason'])}"
