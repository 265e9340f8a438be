"""The common part of the contenders' scripts: they exchange JSON lines, and their handlers record their runs.

The standard library alone: each script runs in an environment of its own, with its own directory on the path.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

CONCURRENCY = 10
"""Concurrent handlers of every contender with such a setting."""
JOB = "job"
"""The name of a recurring job's runs."""
ROUNDS, HOUR = 3, 3_600.0

One = Callable[[str, str, float], object]
Many = Callable[[Sequence[tuple[str, float]]], object]


class Line:
    """The connection to the bench. Other standard output goes to standard error."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)

    def send(self, **facts: object) -> None:
        self._stream.write(json.dumps(facts) + "\n")

    def answer(self, commands: Mapping[str, Callable[..., object]]) -> None:
        """Send that it is ready, then respond to each request, until the bench ends."""
        self.send(ready=True)
        for line in sys.stdin:
            request = json.loads(line)
            try:
                self.send(answer=commands[request.pop("do")](**request))
            except Exception as error:  # noqa: BLE001 - the bench reports it
                self.send(error=type(error).__name__, message=str(error))
        os._exit(0)

    def end_with_the_bench(self) -> None:
        """End with the bench; for processes without requests."""
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()


def main(roles: Mapping[str, Callable[[Line, str, Mapping[str, Any]], None]]) -> None:
    """Run ``script ROLE STORE SETTINGS``, with settings as JSON."""
    role, store, settings = sys.argv[1:4]
    roles[role](Line(), store, json.loads(settings))


def tick(name: str, due: float) -> None:
    """Record the start of a run; a handler."""
    started = json.dumps({"name": name, "due": due, "at": time.time()})
    handle = os.open(_runs(), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{started}\n".encode())
    os.close(handle)


def hang(name: str, due: float) -> None:
    """Record the start, and end only in the second run; a handler."""
    tick(name, due)
    if len(_runs().read_text().splitlines()) == 1:
        time.sleep(HOUR)


HANDLERS: Mapping[str, Callable[[str, float], None]] = {"tick": tick, "hang": hang}


def commands(one: One, many: Many | None = None, state: Callable[[], str] | None = None) -> dict[str, Any]:
    """Return a client's commands: `one` schedules a handler by name; `many` schedules in bulk."""

    def hour(count: int) -> Mapping[str, float]:
        return timed(count, lambda due: [one("tick", str(n), due) for n in range(count)])

    def bulk(count: int) -> Mapping[str, float] | None:
        return timed(count, lambda due: many([(str(n), due) for n in range(count)])) if many else None

    def at(dues: Sequence[float]) -> None:
        if many:
            many([(str(n), due) for n, due in enumerate(dues)])
            return
        for n, due in enumerate(dues):
            one("tick", str(n), due)

    return {
        "hour": hour,
        "bulk": bulk,
        "at": at,
        "hang": lambda due: one("hang", "hang", due) and None,
        "state": state or str,
    }


def timed(count: int, work: Callable[[float], object]) -> Mapping[str, float]:
    """Return milliseconds of wall time and CPU for each of `count`: the least of some rounds."""
    rounds = []
    for _ in range(ROUNDS + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        work(time.time() + HOUR)
        rounds.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = (min(values) / count * 1e3 for values in zip(*rounds[1:], strict=True))
    return {"wall": wall, "cpu": cpu}


def instant(due: float) -> datetime:
    return datetime.fromtimestamp(due, UTC)


def minutes(start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield each whole minute from `start` until before `end`."""
    while start < end:
        yield start
        start += timedelta(minutes=1)


def _runs() -> Path:
    return Path(os.environ["RUNS"])
