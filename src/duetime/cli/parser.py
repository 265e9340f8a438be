"""What a command is, and the parser of commands: bad usage in one line, suggestions for misspelt words."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import takewhile
from typing import Any, NamedTuple, NoReturn, TypeAlias

from duetime.cli.arguments import CONNECTION, Addition, flag
from duetime.cli.failures import did_you_mean
from duetime.cli.output import redraw
from duetime.cli.tables import plain
from duetime.errors import DuetimeError

BAD_USAGE = 2
"""The exit status of bad usage."""

JSON = "--json"
OF_ACTIONS = ("why", "pause", "resume", "pauses", "limits")
"""Commands of the group ``actions`` that need no group before them."""

_WATCH = flag("--watch", "in a terminal, refresh every 2 s until interrupted")

Run: TypeAlias = Callable[[argparse.Namespace], int]
"""Runs a command, and returns its exit status."""


class Command(NamedTuple):
    """One command: its name, its help, what runs it, and its arguments."""

    name: str
    help: str
    run: Run | str
    """A function, or the module and the name of one that is imported when the command runs."""
    arguments: Sequence[Addition] = ()
    description: str | None = None
    calls: bool = True
    """Whether it calls a scheduler, and so has the options of a connection."""
    redraws: bool = False
    """Whether ``--watch`` runs it again and again in a terminal."""

    def add_to(self, commands: argparse._SubParsersAction[CommandParser]) -> None:
        """Add the command to others."""
        aliases = ["ls"] if self.name == "list" else []
        parser = commands.add_parser(self.name, aliases=aliases, help=self.help, description=self.description)
        for one in (
            *(CONNECTION if self.calls else ()),
            *self.arguments,
            *([_WATCH] if self.redraws else []),
        ):
            one.add_to(parser)
        parser.set_defaults(run=partial(_run, self), command=parser.prog)


class Group(NamedTuple):
    """A command that has commands of its own."""

    name: str
    help: str
    commands: Sequence[Command | Group]

    def add_to(self, commands: argparse._SubParsersAction[CommandParser]) -> None:
        """Add the group, and its commands."""
        parser = commands.add_parser(self.name, help=self.help)
        members = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
        for member in self.commands:
            member.add_to(members)


def _run(command: Command, arguments: argparse.Namespace) -> int:
    """Run a command, with ``--watch`` of one that redraws until it is interrupted."""
    run = command.run
    if isinstance(run, str):
        module, _, name = run.partition(".")
        run = getattr(import_module(f"duetime.cli.{module}"), name)
    if not (command.redraws and arguments.watch):
        return int(run(arguments))
    return redraw(run, arguments)


class CommandParser(argparse.ArgumentParser):
    """Prints bad usage in one line, as every other failure. Words such as ``-2h`` are values, not options."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._negative_number_matcher = re.compile(r"-\d")

    def error(self, message: str) -> NoReturn:
        """Exit with the message on one line."""
        if message.endswith(": COMMAND"):
            message = f"{self.prog!r} needs a command; it has: {', '.join(self._commands())}"
        end = "" if message.endswith("?") else ";"
        self.exit(BAD_USAGE, f"duetime: {plain(message)}{end} `{self.prog} --help` shows how\n")

    def _commands(self) -> list[str]:
        groups = self._subparsers._group_actions if self._subparsers else ()  # noqa: SLF001 - argparse has no other
        return [str(name) for group in groups for name in group.choices or ()]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words like argparse; report an unknown one here, where the command is known."""
        for option in self._unknown_options(args or ()):
            meant = did_you_mean(option, self._option_string_actions) or (
                "; write a command's options after the command" if self._subparsers else ""
            )
            self.error(f"{self.prog!r} has no option {option!r}{meant}")
        parsed, left = super().parse_known_args(args, namespace)
        if left and self._subparsers is None:
            self.error(f"{self.prog!r} does not take {' '.join(left)!r}")
        return parsed, left

    def _unknown_options(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the words' long options that are no option of this command, and not short for one."""
        own = takewhile(lambda word: word != "--", words)
        if self._subparsers is not None:
            own = takewhile(lambda word: word.startswith("-"), own)
        for word in own:
            name = word.partition("=")[0]
            is_option = name.startswith("--") and " " not in word
            if is_option and not any(known.startswith(name) for known in self._option_string_actions):
                yield name

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of a word; the message of a value's parser is the failure's message."""
        if action.type is None or isinstance(action.type, type | str):
            return super()._get_value(action, arg_string)
        try:
            return action.type(arg_string)
        except (ValueError, DuetimeError) as error:
            raise argparse.ArgumentError(action, str(error)) from None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        meant = did_you_mean(value, known)
        if action.nargs == argparse.PARSER:
            raise argparse.ArgumentError(
                None, f"{self.prog!r} has no command {value!r}{meant or '; it has: ' + ', '.join(known)}"
            )
        raise argparse.ArgumentError(
            action, f"invalid choice: {value!r} (choose from {', '.join(map(repr, known))}){meant}"
        )


def expand(words: Sequence[str]) -> list[str]:
    """Return the words as the parser reads them."""
    found = json_at_end(words)
    if found[:1] == ["help"]:
        found = [*found[1:], "--help"]
    if found[:1] and found[0] in OF_ACTIONS:
        found = ["actions", *found]
    return found


def json_at_end(words: Sequence[str]) -> list[str]:
    """Return the words with ``--json`` after the others, where the command itself reads it."""
    end = words.index("--") if "--" in words else len(words)
    before = [word for word in words[:end] if word != JSON]
    return [*before, *[JSON] * (len(before) < end), *words[end:]]
