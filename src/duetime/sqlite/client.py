"""The back ends of a scheduler over the file of a process that runs the app; ``DUETIME_FILE`` names it.

This process has no steps. Each of its writes also stands in the file's table of changes, from which the
process with the steps takes it within some hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from duetime.actions.hosted_types import HostedTypes
from duetime.clock import SystemClock
from duetime.embedded.cloud import CloudPorts
from duetime.errors import BackendMisconfigured
from duetime.model.deployed_shards import Hosted
from duetime.model.manifest import Manifest, routes_by_type
from duetime.sqlite import items, rows
from duetime.sqlite.database import SERVICE, Database
from duetime.sqlite.store import SqliteJobStore, SqliteStore

if TYPE_CHECKING:
    from duetime.settings import Settings

_MANIFESTS = "CREATE TABLE IF NOT EXISTS manifests (worker TEXT PRIMARY KEY, manifest TEXT NOT NULL)"
TABLES = f"{rows.TABLE}{items.TABLE}{_MANIFESTS};"


def publish(database: Database, manifest: Manifest) -> None:
    """Replace a worker's manifest."""
    with database.writing() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO manifests VALUES (?, ?)", (manifest.worker, manifest.to_json())
        )


def _manifests(database: Database) -> Sequence[Manifest]:
    with database.reading() as connection:
        found = connection.execute("SELECT manifest FROM manifests").fetchall()
    return [Manifest.from_json(text) for (text,) in found]


def _opened(path: Path) -> Database:
    """Open a file once for all schedulers of this process.

    Raises:
        BackendMisconfigured: there is no such file, or it is no database of duetime.
    """
    if not path.is_file():
        raise BackendMisconfigured(
            SERVICE, f"{path} does not exist", "Start `duetime local`, and set the variables that it names"
        )
    return _file_of(path, path.stat().st_ino)


@lru_cache(maxsize=4)
def _file_of(path: Path, _number: int) -> Database:
    return Database(path, TABLES, reports_changes=True)


def ports_of(path: str, settings: Settings) -> tuple[CloudPorts, HostedTypes]:
    """Return the back ends over a file, and what says which types are hosted.

    Raises:
        BackendMisconfigured: there is no such file, or it is no database of duetime.
    """
    database, clock = _opened(Path(path)), SystemClock()
    store = SqliteStore(database, due_shards=settings.due_shards)
    ports = CloudPorts(store.items, store, SqliteJobStore(store), clock)
    ports.routes.publish(_manifests(database))
    return ports, HostedTypes(
        lambda: Hosted(sorted(routes_by_type(_manifests(database)))), clock, settings.due_shards
    )
