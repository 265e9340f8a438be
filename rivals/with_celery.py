"""Celery on Redis: a client, a worker of threads, and beat. Without a result backend, as it is by default."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import protocol  # type: ignore[import-not-found]
from celery import Celery, signals  # type: ignore[import-not-found]
from celery.schedules import crontab  # type: ignore[import-not-found]
from redis import Redis  # type: ignore[import-not-found]

LONGEST_NAP = timedelta(minutes=5)
"""Seconds between two checks of beat, at most."""


def made(store: str, settings: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    app = Celery("rival", broker=store)
    app.conf.update(settings)
    return app, {name: app.task(handler, name=name) for name, handler in protocol.HANDLERS.items()}


def client(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    _, tasks = made(store, settings)
    redis = Redis.from_url(store)

    def one(handler: str, name: str, due: float) -> None:
        tasks[handler].apply_async((name, due), eta=protocol.instant(due))

    def state() -> str:
        waits, unacknowledged = redis.llen("celery"), redis.hlen("unacked")
        return "in the queue" if waits else "unacknowledged" if unacknowledged else "gone from the broker"

    line.answer(protocol.commands(one, state=state))


def worker(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    app, _ = made(store, settings)
    line.end_with_the_bench()
    signals.worker_ready.connect(lambda **_: line.send(ready=True), weak=False)
    app.worker_main(
        ["worker", "--pool", "threads", "--concurrency", str(protocol.CONCURRENCY), "--loglevel", "ERROR"]
    )


def scheduler(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Run beat with a schedule file of its own, as on its own machine."""
    app, _ = made(store, settings)
    app.conf.beat_schedule = {"each-second": {"task": "tick", "schedule": 1.0, "args": (protocol.JOB, 0.0)}}
    line.end_with_the_bench()
    signals.beat_init.connect(lambda **_: line.send(ready=True), weak=False)
    with tempfile.TemporaryDirectory() as place:
        app.Beat(schedule=str(Path(place, "beat")), loglevel="ERROR").run()


def cron(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del store, settings

    def runs(expression: str, start: str, end: str, tz: str) -> list[str]:
        """Compute as beat: whether it is due, and the next check, at most five minutes later."""
        app = Celery("rival")
        app.conf.timezone = tz
        now, ends = datetime.fromisoformat(start), datetime.fromisoformat(end)
        schedule = crontab.from_string(expression)
        schedule.app, schedule.nowfun = app, lambda: now.astimezone(app.timezone)
        last, found = now - timedelta(seconds=1), []
        while now < ends:
            due, again = schedule.is_due(last.astimezone(app.timezone))
            if due:
                found.append(now.isoformat())
                last = now
            now += min(timedelta(seconds=max(again, 1)), LONGEST_NAP)
        return found

    def declare(expression: str, tz: str) -> None:
        del tz
        crontab.from_string(expression)

    line.answer({"runs": runs, "declare": declare})


if __name__ == "__main__":
    protocol.main({"client": client, "worker": worker, "scheduler": scheduler, "cron": cron})
