"""APScheduler: a BackgroundScheduler with an SQLAlchemy job store, all in one process."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import protocol  # type: ignore[import-not-found]
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore  # type: ignore[import-not-found]
from apscheduler.schedulers.background import BackgroundScheduler  # type: ignore[import-not-found]
from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-not-found]


def started(store: str) -> Any:
    url = store.replace("postgresql://", "postgresql+psycopg://")
    scheduler = BackgroundScheduler(jobstores={"default": SQLAlchemyJobStore(url=url)}, timezone="UTC")
    scheduler.start()
    return scheduler


def worker(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    scheduler = started(store)

    def one(handler: str, name: str, due: float) -> None:
        scheduler.add_job(
            protocol.HANDLERS[handler], "date", run_date=protocol.instant(due), args=[name, due], **settings
        )

    def state() -> str:
        return "in the job store" if scheduler.get_jobs() else "gone from the job store"

    line.answer(protocol.commands(one, state=state))


def scheduler(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Run the job of every second; the second scheduler finds it in the store."""
    del settings
    started(store).add_job(
        protocol.tick,
        "interval",
        seconds=1,
        args=[protocol.JOB, 0.0],
        id="each-second",
        replace_existing=True,
    )
    line.answer({})


def cron(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del store, settings

    def runs(expression: str, start: str, end: str, tz: str) -> list[str]:
        trigger = CronTrigger.from_crontab(expression, timezone=ZoneInfo(tz))
        found: list[str] = []
        last, ends = None, datetime.fromisoformat(end)
        now = datetime.fromisoformat(start)
        while (fires := trigger.get_next_fire_time(last, now)) is not None and fires < ends:
            found.append(fires.astimezone(ZoneInfo("UTC")).isoformat())
            last = now = fires
        return found

    def declare(expression: str, tz: str) -> None:
        CronTrigger.from_crontab(expression, timezone=ZoneInfo(tz))

    line.answer({"runs": runs, "declare": declare})


if __name__ == "__main__":
    protocol.main({"worker": worker, "scheduler": scheduler, "cron": cron})
