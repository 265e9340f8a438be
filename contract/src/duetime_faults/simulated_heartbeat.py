"""The heartbeat of simulated processes: renews leases by the simulation's clock."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from heapq import heappop, heappush
from itertools import count

from duetime.clock import Clock
from duetime.memory.backends import MemoryBackends
from duetime.worker.heartbeat import Heartbeat, WatchedRun
from duetime_faults.processes import Judge, Process, Processes


class SimulatedHeartbeat(Heartbeat):
    """A heartbeat without a thread; `beat` runs in the process of the run."""

    def __init__(self, seen: MemoryBackends, processes: Processes, judge: Judge) -> None:
        super().__init__(seen)
        self._processes, self._judge, self._poll = processes, judge, seen.settings.cancel_poll
        self._beats: list[tuple[datetime, int, Process, WatchedRun]] = []
        self._numbers = count()

    def _begin(self, watched: WatchedRun) -> None:
        self._watched.add(watched)
        self._beat_again(self._processes.current, watched)

    def _end(self, watched: WatchedRun) -> None:
        self._watched.discard(watched)

    def next_at(self) -> datetime | None:
        """Return when the next beat is due."""
        while self._beats and self._has_ended(*self._beats[0][2:]):
            heappop(self._beats)
        return self._beats[0][0] if self._beats else None

    def beat(self, clock: Clock) -> None:
        """Do the due beats; a paused process beats when it resumes."""
        while self._beats and self._beats[0][0] <= clock.now():
            _, _, process, watched = heappop(self._beats)
            if self._has_ended(process, watched):
                continue
            if process.paused_until is None or process.paused_until <= clock.now():
                self._processes.start(
                    process, partial(self.look_after, watched), partial(self._over, process, watched)
                )
            self._beat_again(process, watched)

    def _beat_again(self, process: Process, watched: WatchedRun) -> None:
        now = self._processes.clock.now()
        heappush(
            self._beats,
            (max(now + self._poll, process.paused_until or now), next(self._numbers), process, watched),
        )

    def _has_ended(self, process: Process, watched: WatchedRun) -> bool:
        return process.is_dead or watched not in self._watched

    def _over(self, process: Process, watched: WatchedRun, error: BaseException | None) -> None:
        self._judge(process.name, watched.action.id, error)
