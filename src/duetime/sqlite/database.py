"""The file: its connection, transactions and tables."""

from __future__ import annotations

import base64
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duetime.errors import BackendMisconfigured, BackendUnavailable

SERVICE = "SQLite"
CHANGES = "CREATE TABLE IF NOT EXISTS changes (number INTEGER PRIMARY KEY AUTOINCREMENT, old TEXT, new TEXT)"
"""The changes of processes that only call: one that has the steps takes them, as from a stream."""
Images = Mapping[str, Any]
"""``OldImage`` and ``NewImage`` of an item, those that there are, as in a stream."""
FORMAT = 2
"""The version of the file. A process rejects a file with another version."""

_BYTES = "$bytes"
_BUSY = 10.0
"""Seconds that a write waits for another process."""


class Database:
    """One SQLite file, which several processes may share.

    A write is in the file when its call returns: a process that is killed afterwards loses nothing.

    Args:
        path: of the file, which is created if it is missing.
        tables: the statements that create what is not there.
        reports_changes: `report` writes what another process takes, since this one has no steps.

    Raises:
        BackendMisconfigured: the file is no database, or has another format.
    """

    def __init__(self, path: Path | str, tables: str, *, reports_changes: bool = False) -> None:
        self.path, self._reports_changes = path, reports_changes
        self._version = 0
        self._lock = threading.RLock()
        self._is_writing, self._afterwards = False, list[Callable[[], object]]()
        self._waits_for_disk: bool | None = None
        with _translated(path):
            self._connection = sqlite3.connect(
                path, timeout=_BUSY, isolation_level=None, check_same_thread=False, cached_statements=200
            )
            try:
                self._prepare(tables)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, tables: str) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self.writing() as connection:
            self._check_format(connection)
            for statement in filter(str.strip, (tables + CHANGES).split(";")):
                connection.execute(statement)

    def _check_format(self, connection: sqlite3.Connection) -> None:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found not in {0, FORMAT}:
            raise BackendMisconfigured(
                SERVICE,
                f"{self.path} has format {found}; this version of duetime reads format {FORMAT}",
                "Use the version of duetime that wrote the file",
            )
        connection.execute(f"PRAGMA user_version = {FORMAT}")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read while no other thread of this process writes."""
        with self._lock, _translated(self.path):
            yield self._connection

    @contextmanager
    def writing(self, *, survives_power_cuts: bool = True) -> Iterator[sqlite3.Connection]:
        """Write all or, if the block raises, nothing; no other process or thread writes meanwhile.

        Args:
            survives_power_cuts: wait until the disk has the write, and all earlier ones. Else only a loss of
                power can undo it, and only together with all that was written since.
        """
        with self._lock, _translated(self.path):
            if self._is_writing:
                yield self._connection
                return
            if self._waits_for_disk != survives_power_cuts:
                level = "FULL" if survives_power_cuts else "NORMAL"
                self._connection.execute(f"PRAGMA synchronous = {level}")
                self._waits_for_disk = survives_power_cuts
            self._connection.execute("BEGIN IMMEDIATE")
            self._is_writing = True
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has ended it
                    self._connection.execute("ROLLBACK")
                self._afterwards.clear()
                raise
            finally:
                self._is_writing = False
            calls, self._afterwards = self._afterwards, []
            for call in calls:
                call()

    def report(self, texts: Callable[[], Sequence[str | None]], call: Callable[[], object]) -> None:
        """Call a function once the present transaction is in the file, after those that were given before.

        A database that reports changes writes the old and the new text instead, in the same transaction.
        """
        if self._reports_changes:
            self._connection.execute("INSERT INTO changes (old, new) VALUES (?, ?)", texts())
        else:
            self._afterwards.append(call)

    def is_changed(self) -> bool:
        """Return whether another connection has written since the last call."""
        with self.reading() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
        before, self._version = self._version, version
        return bool(version != before)

    def take_changes(self) -> Sequence[Images]:
        """Take the changes that processes without steps have written, oldest first."""
        with self.reading() as connection:
            if not connection.execute("SELECT 1 FROM changes LIMIT 1").fetchall():
                return ()
        with self.writing(survives_power_cuts=False) as connection:
            found = connection.execute("DELETE FROM changes RETURNING number, old, new").fetchall()
        return [
            {name: from_text(text) for name, text in (("OldImage", old), ("NewImage", new)) if text}
            for _, old, new in sorted(found)
        ]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


@contextmanager
def _translated(path: Path | str) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if "unable to open" in str(error):
            raise BackendMisconfigured(
                SERVICE, f"{path}: {error}", "Name a file in a folder that exists and is writable"
            ) from error
        raise BackendUnavailable(SERVICE, f"{path}: {error}") from error
    except sqlite3.ProgrammingError as error:
        raise BackendUnavailable(SERVICE, f"{path}: {error}; the block of app.embedded has ended") from error
    except sqlite3.DatabaseError as error:
        raise BackendMisconfigured(
            SERVICE, f"{path}: {error}", "Name a file that duetime has made"
        ) from error


def to_text(item: Mapping[str, Any]) -> str:
    """Return an item as it is in the file."""
    return json.dumps(item, default=_from_bytes, separators=(",", ":"))


def from_text(text: str) -> dict[str, Any]:
    """Return an item of the file."""
    found = json.loads(text, object_hook=_to_bytes) if _BYTES in text else json.loads(text)
    return dict(found)


def _from_bytes(value: Any) -> Mapping[str, str]:
    return {_BYTES: base64.b64encode(bytes(value)).decode()}


def _to_bytes(made: dict[str, Any]) -> Any:
    held = made.get(_BYTES)
    return base64.b64decode(held) if isinstance(held, str) else made
