"""Pauses of work in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from duetime.model.work_pause import WorkPause, WorkPauseChange


class MemoryWorkPauses:
    """Pauses in a dictionary.

    See `duetime.ports.work_pauses.WorkPauses`.
    """

    def __init__(self, on_change: Callable[[WorkPauseChange], None] = lambda _change: None) -> None:
        self._pauses: dict[str, WorkPause] = {}
        self._on_change = on_change

    def list(self) -> Sequence[WorkPause]:
        return sorted(self._pauses.values(), key=lambda pause: pause.id)

    def begin(self, pause: WorkPause) -> None:
        if pause.id not in self._pauses:
            self._put(pause)

    def end(self, pause: WorkPause) -> None:
        current = self._pauses.get(pause.id)
        if current is not None and current.ended_at is None:
            self._put(pause)

    def _put(self, pause: WorkPause) -> None:
        old, self._pauses[pause.id] = self._pauses.get(pause.id), pause
        self._on_change(WorkPauseChange(old, pause))
