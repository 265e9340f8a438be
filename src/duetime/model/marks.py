"""The positions of actions in sorted lists. The text of a mark is the list's cursor. Facts only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from duetime import ids, instant
from duetime.errors import InvalidCursor
from duetime.model.action import Action, ActionRef

_SEPARATOR = " "
"""No instant, id or tenant contains it."""


@dataclass(frozen=True, slots=True, order=True)
class DueMark:
    """A position in a tenant's due order: by due time, then by id."""

    due_at: datetime
    id: ids.ActionId

    @classmethod
    def from_row(cls, row: Action) -> Self:
        """Return the position of a row."""
        return cls(row.due_at, row.id)

    def __str__(self) -> str:
        return _SEPARATOR.join((instant.text(self.due_at), self.id))

    @classmethod
    def parse(cls, cursor: str) -> Self:
        """Read a cursor of a list in due order.

        Raises:
            InvalidCursor: it is no such cursor.
        """
        try:
            due_at, action_id = cursor.split(_SEPARATOR)
            mark = cls(instant.parse(due_at), ids.ActionId(action_id))
        except (ValueError, OverflowError):
            raise InvalidCursor from None
        if not ids.is_one_shot(action_id) or not ids.is_action_id(action_id) or str(mark) != cursor:
            raise InvalidCursor
        return mark


@dataclass(frozen=True, slots=True, order=True)
class FailedMark:
    """A position among failed actions: by the instant of the failure, then by id and tenant."""

    failed_at: datetime
    id: ids.ActionId
    tenant_id: ids.TenantId

    @classmethod
    def from_row(cls, row: Action) -> Self:
        """Return the position of a row."""
        return cls(row.failed_at, row.id, row.tenant_id)

    @property
    def ref(self) -> ActionRef:
        """The key of the row."""
        return ActionRef(self.tenant_id, self.id)

    def __str__(self) -> str:
        return _SEPARATOR.join((instant.text(self.failed_at), self.id, self.tenant_id))

    @classmethod
    def parse(cls, cursor: str, tenants: Collection[ids.TenantId]) -> Self:
        """Read a cursor of a list of these tenants' actions.

        Raises:
            InvalidCursor: it is no such cursor.
        """
        try:
            failed_at, action_id, tenant_id = cursor.split(_SEPARATOR)
            mark = cls(instant.parse(failed_at), ids.ActionId(action_id), ids.TenantId(tenant_id))
        except (ValueError, OverflowError):
            raise InvalidCursor from None
        if tenant_id not in tenants or not ids.is_action_id(action_id) or str(mark) != cursor:
            raise InvalidCursor
        return mark
