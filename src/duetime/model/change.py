"""The change of a row, as a record of the table's stream. Facts only."""

from __future__ import annotations

from dataclasses import dataclass

from duetime.model.action import Action, Status


@dataclass(frozen=True, slots=True)
class Change:
    """A row before and after a write; None stands for no row."""

    old: Action | None
    new: Action | None

    @property
    def became_pending(self) -> Action | None:
        """The row, if it is pending with a due time that it did not have before."""
        new, old = self.new, self.old
        if new is None or new.status is not Status.PENDING or (old and old.generation == new.generation):
            return None
        return new

    @property
    def ended_hand_over(self) -> Action | None:
        """The row, if its hand-over has ended: by a completion, a failure or a cancel."""
        old, new = self.old, self.new
        if old is None or new is None or not old.is_handed_over:
            return None
        return None if new.status is Status.PROCESSING else new

    @property
    def left_pending(self) -> Action | None:
        """The row as it was, if it is no longer pending with that due time."""
        old, new = self.old, self.new
        if old is None or old.status is not Status.PENDING:
            return None
        stays = new is not None and new.status is Status.PENDING and new.generation == old.generation
        return None if stays else old
