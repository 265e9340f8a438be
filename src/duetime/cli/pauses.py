"""``duetime actions pause``, ``resume`` and ``pauses``: of a type, a key or a worker.

`duetime tenants pause` and `resume` are the same for all work of a tenant.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from duetime.cli.arguments import Commands, add_command, add_end, client_of, end_of, seconds
from duetime.cli.client import Json
from duetime.cli.failures import CommandFailed
from duetime.cli.job_changes import given
from duetime.cli.output import print_content
from duetime.cli.tables import plain, table
from duetime.cli.times import both

PATH = "pauses"
"""The API's path of pauses, and the command that lists them."""

_SCOPES = {
    "type": "actions and jobs' runs of this type; of a job in code, the job's name",
    "concurrency-key": "actions with this concurrency key",
    "rate-key": "actions with this rate key",
    "worker": "the runs of this worker",
}
TENANT = "tenant"
"""The scope of a pause of all work of a tenant."""


def add_commands(verbs: Commands) -> None:
    """Add the commands to the group of actions."""
    parser = add_command(verbs, "pause", pause, "begin no run of some work from now on; it waits")
    _add_scopes(parser)
    add_terms(parser)
    parser.add_argument("--of", metavar="TENANT", help="only of this tenant, for operators")
    parser = add_command(verbs, "resume", resume, "end the pauses of some work")
    _add_scopes(parser, with_id=True)
    add_command(verbs, PATH, list_pauses, "list the pauses, also ended ones while waiting work is spread")


def add_terms(parser: argparse.ArgumentParser) -> None:
    """Add the terms of a pause: its reason and end, and what becomes of the work that it covers."""
    parser.add_argument("--reason", required=True, help="why, for others")
    add_end(parser)
    parser.add_argument(
        "--spread",
        metavar="SPAN",
        type=seconds,
        help="begin what waits within this time after the end (default: as long as the pause, at most 10m)",
    )
    parser.add_argument("--skip", action="store_true", help="skip what becomes due under it")


def _add_scopes(parser: argparse.ArgumentParser, *, with_id: bool = False) -> None:
    choice = parser.add_mutually_exclusive_group(required=True)
    for scope, help_text in _SCOPES.items():
        choice.add_argument(f"--{scope}", metavar="NAME", help=help_text)
    if with_id:
        choice.add_argument("--id", metavar="ID", help="one pause, by its id in `duetime pauses`")


def _scope_of(arguments: argparse.Namespace) -> tuple[str, str] | None:
    """Return the scope and the name that were given; None without one."""
    for scope in _SCOPES:
        name = getattr(arguments, scope.replace("-", "_"))
        if name is not None:
            return scope, name
    return None


def pause(arguments: argparse.Namespace) -> int:
    """Begin one pause."""
    scope, name = _scope_of(arguments) or ("", "")
    return begin(arguments, scope, name, of_tenant=arguments.of)


def begin(arguments: argparse.Namespace, scope: str, name: str, *, of_tenant: str | None = None) -> int:
    """Begin a pause of a scope and name, on the terms that `add_terms` added."""
    body: dict[str, Any] = {"scope": scope, "name": name, "reason": arguments.reason}
    body |= given({"until": end_of(arguments), "spread": arguments.spread, "of_tenant": of_tenant})
    if arguments.skip:
        body["skip"] = True
    paused = client_of(arguments).ask("POST", PATH, body=body)

    def describe(pause: Json, now: datetime) -> str:
        end = f" until {both(pause['until'], now)}" if pause["until"] else ""
        return f"paused {_subject(pause)}{end}; it holds within five seconds"

    return print_content(arguments, paused, describe)


def resume(arguments: argparse.Namespace) -> int:
    """End all pauses with one scope and name, or the one with an id."""
    return end(arguments, _scope_of(arguments), arguments.id)


def end(arguments: argparse.Namespace, scope: tuple[str, str] | None, pause_id: str | None = None) -> int:
    """End all pauses with one scope and name, or the one with an id."""
    client = client_of(arguments)
    items: Sequence[Json] = client.ask("GET", PATH)["items"]
    ids = [
        item["id"]
        for item in items
        if item["ended_at"] is None and ((item["scope"], item["name"]) == scope or item["id"] == pause_id)
    ]
    if not ids:
        raise CommandFailed("no such pause is in force; `duetime pauses` lists them")
    ended = {"items": [client.ask("DELETE", PATH, pause_id) for pause_id in ids]}

    def describe(pauses: Json, now: datetime) -> str:
        return "\n".join(
            f"resumed {_subject(item)}; what waits begins until {both(item['over_at'], now)}"
            for item in pauses["items"]
        )

    return print_content(arguments, ended, describe)


def list_pauses(arguments: argparse.Namespace) -> int:
    """List the pauses."""
    return print_content(arguments, client_of(arguments).ask("GET", PATH), _listed)


def _subject(item: Json) -> str:
    of = f" of {item['tenant']}" if item["tenant"] and item["scope"] != TENANT else ""
    return plain(f"{item['scope']} {item['name']}{of}")


def _end(item: Json, now: datetime) -> str:
    end = item["ended_at"] or item["until"]
    probe = item["probes_at"]
    return f"a probe from {both(probe, now)}" if probe and end is None else both(end, now)


def _listed(pauses: Json, now: datetime) -> str:
    rows = [
        [
            item["id"],
            _subject(item),
            both(item["since"], now),
            _end(item, now),
            "skip" if item["skips"] else "wait",
            item["by"],
            item["reason"],
        ]
        for item in pauses["items"]
    ]
    if not rows:
        return "nothing is paused"
    return table(["ID", "PAUSED", "SINCE", "UNTIL", "ACTIONS", "BY", "REASON"], rows)
