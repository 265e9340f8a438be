"""The embedded scheduler: everything in this process, by the real clock.

A worker logs failures of handlers at INFO. A process without logging, or with logging at WARNING, would never
show them: a job could fail there for weeks. So the embedded scheduler logs them itself there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from duetime.clock import SystemClock
from duetime.embedded.cloud import InProcessCloud, MemoryCloud
from duetime.environment import instance_name
from duetime.ids import tenant
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings, check_variables

if TYPE_CHECKING:
    from duetime.app import App
    from duetime.jobs.reconcile import Reconciled
    from duetime.scheduler import Scheduler

log = logging.getLogger(__name__)


CONCURRENCY = 8
_EVENTS_WAIT = timedelta(seconds=1)
"""The longest wait of lifecycle events behind due runs."""

_AFTER_A_FAILURE = 1.0
_RUNS_ON = 0.1
"""Seconds for which a thread takes its next deliveries itself, before the engine's thread has its turn."""


@contextmanager
def embedded(
    make_scheduler: Callable[..., Scheduler],
    app: App,
    *,
    tenant_id: str,
    actor: str,
    worker_batch: int,
    make: Callable[..., InProcessCloud] = MemoryCloud,
    **options: Any,
) -> Iterator[Scheduler]:
    """See `duetime.App.embedded`. `make` creates the cloud, with `options`."""
    settings = Settings(worker_batch=worker_batch, tenants=tenant(tenant_id))
    engine = Engine(app, settings, make, **options)
    with failures_logged():
        engine.start()
        try:
            ports = engine.cloud.ports
            yield make_scheduler(
                ports.store, tenant_id=tenant_id, actor=actor, **ports.of_schedulers(settings)
            )
        finally:
            engine.stop()


class Engine:
    """One thread turns the cloud; a pool runs the handlers."""

    def __init__(
        self,
        app: App,
        settings: Settings,
        make: Callable[..., InProcessCloud] = MemoryCloud,
        *,
        concurrency: int = CONCURRENCY,
        **options: Any,
    ) -> None:
        check_variables()
        self.clock, self._turning = SystemClock(), threading.Lock()
        self._woken = threading.Event()
        self._stopped = False
        self.cloud = make(
            app,
            **options,
            clock=self.clock,
            settings=settings,
            instance=instance_name(),
            wake=self._wake,
            events_wait=_EVENTS_WAIT,
        )
        self._pool, self._free = Threads("duetime-worker", concurrency), threading.Semaphore(concurrency)
        self._thread = threading.Thread(target=self._turn, name="duetime-embedded", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, longest: timedelta | None = None) -> int:
        """Start nothing more, and wait for what is running; return how many run after the `longest` time."""
        self._stopped = True
        self._woken.set()
        self._free.release()  # the thread may wait for it
        if self._thread.is_alive():
            self._thread.join()
        left = self._pool.stop(longest)
        self.cloud.close()
        return left

    def deploy(self, app: App, settings: Settings) -> Reconciled:
        """Replace the app and the settings between two turns; see `InProcessCloud.deploy`."""
        with self._turning:
            reconciled = self.cloud.deploy(app, settings)
            self.cloud.sweep_at = self.clock.now()  # it begins what was held
        self._wake()
        return reconciled

    def _turn(self) -> None:
        while self._free.acquire() and not self._stopped:
            try:
                with self._turning:
                    delivery, rest = self.cloud.turn(), None
            except Exception:  # no error ends the thread
                log.exception("a turn failed, the next one begins soon")
                delivery, rest = None, _AFTER_A_FAILURE
            if delivery is not None:
                self._pool.submit(partial(self._run, delivery))
                continue
            self._free.release()
            self._woken.wait(rest or (self.cloud.next_at() - self.clock.now()).total_seconds())
            self._woken.clear()

    def _wake(self) -> None:
        if not self._woken.is_set():  # cheaper than to set it again
            self._woken.set()

    def _run(self, delivery: Delivery | None) -> None:
        """Run a delivery, and for a moment the next ones: a hand-over to a thread takes as long as a run."""
        until = self.clock.elapsed() + _RUNS_ON
        try:
            while delivery is not None:
                self._handle(delivery)
                goes_on = not self._stopped and self.clock.elapsed() < until
                delivery = self.cloud.receive() if goes_on else None
        finally:
            self._free.release()
            self._wake()  # to publish what has happened

    def _handle(self, delivery: Delivery) -> None:
        try:
            self.cloud.run(delivery, *self.cloud.companions(delivery))
        except BaseException:  # as a process that dies, it takes no other run with it
            log.exception("delivery failed, it will come again")


class Threads:
    """Threads that carry out calls. They are daemons: a call without end delays no exit."""

    def __init__(self, name: str, number: int) -> None:
        self._calls = SimpleQueue[Callable[[], object] | None]()
        self._threads = [Thread(target=self._work, name=name, daemon=True) for _ in range(number)]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Callable[[], object]) -> None:
        """Have the next free thread call a function, which raises nothing."""
        self._calls.put(call)

    def stop(self, longest: timedelta | None = None) -> int:
        """Wait until all calls have ended, at most so long; return how many threads have not."""
        for _ in self._threads:
            self._calls.put(None)
        clock = SystemClock()
        end = None if longest is None else clock.elapsed() + longest.total_seconds()
        for thread in self._threads:
            thread.join(None if end is None else max(0.0, end - clock.elapsed()))
        return sum(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


_LOGGERS = ("duetime.worker.run_handler", "duetime.telemetry.run_log")
_FAILURES = ("duetime.worker.run_handler", "duetime.telemetry.run_log.failures")
_FAILURE_LINE = "%(asctime)s duetime: %(type)s: %(message)s (%(action)s)"


@contextmanager
def failures_logged() -> Iterator[None]:
    """Within the block, send handlers' exceptions and final failures to logging's handlers or stderr."""
    with ExitStack() as stack:
        for name in _LOGGERS:
            stack.enter_context(_with_handler(logging.getLogger(name)))
        for name in _FAILURES:
            stack.enter_context(_at_info(logging.getLogger(name)))
        yield


@contextmanager
def _with_handler(logger: logging.Logger) -> Iterator[None]:
    if logger.hasHandlers():
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_FAILURE_LINE, defaults={"type": "-", "action": "-"}))
    handler.addFilter(_is_failure)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def _at_info(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    if not logger.isEnabledFor(logging.INFO):
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)


def _is_failure(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name in _FAILURES
