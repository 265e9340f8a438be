"""The audit entry of an export or an erase. It is in the system's trail, so it survives the erase.

Each entry is a chain of its own, named for it: a repeated command writes the same records.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.model.audit_chain import ChainHead


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
    entry = AuditEntry(
        id=entry_id,
        tenant_id=SYSTEM_TENANT,
        target=AuditTarget(AuditKind.TENANT, tenant_id),
        operation=operation,
        by=by,
        roles=(),
        address=None,
        requested_at=at,
        request_fields=fields,
        expires_at=expires_at.replace(microsecond=0),
    )
    return ChainHead(entry_id).append(entry)[0]


def ended(begun: AuditEntry, result: Mapping[str, Any]) -> AuditEntry:
    """Return the entry after the work, with the link of its second record."""
    link = begun.begun_link
    head = ChainHead(begun.id) if link is None else ChainHead(link.chain, link.number, link.hash)
    return head.append(begun.ended(200, result))[0]
