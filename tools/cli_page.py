"""Write the arguments and options of each command into `docs/cli.md`, from the parser.

``python -m tools.cli_page`` renews the first block of each section, and adds missing sections at the end.
"""
# ruff: noqa: SLF001 - argparse has no public way to its actions

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from duetime.cli.main import parser

PAGE = Path(__file__).parent.parent / "docs/cli.md"

_ONCE = {"help", "json", "profile", "url", "token", "sign", "region", "timeout", "tenant", "user"}
"""The options that the page describes once, for all commands."""

_SECTION = re.compile(r"^### duetime (?P<path>[^\n]+)\n(?P<text>.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```text\n(?P<block>duetime .*?)^```\n", re.MULTILINE | re.DOTALL)
_NAMES, _LINE = 24, 110


def main() -> int:
    """Write the page."""
    PAGE.write_text(renewed(PAGE.read_text()))
    return 0


def renewed(page: str) -> str:
    """Return the page with the present block in each section; a command without a section gets one."""
    blocks = dict(_blocks(parser(), "duetime"))

    def section(match: re.Match[str]) -> str:
        block = blocks.pop(match["path"], None)
        if block is None:
            return ""
        text = re.sub(r"\n{3,}", "\n\n", _BLOCK.sub("", match["text"])).strip("\n")
        first, _, rest = text.partition("\n\n")
        return "\n\n".join(filter(None, (f"### duetime {match['path']}", first, block, rest))) + "\n\n"

    page = _SECTION.sub(section, page)
    added = [f"### duetime {path}\n\n{block}\n\n" for path, block in blocks.items()]
    return (page + "".join(added)).rstrip("\n") + "\n"


def _blocks(command: argparse.ArgumentParser, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each command without subcommands, and its block."""
    subparsers = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    for action in subparsers:
        main_names = {id(choice): name for name, choice in reversed(action.choices.items())}
        for name in main_names.values():
            yield from _blocks(action.choices[name], f"{path} {name}")
    if not subparsers:
        yield path.removeprefix("duetime").strip(), _block(command, path)


def _block(command: argparse.ArgumentParser, path: str) -> str:
    shown = [
        action
        for action in command._actions
        if action.help != argparse.SUPPRESS and action.dest not in _ONCE - _own(command)
    ]
    formatter = command._get_formatter()
    arguments = [_values(action) for action in shown if not action.option_strings]
    lines = [line for action in shown for line in _lines(formatter, action)]
    return "\n".join(["```text", " ".join([path, *arguments]), *lines, "```"])


def _own(command: argparse.ArgumentParser) -> set[str]:
    """Return the options with a common name that this command uses for something else."""
    calls = any(group.title == "the scheduler" for group in command._action_groups)
    return set() if calls else _ONCE - {"help"}


def _lines(formatter: argparse.HelpFormatter, action: argparse.Action) -> list[str]:
    values = _values(action) if action.nargs != 0 else ""
    name = f"{', '.join(action.option_strings)} {values}".strip() if action.option_strings else _name(action)
    text = " ".join(formatter._expand_help(action).split())
    wrapped = textwrap.wrap(text, _LINE - _NAMES - 4) or [""]
    begin = [] if len(name) <= _NAMES else [f"  {name}"]
    head = "" if begin else name
    lines = [f"  {head:{_NAMES}}  {wrapped[0]}", *(" " * (_NAMES + 4) + line for line in wrapped[1:])]
    return [*begin, *(line.rstrip() for line in lines)]


def _values(action: argparse.Action) -> str:
    """Return how an option's value or an argument is written: `NAME`, `[NAME]`, `NAME…` or `[NAME…]`."""
    several = "…" if action.nargs in {"*", "+"} else ""
    name = _name(action) + several
    return f"[{name}]" if action.nargs in {"?", "*"} else name


def _name(action: argparse.Action) -> str:
    if action.metavar is None and action.choices is not None:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


if __name__ == "__main__":
    sys.exit(main())
