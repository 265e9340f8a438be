"""The due shards that passes read: those of the setting, and surplus ones that still hold rows.

A row stores its shard. If `due_shards` was lowered, or a caller has a higher number than the stack, rows are
in shards beyond the setting. The passes read those too, until they are empty:

- The sweep and the wheel have bookmarks of each shard. A bookmark of an unknown shard means that the setting
  was lowered: all possible shards are probed at once.
- The deep sweep probes them every six hours. So it finds the rows of a caller with another number.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from duetime import instant
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import Bookmarks
from duetime.settings import MOST_DUE_SHARDS

log = logging.getLogger(__name__)

BOOKMARK = "surplus-shards"


class DueShards:
    """The shards of one deployment."""

    def __init__(self, store: ActionStore, bookmarks: Bookmarks) -> None:
        self._store, self._bookmarks = store, bookmarks

    def known(self, marked: Iterable[str]) -> Sequence[str]:
        """Return the shards to read.

        Args:
            marked: the shards of which the pass has bookmarks.
        """
        own = self._store.due_shards
        surplus = sorted(self._bookmarks.read(BOOKMARK).keys() - {*own}, key=_number)
        if {*marked} - {*own, *surplus}:
            return self.probe()
        return [*own, *surplus]

    def probe(self) -> Sequence[str]:
        """Return the setting's shards and all others that hold rows, and store which these are."""
        own = self._store.due_shards
        surplus = [shard for shard in map(str, range(len(own), MOST_DUE_SHARDS)) if self._has_rows(shard)]
        if surplus:
            log.warning(
                "rows in surplus due shards: due_shards was lowered, or a caller has a higher number",
                extra={"due_shards": len(own), "surplus": surplus},
            )
        if surplus or self._bookmarks.read(BOOKMARK):
            self._bookmarks.write(BOOKMARK, dict.fromkeys(surplus, "holds rows"))
        return [*own, *surplus]

    def _has_rows(self, shard: str) -> bool:
        page = self._store.due(shard, after=None, until=instant.LATEST, limit=1, cursor=None)
        return bool(page.entries)


def _number(shard: str) -> int:
    return int(shard) if shard.isdecimal() else MOST_DUE_SHARDS
