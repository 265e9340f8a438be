"""The interface to the item of the active region, written as a specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from duetime.errors import Unsupported

if TYPE_CHECKING:
    from duetime.model.active_region import ActiveRegion


class ActiveRegions(Protocol):
    """The item that states which region is active. All regions read and write one and the same item."""

    @property
    def own(self) -> str:
        """The region of this process; empty if the deployment has no standby region."""

    def read(self) -> ActiveRegion | None:
        """Return the item by a read that sees each write that ended before, of any region.

        Raises:
            BackendUnavailable: it cannot be read, as in a region that is cut off.
        """

    def change(self, old: ActiveRegion | None, new: ActiveRegion) -> bool:
        """Replace `old` by `new`; None stands for no item.

        Return False, and change nothing, if the item is another one. An item that equals `new` was written by
        the first attempt of this call: return True.
        """


class NoRegions:
    """A deployment without a standby region."""

    own = ""

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
