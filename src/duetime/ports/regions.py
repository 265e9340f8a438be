"""The item of the active region: in a table for it alone, which all regions read and write.

In DynamoDB, the table is a global table with strong consistency between regions, so a region that is cut off
can neither read nor write it.
"""

from __future__ import annotations

from duetime.errors import Unsupported
from duetime.model.active_region import ActiveRegion
from duetime.ports.keyed_items import INSTANT, IS_NEW, NUMBER, TEXT, Fields, Items, Keyed, Kind, Write

REGION = Kind(
    name="active region",
    partition="system#region",
    sort="active",
    fields=dict.fromkeys(("region", "target", "source", "by"), TEXT) | {"epoch": NUMBER, "moved_at": INSTANT},
    guard=("epoch", "region"),
    writers="`failover`",
)
KEY = REGION.key("active")


class ActiveRegions(Keyed):
    """The item that states which region is active. All regions read and write one and the same item.

    Attributes:
        own: the region of this process; empty if the deployment has no standby region.
    """

    def __init__(self, items: Items, own: str) -> None:
        super().__init__(items)
        self.own = own

    def read(self) -> ActiveRegion | None:
        """Return the item by a read that sees each write that ended before, of any region.

        Raises:
            BackendUnavailable: it cannot be read, as in a region that is cut off.
        """
        return self._items.get(REGION, KEY, _to_region)

    def change(self, old: ActiveRegion | None, new: ActiveRegion) -> bool:
        """Replace `old` by `new`; None stands for no item.

        Return False, and change nothing, if the item is another one. An item that equals `new` was written by
        the first attempt of this call: return True.
        """
        as_read = IS_NEW if old is None else REGION.as_read(old)
        outcome = self._items.write(Write(kind=REGION, key=KEY, guard=as_read, put=REGION.of(new)))
        return outcome.is_written or outcome.read(_to_region) == new


class NoRegions(ActiveRegions):
    """A deployment without a standby region."""

    def __init__(self) -> None:
        self.own = ""

    def read(self) -> ActiveRegion | None:
        """Return None."""
        return None

    def change(self, old: ActiveRegion | None, new: ActiveRegion) -> bool:
        """Raise `Unsupported`, since no process would read the item."""
        del old
        raise Unsupported(
            f"this deployment has no standby region, so {new.target!r} cannot become active; deploy with the"
            " setting regions_table first"
        )


def _to_region(item: Fields) -> ActiveRegion:
    return ActiveRegion(**REGION.values(item))
