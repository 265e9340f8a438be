"""Imports an app, or its setup function, for a command, and reports why an import fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from inspect import iscoroutinefunction
from pathlib import Path
from sysconfig import get_path
from traceback import walk_tb
from typing import TypeVar, cast

from duetime.app import App
from duetime.cli.failures import BadUsage
from duetime.errors import DeclarationError, DuetimeError, OperationFailed
from duetime.lambdas.loading import imported_for, load_app


def app_at(where: str) -> App:
    """Return the app at ``module:name``; the working directory is searched first, as by `python -m`.

    Raises:
        BadUsage: `where` has another form.
        DuetimeError: it is no app, or its declarations are invalid.
        OperationFailed: importing it fails.
    """
    return _imported("app", where, load_app)


def setup_at(where: str) -> Callable[[], None]:
    """Return the function at ``module:name``, for the local cloud to call.

    Raises:
        BadUsage: `where` has another form.
        DeclarationError: it is not a synchronous function.
        OperationFailed: the import fails, or later the call.
    """
    setup = _imported("setup", where, _load_function)

    def called() -> None:
        try:
            setup()
        except Exception as error:
            raise _failed(f"the setup {where!r} failed", error) from error

    return called


Loaded = TypeVar("Loaded")


def _imported(what: str, where: str, load: Callable[[str], Loaded]) -> Loaded:
    if not all(where.partition(":")):
        raise BadUsage(f"--{what} {where!r} is not module:name, such as {_LIKE[what]}")
    if (here := str(Path.cwd())) != sys.path[0]:
        sys.path.insert(0, here)
    try:
        return load(where)
    except DuetimeError as error:
        if place := _place(error):
            error.add_note(place)
        raise
    except ImportError as error:
        raise OperationFailed(
            f"cannot import the {what} {where!r} ({error}): run this in the directory it is imported from,"
            " or name that in PYTHONPATH, such as PYTHONPATH=src"
        ) from error
    except Exception as error:  # of the user's module
        raise _failed(f"importing the {what} {where!r} failed", error) from error


def _load_function(where: str) -> Callable[[], object]:
    module, _, name = where.partition(":")
    found = getattr(imported_for(where, module), name, None)
    if not callable(found) or iscoroutinefunction(found):
        raise DeclarationError(
            f"{where} is no function that can be called with nothing; write `def {name}() -> None`"
        )
    return cast("Callable[[], object]", found)


def _failed(what: str, error: Exception) -> OperationFailed:
    failed = OperationFailed(f"{what}: {type(error).__name__}: {error}")
    if place := _place(error):
        failed.add_note(place)
    return failed


def _place(error: BaseException) -> str:
    """Return the last line of the user's code, or else of a library, in the traceback."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    theirs = [
        frame
        for frame in frames
        if not frame[0].startswith((_PACKAGE, "<frozen", str(Path(os.__file__).parent)))
    ]
    in_project = [their for their in theirs if not their[0].startswith(_LIBRARIES)]
    return "".join(f"at {file}, line {line}" for file, line in (in_project or theirs)[-1:])


_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
_LIBRARIES = tuple(f"{get_path(name)}{os.sep}" for name in ("purelib", "platlib"))
_LIKE = {"app": "billing.handlers:app", "setup": "billing.setup:make_tables"}
