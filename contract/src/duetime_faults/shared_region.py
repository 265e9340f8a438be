"""The item of the active region that the simulated regions share, from which a region can be cut off."""

from __future__ import annotations

from collections.abc import Iterable

from duetime.errors import BackendUnavailable
from duetime.memory.keyed_items import MemoryItems
from duetime.model.active_region import ActiveRegion
from duetime.ports.keyed_items import Write
from duetime.ports.regions import KEY, REGION, ActiveRegions


class SharedRegionItem(MemoryItems):
    """The one item of all regions.

    Attributes:
        unreachable: the regions that are cut off from it.
    """

    def __init__(self, item: ActiveRegion | None = None, unreachable: Iterable[str] = ()) -> None:
        super().__init__()
        self.unreachable, self.item = set(unreachable), item

    @property
    def item(self) -> ActiveRegion | None:
        """The item as it is."""
        return ActiveRegions(self, "").read()

    @item.setter
    def item(self, item: ActiveRegion | None) -> None:
        self.write(Write(kind=REGION, key=KEY, is_removal=True))
        if item is not None:
            ActiveRegions(self, "").change(None, item)


class MemoryActiveRegions(ActiveRegions):
    """One region's access to the shared item."""

    def __init__(self, own: str, shared: SharedRegionItem | None = None) -> None:
        self._shared = shared or SharedRegionItem()
        super().__init__(self._shared, own)

    def read(self) -> ActiveRegion | None:
        """See `ActiveRegions`, here and below."""
        self._reach()
        return super().read()

    def change(self, old: ActiveRegion | None, new: ActiveRegion) -> bool:
        """As the base does, if the region is not cut off."""
        self._reach()
        return super().change(old, new)

    def _reach(self) -> None:
        if self.own in self._shared.unreachable:
            raise BackendUnavailable("the regions table", f"{self.own} is cut off from the other regions")
