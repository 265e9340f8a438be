"""The due shards that passes read: those of the setting, and surplus ones that may hold rows.

A row stores its shard. If `due_shards` was lowered, or a caller has a higher number than the stack, rows are
in shards beyond the setting. The passes read those too:

- For a day after the setting was lowered, they read all shards of the number before: callers may have that
  number for as long, and the wheel is the only wake of their far actions.
- The sweep and the wheel have bookmarks of each shard. If one is of an unknown shard, all possible shards are
  probed at once; the deep sweep probes them every six hours. Shards with rows are read until they are empty.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence

from duetime import instant
from duetime.clock import Clock
from duetime.model.deployed_shards import FORMER_IS_ACCEPTED
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import Bookmarks
from duetime.settings import DUE_SHARDS, MOST_DUE_SHARDS

log = logging.getLogger(__name__)

BOOKMARK = "surplus-shards"
"""By surplus shard: ``holds rows``, or the end of the day for which an empty one is read; and `_NUMBER`."""

_NUMBER = "number"
"""The setting of the last pass, if it is not the default."""
_HOLDS_ROWS = "holds rows"


class DueShards:
    """The shards of one deployment."""

    def __init__(self, store: ActionStore, bookmarks: Bookmarks, clock: Clock) -> None:
        self._store, self._bookmarks, self._clock = store, bookmarks, clock

    def known(self, marked: Iterable[str] | None = None) -> Sequence[str]:
        """Return the shards to read.

        Args:
            marked: the shards of which a pass has bookmarks; None for another reader, which writes nothing.
        """
        own, shards = self._store.due_shards, {*(marked or ())}
        marks = self._bookmarks.read(BOOKMARK)
        if marked is not None and int(marks.get(_NUMBER, DUE_SHARDS)) != len(own):
            marks = self._after_change(marks)
        surplus = sorted(_surplus(marks, own), key=_number)
        if shards - {*own, *surplus}:
            return self.probe()
        return [*own, *surplus]

    def probe(self) -> Sequence[str]:
        """Return the setting's shards and the surplus ones to read, and store which these are."""
        own, marks = self._store.due_shards, self._bookmarks.read(BOOKMARK)
        now = instant.text(self._clock.now())
        former = {shard: until for shard, until in _surplus(marks, own).items() if now < until != _HOLDS_ROWS}
        others = [shard for shard in map(str, range(len(own), MOST_DUE_SHARDS)) if shard not in former]
        held = [shard for shard in others if self._has_rows(shard)]
        if held:
            log.warning(
                "rows in surplus due shards: due_shards was lowered, or a caller has a higher number",
                extra={"due_shards": len(own), "surplus": held},
            )
        surplus = former | dict.fromkeys(held, _HOLDS_ROWS)
        number = {_NUMBER: marks[_NUMBER]} if _NUMBER in marks else {}
        if surplus | number != marks:
            self._bookmarks.write(BOOKMARK, surplus | number)
        return [*own, *sorted(surplus, key=_number)]

    def _after_change(self, marks: Mapping[str, str]) -> Mapping[str, str]:
        """Store the setting's new number; for a day, the shards of a higher one before are read."""
        own = self._store.due_shards
        until = instant.text(self._clock.now() + FORMER_IS_ACCEPTED)
        before = map(str, range(len(own), int(marks.get(_NUMBER, DUE_SHARDS))))
        after = {**_surplus(marks, own), **dict.fromkeys(before, until), _NUMBER: str(len(own))}
        self._bookmarks.write(BOOKMARK, after)
        return after

    def _has_rows(self, shard: str) -> bool:
        page = self._store.due(shard, after=None, until=instant.LATEST, limit=1, cursor=None)
        return bool(page.entries)


def _surplus(marks: Mapping[str, str], own: Collection[str]) -> dict[str, str]:
    return {shard: mark for shard, mark in marks.items() if shard not in own and shard != _NUMBER}


def _number(shard: str) -> int:
    return int(shard) if shard.isdecimal() else MOST_DUE_SHARDS
