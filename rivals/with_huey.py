"""Huey on Redis: a client, and a consumer of threads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import protocol  # type: ignore[import-not-found]
from huey import RedisHuey, crontab  # type: ignore[import-not-found]
from huey.consumer import Scheduler  # type: ignore[import-not-found]


def made(store: str) -> tuple[Any, Mapping[str, Any]]:
    huey = RedisHuey("rival", url=store)
    return huey, {name: huey.task(name=name)(handler) for name, handler in protocol.HANDLERS.items()}


def client(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del settings
    huey, tasks = made(store)

    def one(handler: str, name: str, due: float) -> None:
        tasks[handler].schedule((name, due), eta=protocol.instant(due))

    def state() -> str:
        waits = huey.pending_count() + huey.scheduled_count()
        return "in the queue" if waits else "gone from the queue"

    line.answer(protocol.commands(one, state=state))


def worker(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del settings
    consume(line, made(store)[0])


def scheduler(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Run a consumer that checks its periodic tasks every second instead of every minute."""
    del settings
    huey, _ = made(store)
    Scheduler.periodic_task_seconds = 1

    @huey.periodic_task(lambda _now: True, name="each-second")  # type: ignore[untyped-decorator]
    def each_second() -> None:
        protocol.tick(protocol.JOB, 0.0)

    consume(line, huey)


def consume(line: Any, huey: Any) -> None:
    line.end_with_the_bench()
    consumer = huey.create_consumer(workers=protocol.CONCURRENCY, worker_type="thread")
    line.send(ready=True)
    consumer.run()


def cron(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del store

    def runs(expression: str, start: str, end: str, tz: str) -> list[str]:
        """Compute as the consumer: once a minute, whether the time matches, in UTC or in local time."""
        zone = ZoneInfo("UTC" if settings.get("utc", True) else tz)
        matches = declared(expression)
        minutes = protocol.minutes(datetime.fromisoformat(start), datetime.fromisoformat(end))
        return [
            minute.isoformat() for minute in minutes if matches(minute.astimezone(zone).replace(tzinfo=None))
        ]

    def declare(expression: str, tz: str) -> None:
        del tz
        declared(expression)

    line.answer({"runs": runs, "declare": declare})


def declared(expression: str) -> Any:
    minute, hour, day, month, weekday = expression.split()
    return crontab(minute=minute, hour=hour, day=day, month=month, day_of_week=weekday, strict=True)


if __name__ == "__main__":
    protocol.main({"client": client, "worker": worker, "scheduler": scheduler, "cron": cron})
