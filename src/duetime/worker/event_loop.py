"""One event loop for the async handlers of a batch."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

log = logging.getLogger(__name__)

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
