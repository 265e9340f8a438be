"""A batch of deliveries in one process: each has a claim, a lease, a context and a result of its own.

::

    deliveries ── one thread each ── wait for its due time ── claim ── run ── settle
               │
               └─ those of a handler of many, due at one time: claims at once ── one run ── settles at once

    then, one by one: actions whose former worker died in the middle of a run

A run that ends its process ends the others too. They all come again, so the one that did it would come with
the same others, until each had died too often. So a dead run is taken over only while no other is under way.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Hashable, Iterator, Mapping, Sequence
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from duetime import instant
from duetime.clock import Clock
from duetime.declare.call_result import RunCoroutine
from duetime.errors import BackendUnavailable
from duetime.model.lease import MustBeAlone
from duetime.model.run import WorkerDied
from duetime.ports.wakeups import Delivery
from duetime.worker.worker import DeliveryResult, Execution, Worker

log = logging.getLogger(__name__)


Step = Callable[[], None]
Concurrently = Callable[[Sequence[Step]], None]
"""Runs steps at the same time, each in a context of its own, and returns when all have ended.

Raises `WorkerDied` if one did. Steps raise nothing else.
"""

_RESERVE = timedelta(seconds=5)
"""The time of a function that a run's claim and settle may need beside its handler."""

_NEARLY = 0.9
"""The share of a function's time that suffices for each handler."""

_AGAIN_AFTER = 20
"""Seconds after which an action for which there is no time comes again."""


def in_threads(steps: Sequence[Step]) -> None:
    """Run each step in a thread."""
    died: list[WorkerDied] = []

    def run(step: Step) -> None:
        try:
            step()
        except WorkerDied as error:
            died.append(error)

    started: list[threading.Thread] = []
    for step in steps:
        thread = threading.Thread(
            target=copy_context().run, args=(run, step), name="duetime-run", daemon=True
        )
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            continue  # the step has no result, so its message comes again
        started.append(thread)
    for thread in started:
        thread.join()
    if died:
        raise died[0]


def in_turn(steps: Sequence[Step]) -> None:
    """Run one step after another."""
    for step in steps:
        copy_context().run(step)


_tasks_of_run: ContextVar[set[asyncio.Task[Any]] | None] = ContextVar("tasks of the run", default=None)


class SharedEventLoop:
    """An event loop in a thread of its own, which begins with the first coroutine.

    Each coroutine runs in the context of the thread that calls `run`. The tasks that it leaves behind are
    cancelled at its end, as `asyncio.run` does.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._changing = threading.Lock()

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that raises nothing, beside those of other threads, until it ends."""
        asyncio.run_coroutine_threadsafe(_to_its_end(coroutine), self._started()).result()

    def close(self) -> None:
        """End the loop, after all coroutines."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._changing:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_task_factory(_task)
                self._thread = threading.Thread(
                    target=_go_on, args=(self._loop,), name="duetime-event-loop", daemon=True
                )
                self._thread.start()
            return self._loop


def _go_on(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped; a task that raises ``SystemExit`` does not end it for the others."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop()
        is_stopped = False
        while not is_stopped:
            try:
                loop.run_forever()
                is_stopped = True
            except BaseException:  # the loop lets two exceptions of a task pass, after the task has them
                log.exception("a task of a handler tried to end the process")


def _task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
    """Make a task, and remember it with the run that made it."""
    task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **options)
    if (tasks := _tasks_of_run.get()) is not None:
        tasks.add(task)
    return task


async def _to_its_end(coroutine: Coroutine[Any, Any, None]) -> None:
    tasks: set[asyncio.Task[Any]] = set()
    _tasks_of_run.set(tasks)  # in this task's own copy of the context
    await coroutine
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


class HandleBatch:
    """Handles batches of deliveries for one worker."""

    def __init__(
        self,
        worker: Worker,
        *,
        clock: Clock,
        concurrently: Concurrently = in_threads,
        shares_loop: bool = True,
    ) -> None:
        """Make one for a worker.

        Args:
            worker: handles each delivery.
            clock: the worker's.
            concurrently: runs the deliveries at the same time.
            shares_loop: whether async handlers run on one event loop, instead of one each.
        """
        self._worker, self._clock, self._concurrently = worker, clock, concurrently
        self._shares_loop = shares_loop

    def __call__(
        self, deliveries: Sequence[Delivery], ends_at: datetime = instant.LATEST
    ) -> dict[int, BaseException]:
        """Handle the deliveries; return the error of each message that must come again, by its position.

        Args:
            deliveries: the messages of one call.
            ends_at: when Lambda ends the process.

        Raises:
            WorkerDied: a run ended its process; all messages come again.
        """
        loop = SharedEventLoop()
        run_coroutine = loop.run if self._shares_loop else None
        try:
            batch = _BatchInProgress(
                self._worker, self._clock, self._concurrently, run_coroutine, self._clock.now()
            )
            return batch.handle(deliveries, ends_at)
        finally:
            loop.close()


class _Begun(NamedTuple):
    """A claimed run of a handler of many, with the context of its log and trace."""

    number: int
    delivery: Delivery
    context: Context
    execution: Execution


@dataclass(eq=False, slots=True)
class _BatchInProgress:
    worker: Worker
    clock: Clock
    concurrently: Concurrently
    run_coroutine: RunCoroutine | None
    began_at: datetime
    errors: dict[int, BaseException] = field(default_factory=dict)
    alone: list[tuple[int, int, Delivery]] = field(default_factory=list)
    """Deliveries that must run alone, each after the number of its runs that died and its position."""

    def handle(self, deliveries: Sequence[Delivery], ends_at: datetime) -> dict[int, BaseException]:
        for number in range(len(deliveries)):  # a run that reports nothing comes again
            self.errors[number] = BackendUnavailable("this process", "the run has no result")
        self.concurrently([*self._steps(deliveries)])
        for _, number, delivery in sorted(self.alone, key=lambda dead: dead[:2]):
            self._alone(number, delivery, ends_at)
        return self.errors

    def _steps(self, deliveries: Sequence[Delivery]) -> Iterator[Step]:
        """Yield a step for each delivery, or for those that one call of a handler takes."""
        now, groups = self.clock.now(), dict[Hashable, dict[int, Delivery]]()
        for number, delivery in enumerate(deliveries):
            message = delivery.message
            if self.worker.takes_many(delivery):
                groups.setdefault((message.type, max(message.due_at, now)), {})[number] = delivery
            else:
                yield partial(self._report, number, delivery, partial(self._one, delivery))
        yield from (partial(self._many, group) for group in groups.values())

    def _report(self, number: int, delivery: Delivery, do: Callable[[], object]) -> None:
        """Do the work of a delivery, and record how that ended."""
        try:
            result = do()
        except WorkerDied:
            raise
        except BaseException as error:  # noqa: BLE001 - it must not end the others
            self.errors[number] = error
            return
        if isinstance(result, MustBeAlone):
            self.alone.append((result.recoveries, number, delivery))
        elif isinstance(result, DeliveryResult):
            self.errors.pop(number)

    def _one(self, delivery: Delivery) -> object:
        return self.worker(delivery, shares_process=True, run_coroutine=self.run_coroutine)

    def _many(self, deliveries: Mapping[int, Delivery]) -> None:
        """Claim the runs, call their handler once, and settle them."""
        begun: list[_Begun] = []

        def begin(number: int, delivery: Delivery) -> object:
            context = copy_context()
            result = context.run(partial(self.worker.begin, delivery, shares_process=True))
            if not isinstance(result, Execution):
                return result
            begun.append(_Begun(number, delivery, context, result))
            return None

        try:
            self.concurrently(
                [partial(self._report, *one, partial(begin, *one)) for one in deliveries.items()]
            )
            self._run(begun)
        finally:
            for run in begun:
                run.context.run(run.execution.abandon)

    def _run(self, begun: Sequence[_Begun]) -> None:
        """Call the handler of claimed runs, and settle them."""
        try:
            claims = [run.execution.run for run in begun]
            outcomes = self.worker.run_many(claims, self.run_coroutine) if claims else ()
        except WorkerDied:
            raise
        except BaseException as error:  # noqa: BLE001 - of duetime's own, as without memory
            self.errors |= {run.number: error for run in begun}
            return
        self.concurrently(
            [
                partial(
                    self._report,
                    run.number,
                    run.delivery,
                    partial(run.context.run, run.execution.end, outcome),
                )
                for run, outcome in zip(begun, outcomes, strict=True)
            ]
        )

    def _alone(self, number: int, delivery: Delivery, ends_at: datetime) -> None:
        """Handle a delivery while no other is under way, if its handler has the time that it may take.

        A handler that may take all the time of the function has that of a call of its own, nearly.
        """
        left, allotted = ends_at - self.clock.now(), ends_at - self.began_at
        if left >= min(self.worker.timeout_of(delivery) + _RESERVE, allotted * _NEARLY):
            self._report(number, delivery, partial(self.worker, delivery))
        else:
            self._report(number, delivery, partial(self.worker.put_off, delivery, _AGAIN_AFTER))
