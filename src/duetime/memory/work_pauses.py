"""Pauses of work in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock

from duetime.ids import TenantId
from duetime.model.breaker import FailureCount
from duetime.model.work_pause import WorkPause, WorkPauseChange


class MemoryWorkPauses:
    """Pauses in a dictionary.

    See `duetime.ports.work_pauses.WorkPauses`.
    """

    def __init__(self, on_change: Callable[[WorkPauseChange], None] = lambda _change: None) -> None:
        self.by_id: dict[str, WorkPause] = {}
        self.failures_by_type: dict[tuple[TenantId, str], FailureCount] = {}
        self._on_change, self._lock = on_change, RLock()

    def list(self) -> Sequence[WorkPause]:
        return sorted(self.by_id.values(), key=lambda pause: pause.id)

    def begin(self, pause: WorkPause) -> None:
        if pause.id not in self.by_id:
            self._put(pause)

    def end(self, pause: WorkPause) -> None:
        current = self.by_id.get(pause.id)
        if current is not None and current.ended_at is None:
            self._put(pause)

    def replace(self, old: WorkPause, new: WorkPause) -> bool:
        with self._lock:
            current = self.by_id.get(old.id)
            if current == new:
                return True
            if current is None or current.ended_at is not None or current.breaker != old.breaker:
                return False
            self._put(new)
            return True

    def failures(self, tenant_id: TenantId, type_name: str) -> FailureCount:
        none = FailureCount(tenant_id=tenant_id, type=type_name)
        return self.failures_by_type.get((tenant_id, type_name), none)

    def count_failure(self, new: FailureCount, opened: WorkPause | None) -> bool:
        with self._lock:
            current = self.failures(new.tenant_id, new.type)
            if current != new:
                if current.revision != new.revision - 1:
                    return False
                self.failures_by_type[new.tenant_id, new.type] = new
            if opened is not None:
                self.begin(opened)
            return True

    def _put(self, pause: WorkPause) -> None:
        old, self.by_id[pause.id] = self.by_id.get(pause.id), pause
        self._on_change(WorkPauseChange(old, pause))
