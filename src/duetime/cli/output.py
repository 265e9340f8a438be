"""Prints results: the API's JSON, or text for people with commands to paste."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from string import Formatter
from typing import Any, TypeAlias

from duetime._english import counted
from duetime._masking import printable_json
from duetime.cli.arguments import Part, fields_of
from duetime.cli.client import Json, client_of
from duetime.cli.failures import StrangeAnswer
from duetime.cli.tables import plain
from duetime.cli.terminal import print_long
from duetime.cli.times import both
from duetime.clock import SystemClock

# The options of a connection that a printed command repeats.
_CONNECTION = ("profile", "url", "region", "tenant", "user")

_OK = 200

# How many pages a list reads after an empty one, before it prints the command that continues.
_EMPTY_PAGES = 20

Text: TypeAlias = str | Callable[[Json, datetime], str]
"""Text of an answer at a time: made by a function, or a format of its fields."""


class _Format(Formatter):
    """Formats a text; the format ``when`` writes an instant with its distance from now."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "when":
            return both(value, self._now)
        return ", ".join(value) if isinstance(value, list) else str(value)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the API as a command: what it sends, and how its answer is printed.

    The path, as ``limits/{type}``, names arguments. The text may name fields of the answer, then arguments,
    and ``scheduler``, the URL.
    """

    method: str
    path: str
    text: Text
    body: Sequence[Part] | None = None
    query: Sequence[Part] = ()
    then: str | None = None
    """The path of what ``--json`` prints if the answer has no content; empty for the path's arguments."""

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Make the call, and print its answer; return 0."""
        client, given = client_of(arguments), vars(arguments)
        query = {name: str(value) for name, value in fields_of(arguments, self.query).items()}
        body = None if self.body is None else fields_of(arguments, self.body)
        answer = client.ask(self.method, *path_of(self.path, given), query=query, body=body)
        if answer and self.then is not None:
            raise StrangeAnswer(client.url, _OK, None)
        if not arguments.json:
            found = {**given, "scheduler": client.url, **answer}
            print(text_of(self.text, found))
        elif self.then:
            print_json(client.ask("GET", *path_of(self.then, given)))
        else:
            names = [name for _, name, _, _ in Formatter().parse(self.path) if name]
            print_json(answer or {name: given[name] for name in names})
        return 0


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of the API as a command: its path, its text, and the options that choose the items."""

    path: str
    text: Callable[[Sequence[Json], datetime], str]
    empty: str
    """Printed instead of an empty list."""
    filters: Sequence[str] = ()
    """Options by the API's names; the command that continues the list repeats them."""
    query: Sequence[Part] = ()
    """Further parameters."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Options without a value that are repeated too, with the arguments that they set."""

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Print a page; return 0.

        A filter can leave pages empty: as text, a list reads on to the first item, within a bound.
        """
        filters = fields_of(arguments, [name for name in self.filters if name in arguments])
        query = {**fields_of(arguments, self.query), **filters, "limit": str(arguments.limit)}
        client, rows = client_of(arguments), 0
        pages = client.pages(*path_of(self.path, vars(arguments)), query=query, cursor=arguments.cursor)
        for page in islice(pages, _EMPTY_PAGES + 1):
            scanned = page.get("scanned") or {"rows": 0}
            rows += scanned["rows"]
            if arguments.json or page["items"]:
                break
        if not arguments.json:
            scanned["rows"] = rows
        flags = {name: bool(getattr(arguments, of)) for name, of in self.flags.items()}
        return print_page(arguments, page, self.text, empty=self.empty, filters={**flags, **filters})


def path_of(path: str, given: Mapping[str, Any]) -> Sequence[str]:
    """Return the segments of a path, with the arguments that it names."""
    return [segment.format_map(given) for segment in path.split("/")]


def text_of(text: Text, found: Json) -> str:
    """Return the text of an answer at the present time."""
    now = SystemClock().now()
    return plain(_Format(now).vformat(text, (), found)) if isinstance(text, str) else text(found, now)


def print_json(content: object) -> None:
    """Print the API's JSON; control characters are escapes."""
    print(printable_json(json.dumps(content, indent=2, ensure_ascii=False)))


def print_content(arguments: argparse.Namespace, content: Json, text: Text) -> int:
    """Print the API's JSON with ``--json``, else its text at the present time; return 0."""
    return print_either(arguments, content, lambda: text_of(text, content))


def print_either(
    arguments: argparse.Namespace, content: object, text: Callable[[], str], *, is_long: bool = False
) -> int:
    """Print JSON with ``--json``, else a text, if it is long through a pager; return 0."""
    if arguments.json:
        print_json(content)
    else:
        (print_long if is_long else print)(text())
    return 0


def print_page(
    arguments: argparse.Namespace,
    page: Json,
    describe: Callable[[Sequence[Json], datetime], str],
    *,
    empty: str,
    filters: Mapping[str, object],
) -> int:
    """Print a page of a list, and the command that prints the next one; return 0.

    Args:
        arguments: the arguments of the command.
        page: the API's JSON.
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
        lines.append(more(arguments, {**filters, "limit": arguments.limit, "cursor": page["next_cursor"]}))
    print_long("\n".join(lines))
    return 0


def more(arguments: argparse.Namespace, given: Mapping[str, object], start: str = "more") -> str:
    """Return the command with other options, by the API's names, as the line that continues a list."""
    name = f" {arguments.name}" if "name" in arguments else ""
    return f"{start}: {arguments.command}{name} {pasted(arguments, given)}"


def pasted(arguments: argparse.Namespace, given: Mapping[str, object] | None = None) -> str:
    """Return the options and those of the connection, quoted for a shell, without the token."""
    connection = {name: getattr(arguments, name) for name in _CONNECTION}
    words = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}")
        for name, values in {**(given or {}), **connection}.items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None and value is not False
    ]
    return " ".join([*words, "--sign"] if arguments.sign else words)


def print_made(arguments: argparse.Namespace, made: Json, lines: Sequence[str], *command: str) -> int:
    """Print what was made as JSON, or as text with the command that shows it on the same scheduler."""
    look = " ".join(word for word in ("look at it: duetime", *command, pasted(arguments)) if word)
    return print_either(arguments, made, lambda: "\n".join([*lines, look]))


def print_completion(arguments: argparse.Namespace) -> int:
    """Print the script with which a shell completes commands."""
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - only a completion needs it

    print(shellcode(["duetime"], shell=arguments.shell))
    return 0
