"""``duetime actions`` and ``duetime dead-letters``: list, show, cancel, reschedule, redrive, dismiss."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime

from duetime.cli import approvals, attempts, batches, check_in, hand_overs, limits, pauses
from duetime.cli.action_text import in_full, listed
from duetime.cli.arguments import (
    Commands,
    Run,
    add_command,
    add_due_time,
    add_expiry,
    add_group,
    add_page,
    client_of,
    due_time_of,
    expiry_of,
)
from duetime.cli.client import Json
from duetime.cli.dead_letters import PATH, dismiss, failed_at, list_groups
from duetime.cli.failures import BadUsage
from duetime.cli.filters import Filters, add_filters, filters_of
from duetime.cli.many import BulkVerb, add_many, change
from duetime.cli.output import print_content, print_list
from duetime.cli.screen import add_watch
from duetime.cli.staged import add_staged, redrive_staged
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.cli.watch import add_wait
from duetime.errors import truncate

LONGEST_REASON = 100
"""Characters; `duetime actions show` prints all."""


def add_parser(commands: Commands) -> None:
    """Add both commands and their own commands."""
    verbs = add_group(commands, "actions", "list, cancel, reschedule and redrive actions")
    _add_list(verbs, list_actions, "list them: newest first, or those of a correlation id, oldest first")
    add_watch(_add_one(verbs, "show", show, "show all details of an action"))
    _add_many(verbs, "cancel", cancel, "cancel pending ones, and request running ones to stop")
    _add_one(verbs, "why", why, "print why an action has not run, and when it will")
    attempts.add_commands(verbs)
    pauses.add_commands(verbs)
    limits.add_commands(verbs)
    check_in.add_commands(verbs)
    hand_overs.add_commands(verbs)
    approvals.add_commands(verbs)
    batches.add_commands(verbs)
    parser = _add_one(verbs, "reschedule", reschedule, "give a pending one another due time")
    add_due_time(parser, required=True)
    add_expiry(parser)
    parser = _add_many(verbs, "redrive", redrive, "run failed ones again, at once")
    add_wait(parser)
    add_staged(parser)
    verbs = add_group(commands, "dead-letters", "list failed actions, and run them again")
    help_text = "list what failed, runs of jobs too: the latest failure first"
    parser = _add_list(verbs, list_failed, help_text, has_status=False)
    parser.add_argument(
        "--group-by", choices=("error",), help="count them by type and error, with one id of each"
    )
    parser = _add_many(verbs, "redrive", redrive_failed, "run failed ones again, at once", has_status=False)
    parser.add_argument("--all", action="store_true", help="every dead letter, without a filter")
    add_wait(parser)
    add_staged(parser)
    parser = add_command(
        verbs, "dismiss", dismiss, "remove some from the list, with a reason; they stay failed"
    )
    parser.add_argument("ids", metavar="ID", nargs="+", type=_id, help="an action's id")
    parser.add_argument("--reason", required=True, help="why none needs a redrive, in at most 500 characters")
    parser.set_defaults(dry_run=False)


def _add_list(
    verbs: Commands, run: Run, help_text: str, *, has_status: bool = True
) -> argparse.ArgumentParser:
    parser = add_command(verbs, "list", run, help_text)
    add_filters(parser, has_status=has_status)
    add_page(parser)
    add_watch(parser)
    return parser


def _add_many(
    verbs: Commands, name: str, run: Run, help_text: str, *, has_status: bool = True
) -> argparse.ArgumentParser:
    description = f"{help_text.capitalize()}: by id, or all that match the filters."
    parser = add_command(verbs, name, run, help_text, description)
    parser.add_argument("ids", metavar="ID", nargs="*", type=_id, help="an action's id")
    add_filters(parser, has_status=has_status)
    add_many(parser)
    return parser


def _add_one(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = add_command(verbs, name, run, help_text)
    parser.add_argument("id", metavar="ID", type=_id, help="the action's id")
    return parser


def _id(written: str) -> str:
    if not written.strip():
        raise argparse.ArgumentTypeError("it is empty; `duetime actions list` shows the ids")
    return written


def list_actions(arguments: argparse.Namespace) -> int:
    """List a page of actions."""
    path, filters = ["actions", "query"], filters_of(arguments)
    return print_list(arguments, path, "actions list", listed, empty="no actions", filters=filters)


def list_failed(arguments: argparse.Namespace) -> int:
    """List a page of failed actions, or their groups."""
    if arguments.group_by:
        return list_groups(arguments)
    path, filters = [PATH], filters_of(arguments)
    return print_list(
        arguments, path, "dead-letters list", _dead_letters, empty="no dead letters", filters=filters
    )


def _dead_letters(actions: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            action["id"],
            both(failed_at(action), now),
            action["job"] or action["type"],
            str(action["attempts"][-1]["number"] if action["attempts"] else 0),
            action["correlation_id"] or "-",
            truncate(action["failure_reason"] or "-", LONGEST_REASON),
        ]
        for action in actions
    ]
    return table(["ID", "FAILED", "TYPE OR JOB", "ATTEMPTS", "CORRELATION ID", "REASON"], rows)


def show(arguments: argparse.Namespace) -> int:
    """Show one action in full, with the traceback of its last attempt."""
    client = client_of(arguments)
    action = client.ask("GET", "actions", arguments.id)
    below = "" if arguments.json else attempts.latest_traceback(client, action)
    return print_content(arguments, action, lambda row, now: f"{in_full(row, now)}{below}")


def why(arguments: argparse.Namespace) -> int:
    """Print why one action has not run."""
    reason = client_of(arguments).ask("GET", "actions", arguments.id, "why")
    return print_content(arguments, reason, _reason)


def _reason(reason: Json, now: datetime) -> str:
    then = f"\nruns {both(reason['runs_at'], now)}" if reason["runs_at"] else ""
    return f"{plain(reason['sentence'])}{then}"


def cancel(arguments: argparse.Namespace) -> int:
    """Cancel actions, or request them to stop."""
    return change(arguments, CANCEL, filters_of(arguments))


def redrive(arguments: argparse.Namespace) -> int:
    """Run failed actions again."""
    return _redrive(arguments, filters_of(arguments))


def redrive_failed(arguments: argparse.Namespace) -> int:
    """Run dead letters again, with ``--all`` every one."""
    everything = {"status": "failed"} if arguments.all else {}
    return _redrive(arguments, filters_of(arguments) or everything)


def _redrive(arguments: argparse.Namespace, filters: Filters) -> int:
    if arguments.staged:
        return redrive_staged(arguments, REDRIVE, filters)
    if arguments.stage_wait is not None:
        raise BadUsage("--stage-wait goes with --staged")
    return change(arguments, REDRIVE, filters)


def reschedule(arguments: argparse.Namespace) -> int:
    """Give one action another due time."""
    body = due_time_of(arguments) | expiry_of(arguments)
    action = client_of(arguments).ask("PUT", "actions", arguments.id, "reschedule", body=body)
    return print_content(arguments, action, _rescheduled)


def _rescheduled(action: Json, now: datetime) -> str:
    return f"rescheduled {action['id']}, due {both(action['due_at'], now)}"


def _redriven(action: Json, now: datetime) -> str:
    return f"redriven {action['id']}, due {both(action['due_at'], now)}"


def _cancelled(action: Json, _now: datetime) -> str:
    if action["status"] == "cancelled":
        return f"cancelled {action['id']}"
    return f"requested {action['id']} to stop: it is running, and ends when its handler checks"


CANCEL = BulkVerb("cancel", "cancelled", lambda client, one: client.ask("DELETE", "actions", one), _cancelled)
REDRIVE = BulkVerb(
    "redrive", "redriven", lambda client, one: client.ask("POST", "actions", one, "redrive"), _redriven
)
