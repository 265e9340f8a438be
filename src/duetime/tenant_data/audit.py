"""The audit entry of an export or an erase. It is in the system's trail, so it survives the erase."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget


def entry_of(
    tenant_id: TenantId,
    operation: str,
    *,
    entry_id: str,
    by: str,
    at: datetime,
    expires_at: datetime,
    fields: Mapping[str, Any],
) -> AuditEntry:
    """Return the entry before the work begins.

    Args:
        tenant_id: the tenant that is exported or erased.
        operation: ``export`` or ``erase``.
        entry_id: the id; a repeated command has the same.
        by: the operator.
        at: when the work began.
        expires_at: when the entry expires.
        fields: the options.
    """
    return AuditEntry(
        id=entry_id,
        tenant_id=SYSTEM_TENANT,
        target=AuditTarget(AuditKind.TENANT, tenant_id),
        operation=operation,
        by=by,
        roles=(),
        address=None,
        asked_at=at,
        request_fields=fields,
        expires_at=expires_at.replace(microsecond=0),
    )
