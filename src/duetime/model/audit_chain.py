"""The hash chain of audit entries: the links of its records.

A record's hash covers the content of its entry at that time, its place in the chain, and the hash of the
record before. `duetime.model.audit_verification` finds what does not fit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from duetime import instant
from duetime.model.audit import AuditEntry, AuditLink


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a chain: the next record follows it."""

    chain: str
    number: int = 0
    hash: str = ""

    def append(self, entry: AuditEntry) -> tuple[AuditEntry, ChainHead]:
        """Return the entry with the link of its next record, and the new head.

        An entry without a status begins; one with a status ends.
        """
        unhashed = AuditLink(chain=self.chain, number=self.number + 1, previous=self.hash, hash="")
        link = replace(unhashed, hash=hash_of(entry, unhashed, is_end=entry.status is not None))
        head = ChainHead(link.chain, link.number, link.hash)
        if entry.status is None:
            return replace(entry, begun_link=link), head
        return replace(entry, ended_link=link), head


def hash_of(entry: AuditEntry, link: AuditLink, *, is_end: bool) -> str:
    """Return the hash that the record of an entry has at a link.

    Args:
        entry: the entry, ended or not.
        link: the record's; its own hash is ignored.
        is_end: whether the record has the entry's result.
    """
    record = _begun(entry) | {"chain": link.chain, "number": link.number, "previous": link.previous}
    if is_end:
        begun = None if entry.begun_link is None else entry.begun_link.hash
        record |= {"status": entry.status, "result": entry.result, "begun": begun}
    return sha256(json.dumps(record, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _begun(entry: AuditEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "tenant_id": entry.tenant_id,
        "target": str(entry.target),
        "operation": entry.operation,
        "by": entry.by,
        "subject": entry.subject,
        "roles": list(entry.roles),
        "address": entry.address,
        "requested_at": instant.text(entry.requested_at),
        "request_fields": entry.request_fields,
        "expires_at": instant.text(entry.expires_at),
    }
