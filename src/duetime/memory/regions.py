"""The item of the active region in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from duetime.errors import BackendUnavailable
from duetime.model.active_region import ActiveRegion


@dataclass(eq=False, slots=True)
class SharedRegionItem:
    """The one item of all regions."""

    item: ActiveRegion | None = None
    lock: Lock = field(default_factory=Lock)
    unreachable: set[str] = field(default_factory=set)
    """The regions that are cut off from it."""


class MemoryActiveRegions:
    """One region's access to the shared item.

    See `duetime.ports.regions.ActiveRegions`.
    """

    def __init__(self, own: str, shared: SharedRegionItem | None = None) -> None:
        self.own, self._shared = own, shared or SharedRegionItem()

    def read(self) -> ActiveRegion | None:
        self._reach()
        return self._shared.item

    def change(self, old: ActiveRegion | None, new: ActiveRegion) -> bool:
        self._reach()
        with self._shared.lock:
            if self._shared.item == old:
                self._shared.item = new
            return self._shared.item == new

    def _reach(self) -> None:
        if self.own in self._shared.unreachable:
            raise BackendUnavailable("the regions table", f"{self.own} is cut off from the other regions")
