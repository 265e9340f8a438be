"""The cloud whose tables are in memory, which knows when its next sweep can find a row."""

from __future__ import annotations

from datetime import datetime, timedelta

from duetime.embedded.cloud import InProcessCloud
from duetime.jobs.plan import LEAD
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.rate_limits import MemorySetLimits
from duetime.memory.run_counts import MemoryRunCounts
from duetime.memory.store import MemoryStore
from duetime.memory.undelivered import MemoryBodies, MemoryUndelivered
from duetime.memory.usage import MemoryUsageCounts
from duetime.memory.work_pauses import MemoryWorkPauses
from duetime.ports.undelivered import UndeliveredPorts
from duetime.settings import Settings
from duetime.wakeups.timer_budget import WITHOUT_TIMERS
from duetime.wakeups.wheel import BOOKMARK, TURN


class MemoryCloud(InProcessCloud):
    """Tables, queues, timers, and the steps over them, in memory."""

    store: MemoryStore
    job_store: MemoryJobStore
    pauses: MemoryWorkPauses

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`, here and below."""
        self.store = MemoryStore(
            due_shards=settings.due_shards, on_change=self._changed, on_batch=self._batch_written
        )
        self.job_store = MemoryJobStore(self.store, on_change=self._record_fact)
        self.undelivered_ports = UndeliveredPorts(MemoryUndelivered(), MemoryBodies())
        self.pauses = MemoryWorkPauses(on_change=self._record_fact)
        self.limits = MemorySetLimits()
        self.run_counts, self.usage_counts = MemoryRunCounts(), MemoryUsageCounts()

    def use_due_shards(self, number: int) -> None:
        """Rows that are there stay in their shards."""
        self.store.due_shards = tuple(map(str, range(number)))

    def remove_expired(self, now: datetime) -> None:
        """With their idempotency keys."""
        self.store.remove_expired(now)

    def next_sweep_at(self) -> datetime | None:
        """From the earliest rows and jobs, in whole turns of the sweep."""
        looks = self._rearms or self.store.has_held()
        overdue_at = self.sweep_at if looks else self._overdue_at()
        maintain_at = self.job_store.earliest_maintenance()
        finds = [
            instant for instant in (overdue_at, maintain_at and maintain_at - LEAD) if instant is not None
        ]
        if not finds:
            return None
        idle = max(min(finds) - self.sweep_at, timedelta(0))
        return self.sweep_at + -(-idle // self.settings.sweep_rate) * self.settings.sweep_rate

    @property
    def _rearms(self) -> bool:
        """Whether each pass sets timers for rows of the wheel."""
        return self.settings.timers == "eventbridge" and bool(self.bookmarks.read(BOOKMARK))

    def _overdue_at(self) -> datetime | None:
        """Return when the sweep, or the wheel, finds the row that is due first."""
        earliest = self.store.earliest_due()
        if earliest is None:
            return None
        has_wheel = self.settings.timers == "wheel" or any(
            map(self.bookmarks.read, (BOOKMARK, WITHOUT_TIMERS))
        )
        if has_wheel:
            return earliest + TURN - self.settings.near_limit
        return earliest + (timedelta(0) if self.pauses.by_id else self.settings.grace)
