"""The place of a failed action among the failed ones: by the instant of the failure, then by id. Facts only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from duetime import ids, instant
from duetime.action import Action
from duetime.errors import InvalidCursor, InvalidTime

_BETWEEN = "|"


@dataclass(frozen=True, slots=True, order=True)
class FailedMark:
    """Where a list of failed actions stands; its text is the cursor."""

    failed_at: datetime
    id: str

    @classmethod
    def of(cls, row: Action) -> Self:
        """The place of a row."""
        return cls(row.failed_at, row.id)

    def __str__(self) -> str:
        return f"{instant.text(self.failed_at)}{_BETWEEN}{self.id}"

    @classmethod
    def parse(cls, cursor: str) -> Self:
        """Read a cursor.

        Raises:
            InvalidCursor: it is none.
        """
        written, _, action_id = cursor.partition(_BETWEEN)
        if not ids.is_action_id(action_id):
            raise InvalidCursor
        try:
            return cls(instant.parse(written), action_id)
        except InvalidTime:
            raise InvalidCursor from None
