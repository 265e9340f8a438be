"""Child processes that hold all tests ready: each runs some, with or without a mutant, and ends."""

import json
import os
import select
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

CHILDREN = 2
ALARMS = frozenset({signal.SIGALRM, signal.SIGPROF, signal.SIGKILL})
"""What ends a child whose test takes too long, by the clock or on the processor."""


@dataclass
class Child:
    """A child at work."""

    pid: int
    reads: int
    task: Any


def run_all(
    tasks: Iterable[Any], work: Callable[[Any], Any], most: int = CHILDREN
) -> Iterator[tuple[Any, Any]]:
    """Run `work` on each task in a child of its own; yield the tasks with their results, in any order.

    The result is None if the child was ended by its alarm.
    """
    waiting, running = iter(tasks), list[Child]()
    try:
        while True:
            while len(running) < most and (task := next(waiting, None)) is not None:
                running.append(_start(task, work))
            if not running:
                return
            ready, _, _ = select.select([child.reads for child in running], [], [])
            for child in [child for child in running if child.reads in ready]:
                running.remove(child)
                yield child.task, _result(child)
    finally:
        for child in running:
            _end(child, is_over=False)


def _start(task: Any, work: Callable[[Any], Any]) -> Child:
    reads, writes = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writes)
        return Child(pid, reads, task)
    os.setpgid(0, 0)
    os.close(reads)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    try:
        answer = {"result": work(task)}
    except BaseException:  # noqa: BLE001 - the parent raises it
        answer = {"error": traceback.format_exc()}
    os.write(writes, json.dumps(answer).encode())
    os._exit(0)


def _result(child: Child) -> Any:
    text = b""
    while part := os.read(child.reads, 1 << 16):
        text += part
    status = _end(child, is_over=True)
    if text:
        answer = json.loads(text)
        if "error" in answer:
            raise RuntimeError(f"{child.task}: {answer['error']}")
        return answer["result"]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in ALARMS:
        return None
    raise RuntimeError(f"the child of {child.task} ended with {status}")


def _end(child: Child, *, is_over: bool) -> int:
    """Wait for a child, and end the processes that it has started."""
    os.close(child.reads)
    if is_over:
        status = os.waitpid(child.pid, 0)[1]
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    return status if is_over else os.waitpid(child.pid, 0)[1]
