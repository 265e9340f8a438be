"""A text that is made once for a run of the tests, by the worker that needs it first."""

import fcntl
import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # noqa: TID251 - xdist tells it to its workers only here
_SHARED = Path(__file__).parents[2] / ".cache/templates"
_OLD = 3_600
"""Seconds after which another run has ended."""

_known: dict[str, str] = {}


def once(name: str, make: Callable[[], str]) -> str:
    """Return the text of this name: as this process or another worker of the run made it, or made now."""
    if name not in _known:
        _known[name] = make() if _RUN is None else _shared(_SHARED / _RUN, name, make)
    return _known[name]


def _shared(folder: Path, name: str, make: Callable[[], str]) -> str:
    if not folder.exists():
        _remove_old_runs()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / sha256(name.encode()).hexdigest()).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        if not text:
            text = make()
            file.write(text)
        return text


def _remove_old_runs() -> None:
    for run in _SHARED.glob("*"):
        if run.stat().st_mtime < time.time() - _OLD:  # noqa: TID251 - by the clock of the file system
            rmtree(run, ignore_errors=True)
