"""The place of a failed action among the failed ones: by the instant of the failure, then by id and tenant.

Facts only.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from duetime import ids, instant
from duetime.errors import InvalidCursor
from duetime.model.action import Action, ActionRef

_BETWEEN = " "
"""No instant, id or tenant holds one."""


@dataclass(frozen=True, slots=True, order=True)
class FailedMark:
    """Where a list of failed actions stands; its text is the cursor."""

    failed_at: datetime
    id: ids.ActionId
    tenant_id: ids.TenantId

    @classmethod
    def of(cls, row: Action) -> Self:
        """The place of a row."""
        return cls(row.failed_at, row.id, row.tenant_id)

    @property
    def ref(self) -> ActionRef:
        """What leads to the row."""
        return ActionRef(self.tenant_id, self.id)

    def __str__(self) -> str:
        return _BETWEEN.join((instant.text(self.failed_at), self.id, self.tenant_id))

    @classmethod
    def parse(cls, cursor: str, tenants: Collection[ids.TenantId]) -> Self:
        """Read a cursor of a list of these tenants' actions.

        Raises:
            InvalidCursor: it is none.
        """
        try:
            written, action_id, tenant_id = cursor.split(_BETWEEN)
            mark = cls(instant.parse(written), ids.ActionId(action_id), ids.TenantId(tenant_id))
        except (ValueError, OverflowError):
            raise InvalidCursor from None
        if tenant_id not in tenants or not ids.is_action_id(action_id) or str(mark) != cursor:
            raise InvalidCursor
        return mark
