"""Stepped threads: a thread runs only while its caller waits for it, so no two run at once.

The caller alone decides the order. A simulation can suspend one process, resume another, and repeat both
exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class SteppedThread:
    """Runs `do` in steps: `resume` continues to the next `park` or to the end."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do
        self._thread_in_use: _PooledThread | None = None
        self.is_over = False
        self.error: BaseException | None = None

    def resume(self) -> None:
        """Continue, and return when it has parked or ended. The caller calls it."""
        if self._thread_in_use is None:
            self._thread_in_use = _pooled_thread()
            self._thread_in_use.take(self)
        self._thread_in_use.go_on()
        if self.is_over:
            _idle.append(self._thread_in_use)

    def park(self) -> None:
        """Wait for the next `resume`. The thread itself calls it."""
        if self._thread_in_use is not None:
            self._thread_in_use.stand_still()

    def live(self) -> None:
        """Run `do` and store its error."""
        try:
            self._do()
        except BaseException as error:  # noqa: BLE001 - the caller handles it
            self.error = error
        self.is_over = True


class _PooledThread(threading.Thread):
    """A thread that runs one stepped thread after another."""

    def __init__(self) -> None:
        super().__init__(name="duetime-strand", daemon=True)
        self._strand: SteppedThread | None = None
        self._go, self._stopped = _closed(), _closed()
        self.start()

    def take(self, strand: SteppedThread) -> None:
        self._strand = strand

    def go_on(self) -> None:
        """Let it work until it parks. The caller calls it."""
        self._go.release()
        self._stopped.acquire()

    def stand_still(self) -> None:
        """Wait until it may continue. The thread itself calls it."""
        self._stopped.release()
        self._go.acquire()

    def run(self) -> None:
        self._go.acquire()
        while True:
            strand, self._strand = self._strand, None
            if strand is not None:
                strand.live()
            del strand  # release its objects while idle
            self.stand_still()


_idle: list[_PooledThread] = []


def _pooled_thread() -> _PooledThread:
    try:
        return _idle.pop()
    except IndexError:
        return _PooledThread()


def _closed() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock
