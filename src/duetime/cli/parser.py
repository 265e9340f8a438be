"""The parser of commands: bad usage in one line, and a suggestion for a misspelt word."""

from __future__ import annotations

import argparse
import re
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
        self.exit(BAD_USAGE, f"duetime: {plain(message)}; `{self.prog} --help` shows how\n")

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
