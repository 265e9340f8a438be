"""The commands and their options, read off the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """An option or a positional argument of a command; a positional one has no names."""

    names: tuple[str, ...]
    told: str
    has_value: bool
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how it is called, its own commands with what they are for, and its options."""

    path: str
    commands: Mapping[str, str]
    options: tuple[Option, ...]

    def words(self) -> list[str]:
        """All that may follow it."""
        free = [choice for option in self.options if not option.names for choice in option.choices]
        return [*self.commands, *free, *(name for option in self.options for name in option.names)]


def commands_of(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Command]:
    """The command that a parser reads, then those below it; without what its help does not show."""
    below = dict[str, argparse.ArgumentParser]()
    told, options = dict[str, str](), list[Option]()
    for action in parser._actions:  # noqa: SLF001 - argparse tells it nowhere else
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            below = dict(action.choices)
            told = {one.dest: one.help or "" for one in action._choices_actions}  # noqa: SLF001
        elif action.help != argparse.SUPPRESS:
            options.append(_option(action))
    yield Command(path, {name: told.get(name, "") for name in below}, tuple(options))
    for name, one in below.items():
        yield from commands_of(one, f"{path} {name}".strip())


def _option(action: argparse.Action) -> Option:
    choices = tuple(str(choice) for choice in action.choices or ())
    return Option(tuple(action.option_strings), action.help or "", action.nargs != 0, choices)
