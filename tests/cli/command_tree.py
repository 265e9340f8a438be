"""The commands and their options, read from the parser, for the tests of the pages that list them."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """An option, or a positional argument, which has no names."""

    names: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its path, its subcommands with their help, and its options."""

    path: str
    commands: Mapping[str, str]
    options: tuple[Option, ...]


def commands_of(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Command]:
    """Yield the parser's command, then its subcommands. Aliases and hidden options are left out."""
    subparsers, helps, options = {}, {}, []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            first = {id(choice): name for name, choice in reversed(action.choices.items())}
            subparsers = {
                name: choice for name, choice in action.choices.items() if first[id(choice)] == name
            }
            helps = {choice.dest.partition(" ")[0]: choice.help or "" for choice in action._choices_actions}
        elif action.help != argparse.SUPPRESS:
            options.append(Option(tuple(action.option_strings), action.help or ""))
    yield Command(path, {name: helps.get(name, "") for name in subparsers}, tuple(options))
    for name, subparser in subparsers.items():
        yield from commands_of(subparser, f"{path} {name}".strip())
