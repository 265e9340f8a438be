"""The place of an action in its tenant's due order: by due time, then by id. Facts only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from duetime import ids, instant
from duetime.errors import InvalidCursor
from duetime.model.action import Action

_BETWEEN = " "
"""No instant and no id holds one."""


@dataclass(frozen=True, slots=True, order=True)
class DueMark:
    """Where a list in due order stands; its text is the cursor."""

    due_at: datetime
    id: ids.ActionId

    @classmethod
    def of(cls, row: Action) -> Self:
        """The place of a row."""
        return cls(row.due_at, row.id)

    def __str__(self) -> str:
        return _BETWEEN.join((instant.text(self.due_at), self.id))

    @classmethod
    def parse(cls, cursor: str) -> Self:
        """Read a cursor of a list in due order.

        Raises:
            InvalidCursor: it is none.
        """
        try:
            written, action_id = cursor.split(_BETWEEN)
            mark = cls(instant.parse(written), ids.ActionId(action_id))
        except (ValueError, OverflowError):
            raise InvalidCursor from None
        if not ids.is_one_shot(action_id) or not ids.is_action_id(action_id) or str(mark) != cursor:
            raise InvalidCursor
        return mark
