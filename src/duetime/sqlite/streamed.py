"""The cloud whose tables other processes write, too: it takes their changes as from a stream."""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from threading import Thread
from typing import Any

from duetime.aws.keys import is_batch, ref_of
from duetime.aws.streams import subject_of
from duetime.embedded.cloud import InProcessCloud
from duetime.errors import UnreadableRow
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.ports.wakeups import Delivery

log = logging.getLogger(__name__)


class StreamedCloud(InProcessCloud):
    """A cloud with threads that look for changes; its due shards stay, and no sweep is left out."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._is_closed, self._watchers = threading.Event(), list[Thread]()
        super().__init__(*args, **options)

    def watch(self, look: Callable[[], bool], pause: float) -> None:
        """Look in a thread every `pause` seconds; each finding wakes the cloud."""

        def work() -> None:
            while not self._is_closed.wait(pause):
                try:
                    if look():
                        self._wake()
                except Exception:  # the next look may succeed
                    log.debug("a look for changes failed", exc_info=True)

        self._watchers.append(Thread(target=work, name="duetime-watch", daemon=True))
        self._watchers[-1].start()

    @abstractmethod
    def take_changes(self) -> Iterable[Mapping[str, Any]]:
        """Take the images of the changes that were found, oldest first."""

    def turn(self) -> Delivery | None:
        """See `InProcessCloud`; first take the changes of others."""
        for images in self.take_changes():
            self.take(images)
        return super().turn()

    def take(self, images: Mapping[str, Any]) -> None:
        """Take one change."""
        new = images.get("NewImage", {})
        if new and is_batch(new):
            ref = ref_of(new)
            self._batch_written(BatchRef(ref.tenant_id, ref.id))
            return
        try:
            fact = subject_of(images)
        except UnreadableRow:
            log.exception("an item is unreadable")
            return
        if isinstance(fact, Change):
            self._changed(fact)
        elif fact is not None:
            self._record_fact(fact)

    def use_due_shards(self, number: int) -> None:
        """See `InProcessCloud`, here and below."""

    def next_sweep_at(self) -> datetime | None:
        """Return the time of the next one."""
        return self.sweep_at

    def close(self) -> None:
        """End the looks."""
        self._is_closed.set()
        for watcher in self._watchers:
            watcher.join()
        super().close()
