"""The parser of commands: bad usage in one line, and a suggestion for a misspelt word."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NoReturn

from duetime.cli.suggestions import did_you_mean
from duetime.cli.tables import plain

BAD_USAGE = 2
"""The exit status of bad usage."""


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
