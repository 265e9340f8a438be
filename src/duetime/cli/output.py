"""Prints results: the API's JSON, or text for people with commands to paste."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from duetime._english import counted
from duetime._masking import printable_json
from duetime.cli.arguments import client_of
from duetime.cli.client import Json
from duetime.cli.pager import print_long
from duetime.cli.times import both
from duetime.clock import SystemClock

# The options of a connection that a printed command repeats.
_CONNECTION = ("profile", "url", "region", "tenant", "user")

# How many pages a list reads after an empty one, before it prints the command that continues.
_EMPTY_PAGES = 20


def print_json(content: object) -> None:
    """Print the API's JSON; control characters are escapes."""
    print(printable_json(json.dumps(content, indent=2, ensure_ascii=False)))


def print_content(
    arguments: argparse.Namespace, content: Json, describe: Callable[[Json, datetime], str]
) -> int:
    """Print the API's JSON with ``--json``, else its description at the present time; return 0."""
    if arguments.json:
        print_json(content)
    else:
        print(describe(content, SystemClock().now()))
    return 0


def print_page(
    arguments: argparse.Namespace,
    page: Json,
    command: str,
    describe: Callable[[Sequence[Json], datetime], str],
    *,
    empty: str,
    filters: Mapping[str, object],
) -> int:
    """Print a page of a list, and the command that prints the next one; return 0.

    Args:
        arguments: the arguments of the command.
        page: the API's JSON.
        command: repeats the list, without its filters.
        describe: returns the items as text.
        empty: printed instead of an empty list.
        filters: the command's options by the API's names.
    """
    if arguments.json:
        print_json(page)
        return 0
    unread = "none on the pages read" if page["next_cursor"] else empty
    now = SystemClock().now()
    lines = [describe(page["items"], now) if page["items"] else unread]
    if (scanned := page.get("scanned")) and page["next_cursor"]:
        until = f", up to {both(scanned['until'], now)}" if scanned["until"] else ""
        lines.append(f"{counted(scanned['rows'], 'action')} compared{until}; there are more to compare")
    if page["next_cursor"]:
        given = {f"--{name.replace('_', '-')}": value for name, value in filters.items()}
        given |= {"--limit": arguments.limit, "--cursor": page["next_cursor"]}
        lines.append(f"more: duetime {command} {pasted(arguments, given)}")
    print_long("\n".join(lines))
    return 0


def print_list(
    arguments: argparse.Namespace,
    path: Sequence[str],
    command: str,
    describe: Callable[[Sequence[Json], datetime], str],
    *,
    empty: str,
    filters: Mapping[str, str | list[str] | None] | None = None,
    scope: Mapping[str, str | None] | None = None,
) -> int:
    """Request a page from the API and print it as `print_page` does; `scope` has further parameters.

    A filter can leave pages empty: as text, a list reads on to the first item, within a bound.
    """
    filters = filters or {}
    query = {**filters, **(scope or {}), "limit": str(arguments.limit), "cursor": arguments.cursor}
    client = client_of(arguments)
    page = client.ask("GET", *path, query=query)
    rows = 0
    for _ in range(_EMPTY_PAGES):
        if arguments.json or page["items"] or not page["next_cursor"]:
            break
        rows += (page.get("scanned") or {}).get("rows", 0)
        page = client.ask("GET", *path, query={**query, "cursor": page["next_cursor"]})
    if page.get("scanned") and not arguments.json:
        page["scanned"]["rows"] += rows
    return print_page(arguments, page, command, describe, empty=empty, filters=filters)


def pasted(arguments: argparse.Namespace, given: Mapping[str, object]) -> str:
    """Return the options and those of the connection, quoted for a shell, without the token."""
    connection = {f"--{name}": getattr(arguments, name) for name in _CONNECTION}
    options = {**given, **connection}.items()
    words = [
        f"{name} {shlex.quote(str(value))}"
        for name, values in options
        for value in (values if isinstance(values, list) else [values])
        if value is not None
    ]
    return " ".join([*words, "--sign"] if arguments.sign else words)


def print_next(arguments: argparse.Namespace, *command: str) -> None:
    """Print a command that shows the created item on the same scheduler."""
    print("look at it:", " ".join(word for word in ("duetime", *command, pasted(arguments, {})) if word))
