"""Saves the items of moto's tables in a folder, so that they outlast the process.

moto answers every request. After each call that writes, and before its caller gets the answer, the items that
it names are in a SQLite file. No other call begins meanwhile, so nothing sees an item that a kill would undo.
A table that is created gets its saved items.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType

from duetime.errors import OperationFailed
from duetime.local.call_lock import AwsCall, CallLock
from duetime.local.moto_items import (
    as_stored,
    key_names,
    key_texts,
    plain,
    put,
    stored_item,
    table_of,
    tables,
    text_of,
)
from duetime.sqlite.database import Database, from_text

_TARGET = "DynamoDB_20120810"
_TABLES, _LOCK = "tables.db", "lock.db"
_SAVED = """
CREATE TABLE IF NOT EXISTS items (
    place TEXT, pk TEXT, sk TEXT, item TEXT NOT NULL, PRIMARY KEY (place, pk, sk)
) WITHOUT ROWID
"""

Body = Mapping[str, Any]
Written = Iterable[tuple[str, Mapping[str, Any]]]
"""The tables' names and the keys, or whole items, that a call names."""


class SavedTables:
    """The saved items; it restores those of a table that is created, and saves those that calls write.

    Its methods need the lock of calls.

    Args:
        folder: created if it is missing.

    Raises:
        OperationFailed: another process uses it; or it can be neither created nor used.
        BackendMisconfigured: its file is damaged, or has another format.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unavailable(folder, error) from error
        self._held = _hold(folder)
        try:
            self._database = Database(folder / _TABLES, _SAVED)
        except BaseException:
            self._held.close()
            raise
        self._restored: set[str] = set()
        self._unsaved: dict[tuple[str, str, str], str | None] = {}

    def close(self) -> None:
        """Release the folder."""
        self._database.close()
        self._held.close()

    def items(self, table: str) -> list[dict[str, Any]]:
        """Return the saved items of a table."""
        with self._database.reading() as connection:
            texts = connection.execute("SELECT item FROM items WHERE place = ?", (table,))
            return [from_text(text) for (text,) in texts]

    def after(self, call: AwsCall) -> None:
        """Save what a call has written.

        Raises:
            BackendUnavailable: it is not saved, such as on a full disk; the next call saves it too.
        """
        service, _, operation = call.target.partition(".")
        if service != _TARGET or operation.startswith(_READS):
            return
        if operation in _WRITES:
            with suppress(ValueError, TypeError, LookupError, AttributeError):  # moto rejected the request
                self._note(_WRITES[operation](json.loads(call.body)))
        elif operation == "CreateTable":
            self._restore_new()
        elif operation == "DeleteTable":
            self._forget_deleted()
        else:
            self._note_all()
        self._save()

    def _note(self, written: Written) -> None:
        for name, attributes in written:
            table = table_of(name)
            if table is not None:
                key = [as_stored(attributes[part]) for part in key_names(table)]
                item = stored_item(table, *map(DynamoType, key))
                self._unsaved[name, *key_texts(key)] = None if item is None else text_of(item)

    def _note_all(self) -> None:
        """Note the items of all tables: a restore or a statement in PartiQL may have changed any."""
        with self._database.reading() as connection:
            saved = connection.execute("SELECT place, pk, sk FROM items").fetchall()
        self._restored.update(tables())
        self._unsaved.update((key, None) for key in saved if key[0] in self._restored)
        for name, table in tables().items():
            for item in table.all_items():
                key = [plain(item.attrs[part]) for part in key_names(table)]
                self._unsaved[name, *key_texts(key)] = text_of(item)

    def _save(self) -> None:
        if not self._unsaved:
            return
        with self._database.writing(survives_power_cuts=False) as connection:
            for key, text in self._unsaved.items():
                if text is None:
                    connection.execute("DELETE FROM items WHERE place = ? AND pk = ? AND sk = ?", key)
                else:
                    connection.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", (*key, text))
        self._unsaved.clear()

    def _restore_new(self) -> None:
        """Give new tables their saved items."""
        for name in tables().keys() - self._restored:
            self._restored.add(name)
            for item in self.items(name):
                put(tables()[name], item)

    def _forget_deleted(self) -> None:
        """Delete the saved items of tables that were deleted."""
        for name in self._restored - tables().keys():
            self._restored.discard(name)
            self._unsaved = {key: text for key, text in self._unsaved.items() if key[0] != name}
            with self._database.writing(survives_power_cuts=False) as connection:
                connection.execute("DELETE FROM items WHERE place = ?", (name,))


@contextmanager
def saved_tables(folder: Path, lock: CallLock) -> Iterator[SavedTables]:
    """Save the tables of each call within the block; see `SavedTables`."""
    saved = SavedTables(folder)
    lock.record(saved.after)
    try:
        yield saved
    finally:
        with lock:  # a run that was left behind may call on
            lock.record(None)
            saved.close()


def _hold(folder: Path) -> sqlite3.Connection:
    """Return a connection whose lock keeps other processes out until it is closed or its process ends."""
    held = sqlite3.connect(folder / _LOCK, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        held.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        held.close()
        if "locked" in str(error):
            raise OperationFailed(
                f"another local cloud uses {folder}; stop it first, or choose another folder"
            ) from error
        raise _unavailable(folder, OSError(0, str(error))) from error
    return held


def _entries(body: Body) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for entry in body["TransactItems"]:
        for request in entry.values():
            yield from _one(request)


def _batch(body: Body) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, requests in body["RequestItems"].items():
        for request in requests:
            for part in request.values():
                yield name, part.get("Item") or part["Key"]


def _one(request: Body) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield request["TableName"], request.get("Item") or request["Key"]


_READS = ("Get", "BatchGet", "TransactGet", "Query", "Scan", "Describe", "List", "Tag", "Untag")
_WRITES: Mapping[str, Callable[[Body], Written]] = {
    "PutItem": _one,
    "UpdateItem": _one,
    "DeleteItem": _one,
    "TransactWriteItems": _entries,
    "BatchWriteItem": _batch,
    "UpdateTable": lambda _body: (),
    "UpdateTimeToLive": lambda _body: (),
    "UpdateContinuousBackups": lambda _body: (),
    "CreateBackup": lambda _body: (),
}
"""Functions that return what a call names. Calls that are in none of these two write other items."""


def _unavailable(folder: Path, error: OSError) -> OperationFailed:
    return OperationFailed(f"{folder} cannot be used ({error.strerror}); name a folder that you may write to")
