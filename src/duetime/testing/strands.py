"""A strand: a thread that runs only while somebody waits for it, so that of many no two ever run at once.

What happens in which order is then decided by whoever resumes them, and by nothing else: a simulation may stop the
work of one process in the middle, let another go on, and do exactly the same again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class SteppedThread:
    """Runs `do` in steps: each `resume` goes on to the next `park`, or to the end."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do
        self._hand: _Hand | None = None
        self.is_over = False
        self.error: BaseException | None = None

    def resume(self) -> None:
        """Go on, and return when it has parked or ended. Called from outside."""
        if self._hand is None:
            self._hand = _a_hand()
            self._hand.take(self)
        self._hand.go_on()
        if self.is_over:
            _idle.append(self._hand)

    def park(self) -> None:
        """Stand still until somebody resumes it. Called from inside."""
        if self._hand is not None:
            self._hand.stand_still()

    def live(self) -> None:
        """Be the work of a thread."""
        try:
            self._do()
        except BaseException as error:  # noqa: BLE001 - whoever resumed it judges
            self.error = error
        self.is_over = True


class _Hand(threading.Thread):
    """A thread that serves one strand after the other."""

    def __init__(self) -> None:
        super().__init__(name="duetime-strand", daemon=True)
        self._strand: SteppedThread | None = None
        self._go, self._stopped = _closed(), _closed()
        self.start()

    def take(self, strand: SteppedThread) -> None:
        self._strand = strand

    def go_on(self) -> None:
        """Let it work until it stands still. Called from outside."""
        self._go.release()
        self._stopped.acquire()

    def stand_still(self) -> None:
        """Wait until it may go on. Called from inside."""
        self._stopped.release()
        self._go.acquire()

    def run(self) -> None:
        self._go.acquire()
        while True:
            strand, self._strand = self._strand, None
            if strand is not None:
                strand.live()
            del strand  # nor keep what it held while there is nothing to do
            self.stand_still()


_idle: list[_Hand] = []


def _a_hand() -> _Hand:
    try:
        return _idle.pop()
    except IndexError:
        return _Hand()


def _closed() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock
