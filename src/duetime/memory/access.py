"""Grants and the audit trail in memory."""

from __future__ import annotations

from duetime.clock import SystemClock
from duetime.memory.keyed_items import MemoryItems
from duetime.ports.access import AuditTrail, Grants


class MemoryGrants(Grants):
    """Grants over a dictionary."""

    def __init__(self) -> None:
        super().__init__(MemoryItems(), SystemClock())


class MemoryAuditTrail(AuditTrail):
    """Entries over a dictionary."""

    def __init__(self) -> None:
        super().__init__(MemoryItems())
