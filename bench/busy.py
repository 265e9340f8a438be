"""The local cloud while it is busy: every route that reads, with 10,000 pending and 500 running actions.

`duetime local` is a process of its own, as its user starts it. This one sends the requests, one at a time.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

from bench.busy_app import Hold
from bench.fresh import ROOT
from bench.result import Result, at_most
from duetime import Order, Scheduler

PENDING, RUNNING, ROUNDS = 10_000, 500, 100
_HELD_FOR = 600
"""Seconds that each of the running actions holds its thread: longer than the measurement."""

_PATIENCE = 60.0
_JOB = "busy-each-five-minutes"
_PAGES = ("/", "/config.json")
_QUERIES = {
    "/actions/query": ("", "?status=pending", "?status=processing", "?type=hold", "?limit=100"),
    "/reads": ("?read=/me&read=/jobs&read=/actions/query",),
    "/search": ("?q=busy",),
    "/jobs/preview": ("?cadence=*/5+*+*+*+*",),
    "/jobs/{name}/backfills/preview": ("?from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z",),
}
"""The queries of routes that have several forms, or need one."""

_EMPTY = ("notification_id", "undelivered_id", "batch_name", "backfill_id")
"""The parameters of routes to what this cloud has not got."""


@dataclass(frozen=True, slots=True)
class Busy:
    """A local cloud in a process of its own."""

    url: str
    first_line: float
    """Seconds from the start of the process to its first line."""

    def get(self, path: str) -> bytes:
        """Return what a path answers."""
        with urllib.request.urlopen(self.url + path) as response:  # noqa: S310 - of this machine
            return bytes(response.read())

    def environment(self) -> Mapping[str, str]:
        """Return the environment of programs that use this cloud, as its page shows it."""
        page = html.unescape(self.get("/local").decode())
        return dict(re.findall(r"export ([A-Z_]+)='?(.*?)'?(?:\n|</pre>)", page))


def measure() -> list[Result]:
    """Measure the first line, then each route."""
    with _started() as cloud:
        _fill(cloud)
        taken = {path: _taken(cloud, path) for path in _paths(cloud)}
    slowest = max(taken, key=lambda path: _p99(taken[path]))
    together = sorted(seconds for some in taken.values() for seconds in some)
    state = f"with {PENDING:,} pending and {RUNNING} running"
    return [
        Result(
            bench="busy",
            name="`duetime local`: its first line",
            measured=cloud.first_line,
            unit="s",
            budget=at_most(2),
        ),
        Result(
            bench="busy",
            name=f"{len(taken)} routes and pages {state}: p99 of the slowest",
            measured=1e3 * _p99(taken[slowest]),
            unit="ms",
            budget=at_most(300),
            note=slowest,
        ),
        Result(
            bench="busy",
            name=f"the same, all requests: p99 ({len(together):,} requests)",
            measured=1e3 * _p99(together),
            unit="ms",
            budget=at_most(300),
        ),
    ]


@contextmanager
def _started() -> Iterator[Busy]:
    began = time.perf_counter()
    program = str(Path(sys.executable).with_name("duetime"))
    options = ["--app", "bench.busy_app:app", "--port", "0", "--concurrency", str(RUNNING)]
    process = subprocess.Popen(  # noqa: S603 - every argument comes from the bench
        [program, "local", *options],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        process.stdout.readline()
        first_line = time.perf_counter() - began
        url = next(
            match[0] for line in process.stdout if (match := re.search(r"http://127\.0\.0\.1:\d+", line))
        )
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield Busy(url, first_line)
    finally:
        process.kill()
        process.wait()


def _fill(cloud: Busy) -> None:
    """Schedule the actions, and wait until all that are due run.

    Raises:
        TimeoutError: they do not.
    """
    with patch.dict(os.environ, cloud.environment()):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="bench")
        later = Order(Hold(seconds=0), at=timedelta(days=1))
        now = Order(Hold(seconds=_HELD_FOR), at=timedelta(seconds=1))
        scheduler.schedule_many([later] * PENDING)
        started = [action.id for action in scheduler.schedule_many([now] * RUNNING)]
        until = time.monotonic() + _PATIENCE
        while any(scheduler.get(action_id).status != "processing" for action_id in started):
            if time.monotonic() > until:
                raise TimeoutError(f"not all of {RUNNING} actions run after {_PATIENCE:g} s")
            time.sleep(1)


def _paths(cloud: Busy) -> Iterator[str]:
    """Yield each route that reads, in each form, then the pages."""
    names = {
        "tenant": "acme",
        "name": _JOB,
        "action_id": _first(cloud, "/actions/query?status=processing&limit=1"),
        "definition_id": _first(cloud, f"/jobs/{_JOB}/definitions"),
    }
    document = json.loads(cloud.get("/api/v1/openapi.json"))
    for route, methods in document["paths"].items():
        if "get" in methods and not any(name in route for name in _EMPTY):
            path = route.format(**names)
            yield from (f"/api/v1{path}{query}" for query in _QUERIES.get(route, ("",)))
    yield from _PAGES


def _first(cloud: Busy, path: str) -> str:
    return str(json.loads(cloud.get(f"/api/v1{path}"))["items"][0]["id"])


def _taken(cloud: Busy, path: str) -> list[float]:
    """Return the seconds of each request, in order of their length."""
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        cloud.get(path)
        taken.append(time.perf_counter() - began)
    return sorted(taken)


def _p99(seconds: list[float]) -> float:
    return seconds[-1 - len(seconds) // 100]
