"""The embedded scheduler: everything in this process, by the real clock.

A worker logs failures of handlers at INFO. A process without logging, or with logging at WARNING, would never
show them: a job could fail there for weeks. So the embedded scheduler logs them itself there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from duetime.clock import SystemClock
from duetime.embedded.cloud import MemoryCloud
from duetime.environment import instance_name
from duetime.ports.wakeups import Delivery
from duetime.scheduler import Scheduler
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.app import App

log = logging.getLogger(__name__)


CONCURRENCY = 8


@contextmanager
def embedded(app: App, *, tenant_id: str, actor: str) -> Iterator[Scheduler]:
    """See `duetime.App.embedded`."""
    engine = Engine(app)
    with failures_logged():
        engine.start()
        try:
            yield Scheduler(
                engine.cloud.store,
                tenant_id=tenant_id,
                actor=actor,
                clock=engine.clock,
                settings=engine.settings,
                jobs=engine.cloud.job_ports,
                undelivered=engine.cloud.undelivered_ports,
                quotas=engine.cloud.usage_quotas,
            )
        finally:
            engine.stop()


class Engine:
    """One thread turns the memory cloud; a pool runs the handlers."""

    def __init__(self, app: App) -> None:
        self.clock, self.settings = SystemClock(), Settings()
        self._woken = threading.Event()
        self._stopped = False
        self.cloud = MemoryCloud(
            app,
            clock=self.clock,
            settings=self.settings,
            instance=instance_name(),
            wake=self._woken.set,
        )
        self._pool = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="duetime-worker")
        self._free = threading.Semaphore(CONCURRENCY)
        self._thread = threading.Thread(target=self._turn, name="duetime-embedded", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Start nothing more, and wait for what is running."""
        self._stopped = True
        self._woken.set()
        self._thread.join()
        self._pool.shutdown(wait=True)

    def _turn(self) -> None:
        while not self._stopped:
            self._free.acquire()
            delivery = self.cloud.turn()
            if delivery is not None:
                self._pool.submit(self._run, delivery)
                continue
            self._free.release()
            self._woken.wait((self.cloud.next_at() - self.clock.now()).total_seconds())
            self._woken.clear()

    def _run(self, delivery: Delivery) -> None:
        try:
            self.cloud.run(delivery)
        except Exception:
            log.exception("delivery failed, it will come again")
        finally:
            self._free.release()


_FAILURE_LOGGERS = ("duetime.worker.run_handler", "duetime.telemetry.run_log")
_FAILURE_LINE = "%(asctime)s duetime: %(type)s: %(message)s (%(action)s)"


@contextmanager
def failures_logged() -> Iterator[None]:
    """Within the block, send handlers' exceptions and final failures to logging's handlers or stderr."""
    with ExitStack() as stack:
        for name in _FAILURE_LOGGERS:
            stack.enter_context(_failures_of(logging.getLogger(name)))
        yield


@contextmanager
def _failures_of(logger: logging.Logger) -> Iterator[None]:
    has_handlers, level = logger.hasHandlers(), logger.level
    if has_handlers and logger.isEnabledFor(logging.INFO):
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_FAILURE_LINE, defaults={"type": "-", "action": "-"}))
    if not has_handlers:
        logger.addHandler(handler)
    logger.addFilter(_is_failure)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeFilter(_is_failure)
        logger.removeHandler(handler)


def _is_failure(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or hasattr(record, "is_failure")
