"""The contenders: duetime, and four schedulers as their documentation recommends for durable work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rivals.contender import NOTHING, Cast, Contender, Settings, fresh_runs
from rivals.process import Process, Runs
from rivals.protocol import CONCURRENCY
from rivals.servers import NewStore

DUETIME, EMBEDDED = "duetime", "embedded"
APSCHEDULER, CELERY, PROCRASTINATE, HUEY = "APScheduler", "Celery", "procrastinate", "huey"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTheLocalCloud(Contender):
    """duetime; its workers can be separate processes that poll the cloud's queue."""

    @contextlib.contextmanager
    def clerk(self) -> Iterator[Process]:
        """Yield a client on DynamoDB Local, whose endpoint is the store."""
        with fresh_runs() as runs, self.process("table", self.new_store(), runs) as process:
            yield process

    @contextlib.contextmanager
    def apart(self, settings: Settings = NOTHING) -> Iterator[Cast]:
        without_workers = {**settings, "concurrency": 0}
        with fresh_runs() as runs, self.process("cloud", "", runs, without_workers) as cloud:
            environment: Mapping[str, str] = cloud.request("environment")

            def another() -> Process:
                return replace(self.process("worker", "", runs, settings), environment=environment)

            with another() as worker:
                yield Cast(cloud, worker, another, runs)

    @contextlib.contextmanager
    def twins(self) -> Iterator[Runs]:
        """Yield the runs: EventBridge fires each wake twice, and both workers plan ten times a second."""
        with self.apart({"app": "jobs", "plans": True, "doubles": 1.0}) as cast, cast.another():
            yield cast.runs


def ours(dynamodb: NewStore) -> list[Contender]:
    return [
        OnTheLocalCloud(
            name=DUETIME, script="with_duetime.py", worker="cloud", client="", new_store=dynamodb,
            how=f"the local cloud, {CONCURRENCY} handlers at once; scheduling on DynamoDB Local",
        ),
        Contender(
            name=EMBEDDED, script="with_duetime.py", worker="embedded", client="",
            how="duetime's memory back end, 8 handlers at once: nothing is kept",
        ),
    ]  # fmt: skip


def other_schedulers(python: Path, redis: NewStore | None, relational: NewStore | None) -> list[Contender]:
    """Return the schedulers whose store is installed."""
    threads = f"{CONCURRENCY} threads"
    found = [
        Contender(
            name=APSCHEDULER, script="with_apscheduler.py", new_store=relational or str, client="",
            how=f"BackgroundScheduler, SQLAlchemy job store on PostgreSQL, {threads}, misfire grace of 1 s",
        ),
        Contender(
            name=CELERY, script="with_celery.py", new_store=redis or str, beats=True,
            how=f"eta, Redis with an append-only file, a worker of {threads}, early acknowledgement",
        ),
        Contender(
            name=PROCRASTINATE, script="with_procrastinate.py", new_store=relational or str, schema=True,
            how=f"schedule_at, PostgreSQL, a worker with concurrency {CONCURRENCY}, polling each 5 s",
        ),
        Contender(
            name=HUEY, script="with_huey.py", new_store=redis or str,
            how=f"eta, Redis with an append-only file, a consumer of {threads}, polling each second",
        ),
    ]  # fmt: skip
    return [replace(contender, interpreter=python) for contender in found if contender.new_store is not str]
