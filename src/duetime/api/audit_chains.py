"""The chains of this process: each audit entry that it stores gets the link of its record.

A process writes a chain for each tenant, so no two processes write one item, and a tenant can verify its
entries alone.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable

from duetime import ids, instant
from duetime.ids import TenantId
from duetime.model.audit import AuditEntry, AuditLink
from duetime.model.audit_chain import ChainHead
from duetime.ports.access import AuditTrail

log = logging.getLogger(__name__)

_MOST = 1_000
"""The tenants whose chains a process remembers; the oldest chain ends for a further tenant."""


class AuditChains:
    """Stores entries in order. Each record's hash is also logged, outside of the table.

    If a record may not have been stored, its chain ends: a missing record is always a finding.
    """

    def __init__(self, trail: AuditTrail, random_bytes: ids.Entropy) -> None:
        self._trail, self._entropy = trail, random_bytes
        self._heads = OrderedDict[TenantId, ChainHead]()

    def begin(self, entry: AuditEntry) -> AuditEntry:
        """Store an entry before its change, and return it with its link.

        Raises:
            BackendUnavailable: the entry may not be stored.
        """
        return self._store(entry, self._trail.begin)

    def end(self, entry: AuditEntry) -> None:
        """Store an entry with its result.

        Raises:
            BackendUnavailable: the result may not be stored.
        """
        self._store(entry, self._trail.end)

    def _store(self, entry: AuditEntry, write: Callable[[AuditEntry], None]) -> AuditEntry:
        head = self._heads.pop(entry.tenant_id, None)  # so a record stored at once begins another chain
        chain = head or ChainHead(ids.new_action_id(entry.requested_at, self._entropy))
        linked, after = chain.append(entry)
        write(linked)
        self._heads[entry.tenant_id] = after
        if len(self._heads) > _MOST:
            self._heads.popitem(last=False)
        _log(linked, linked.links[-1])
        return linked


def _log(entry: AuditEntry, link: AuditLink) -> None:
    record = {"chain": link.chain, "number": link.number, "hash": link.hash}
    place = {"tenant_id": entry.tenant_id, "entry": entry.id, "expires_at": instant.text(entry.expires_at)}
    log.info("audit record", extra={**place, **record})
