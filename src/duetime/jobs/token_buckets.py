"""Token buckets: limit how often a tenant does something, in this process alone."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.ids import TenantId

_MOST = 10_000
"""Tenants that a process remembers; a full bucket may be forgotten."""


class TokenBuckets:
    """One bucket for each tenant. It is full at first, and again after `window`. Safe between threads."""

    def __init__(self, clock: Clock, window: timedelta) -> None:
        self._clock, self._window = clock, window
        self._left: dict[TenantId, tuple[float, datetime]] = {}
        self._lock = threading.Lock()

    def take(self, tenant_id: TenantId, limit: int | None) -> bool:
        """Take a token; return whether there was one. `limit` is a bucket's size, None for no limit."""
        if limit is None:
            return True
        with self._lock:
            now = self._clock.now()
            left, since = self._left.pop(tenant_id, (limit, now))
            left = min(limit, left + limit * max((now - since) / self._window, 0))
            is_there = left >= 1
            self._left[tenant_id] = (left - 1 if is_there else left, now)
            if len(self._left) > _MOST:
                del self._left[next(iter(self._left))]  # the one that was used least recently
            return is_there
