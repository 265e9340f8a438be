"""Prints long lists: in a terminal through ``$PAGER``, elsewhere directly."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys


def print_long(text: str) -> None:
    """Print a text; in a terminal that is shorter than the text, through the pager.

    Without ``PAGER``, the pager is less, if it is installed. An empty ``PAGER`` turns paging off.
    """
    command = _pager() if _is_longer_than_terminal(text) else []
    if not command:
        print(text)
        return
    try:
        subprocess.run(  # noqa: S603 - the user's own choice
            command, input=f"{text}\n", text=True, errors="backslashreplace", check=False, env=_environment()
        )
    except OSError:  # no such program
        print(text)


def _is_longer_than_terminal(text: str) -> bool:
    # `--watch` draws in a terminal too, but its standard output is another object
    if not sys.stdout.isatty() or sys.stdout is not sys.__stdout__:
        return False
    return text.count("\n") + 1 >= shutil.get_terminal_size().lines


def _pager() -> list[str]:
    from duetime.environment import pager  # noqa: PLC0415 - only a terminal needs it

    chosen = pager()
    if chosen is None:
        return ["less"] if shutil.which("less") else []
    try:
        return shlex.split(chosen)
    except ValueError:  # unbalanced quotes
        return []


def _environment() -> dict[str, str]:
    """Return the environment with less's options for colours and for texts of one screen."""
    return {"LESS": "FRX", **os.environ}  # noqa: TID251 - the pager's, no setting of duetime
