"""Prints results: the API's JSON, or text for people with commands to paste."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from string import Formatter

from duetime._english import counted
from duetime._masking import printable_json
from duetime.cli.arguments import Part, fields_of
from duetime.cli.client import Json, client_of, operations
from duetime.cli.failures import StrangeAnswer
from duetime.cli.tables import Table, Text, plain, worded
from duetime.cli.terminal import print_long
from duetime.clock import SystemClock

# The options of a connection that a printed command repeats.
_CONNECTION = ("profile", "url", "region", "tenant", "user")

_OK = 200

# How many pages a list reads after an empty one, before it prints the command that continues.
_EMPTY_PAGES = 20


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API as a command: its id, and how its answer is printed.

    It sends the arguments of the names that the operation takes. A text may have fields of the answer, then
    arguments, and ``scheduler``, the URL.
    """

    id: str
    text: Text
    given: Sequence[Part] = ()
    """What it sends beside the arguments."""
    then: str | None = None
    """The operation whose answer ``--json`` prints, as this one has none; empty for the path's arguments."""

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Make the call, and print its answer; return 0."""
        client, given = client_of(arguments), {**vars(arguments), **fields_of(arguments, self.given)}
        answer = client.call(self.id, given).body
        if answer and self.then is not None:
            raise StrangeAnswer(client.url, _OK, None)
        if not arguments.json:
            print(text_of(self.text, {**given, "scheduler": client.url, **answer}))
        elif self.then:
            print_json(client.call(self.then, given).body)
        else:
            names = [name for _, name, _, _ in Formatter().parse(operations()[self.id].path) if name]
            print_json(answer or {name: given[name] for name in names})
        return 0


@dataclass(frozen=True, slots=True)
class Listing:
    """An operation of the API that lists, as a command: its id, and the table of its items."""

    id: str
    table: Table
    given: Sequence[Part] = ()
    """What it sends beside the arguments."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Options without a value, with the arguments that they set; the command that continues repeats them."""

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Print a page; return 0.

        A filter can leave pages empty: as text, a list reads on to the first item, within a bound.
        """
        names = {*operations()[self.id].parameters} - {"limit", "cursor"}
        filters = {name: value for name, value in vars(arguments).items() if name in names}
        given, rows = {**vars(arguments), **fields_of(arguments, self.given)}, 0
        for page in islice(client_of(arguments).pages(self.id, given), _EMPTY_PAGES + 1):
            scanned = page.get("scanned") or {"rows": 0}
            rows += scanned["rows"]
            if arguments.json or page["items"]:
                break
        if not arguments.json:
            scanned["rows"] = rows
        flags = {name: bool(filters.pop(of)) for name, of in self.flags.items()}
        return print_page(arguments, page, self.table, {**flags, **filters})


def text_of(text: Text, found: Json) -> str:
    """Return the text of an answer at the present time."""
    now = SystemClock().now()
    return plain(worded(text, found, now)) if isinstance(text, str) else text(found, now)


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


def print_page(arguments: argparse.Namespace, page: Json, of: Table, filters: Mapping[str, object]) -> int:
    """Print a page of a list, and the command that prints the next one; return 0.

    Args:
        arguments: the arguments of the command.
        page: the API's JSON.
        of: the table of the items.
        filters: the command's options by the API's names.
    """
    now, cursor = SystemClock().now(), page["next_cursor"]
    lines = [of(page, now) if page["items"] or not cursor else "none on the pages read"]
    if (scanned := page.get("scanned")) and cursor:
        until = worded("{until:?, up to @when}", scanned, now)
        lines.append(f"{counted(scanned['rows'], 'action')} compared{until}; there are more to compare")
    if cursor:
        lines.append(more(arguments, {**filters, "limit": arguments.limit, "cursor": cursor}))
    return print_either(arguments, page, lambda: "\n".join(lines), is_long=True)


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
