"""Importing an app for a command, and telling why it could not be."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING

from duetime.cli.failures import BadUsage, CommandFailed
from duetime.errors import DuetimeError

if TYPE_CHECKING:  # imported when a command runs: `duetime --help` must be quick
    from duetime.app import App


def app_at(where: str) -> App:
    """The app that ``module:name`` leads to; modules are looked for in the working directory first, as `python -m` does.

    Raises:
        BadUsage: `where` has another form.
        DuetimeError: it leads to no app, or declares what cannot work.
        CommandFailed: importing it fails.
    """
    from duetime.lambdas.loading import load_app  # noqa: PLC0415 - as above

    if not all(where.partition(":")):
        raise BadUsage(f"--app {where!r} is not module:name, such as billing.handlers:app")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return load_app(where)
    except DuetimeError as error:
        if place := _place(error):
            error.add_note(place)
        raise
    except ImportError as error:
        raise CommandFailed(
            f"cannot import the app {where!r} ({error}): run this in the directory it is imported from,"
            " or name that in PYTHONPATH, such as PYTHONPATH=src"
        ) from error
    except Exception as error:  # what the user's module does when it is imported
        failed = CommandFailed(f"importing the app {where!r} failed: {type(error).__name__}: {error}")
        if place := _place(error):
            failed.add_note(place)
        raise failed from error


def _place(error: BaseException) -> str:
    """The last line that is neither duetime's nor Python's own; empty where there is none."""
    frames = [(each.f_code.co_filename, line) for each, line in walk_tb(error.__traceback__)]
    theirs = [
        each
        for each in frames
        if not each[0].startswith((_PACKAGE, "<frozen", str(Path(os.__file__).parent)))
    ]
    return f"at {theirs[-1][0]}, line {theirs[-1][1]}" if theirs else ""


_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
