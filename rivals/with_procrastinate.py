"""Procrastinate on PostgreSQL: a client, and a worker, whose synchronous tasks run in threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import protocol  # type: ignore[import-not-found]
from procrastinate import App, PsycopgConnector  # type: ignore[import-not-found]
from procrastinate.periodic import PeriodicDeferrer  # type: ignore[import-not-found]

EACH_SECOND, EVERY_FIVE_SECONDS = "* * * * * *", "* * * * * */5"


def made(store: str) -> tuple[Any, Mapping[str, Any]]:
    app = App(connector=PsycopgConnector(conninfo=store))
    return app, {name: app.task(handler, name=name) for name, handler in protocol.HANDLERS.items()}


def client(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del settings
    app, tasks = made(store)
    with app.open():

        def one(handler: str, name: str, due: float) -> None:
            tasks[handler].configure(schedule_at=protocol.instant(due)).defer(name=name, due=due)

        def many(orders: Sequence[tuple[str, float]]) -> None:
            """Schedule in bulk, by due time."""
            dues = {due for _, due in orders}
            for due in dues:
                called = [{"name": name, "due": due} for name, at in orders if at == due]
                tasks["tick"].configure(schedule_at=protocol.instant(due)).batch_defer(*called)

        def state() -> str:
            (job,) = app.job_manager.list_jobs(task="hang")
            return f"status {job.status}"

        line.answer(protocol.commands(one, many, state))


def schema(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Apply its schema, once."""
    del settings
    app, _ = made(store)
    with app.open():
        app.schema_manager.apply_schema()
        line.answer({})


def worker(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    app, _ = made(store)
    if settings.get("retries_stalled_jobs"):

        @app.periodic(cron=EVERY_FIVE_SECONDS)  # type: ignore[untyped-decorator]
        @app.task(queueing_lock="retry_stalled", name="retry_stalled", pass_context=True)  # type: ignore[untyped-decorator]
        async def retry_stalled(context: Any, timestamp: int) -> None:
            del context, timestamp
            for job in await app.job_manager.get_stalled_jobs():
                await app.job_manager.retry_job(job)

    work(line, app)


def scheduler(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Run a worker with the job of every second."""
    del settings
    app, _ = made(store)

    @app.periodic(cron=EACH_SECOND)  # type: ignore[untyped-decorator]
    @app.task(name="each_second")  # type: ignore[untyped-decorator]
    def each_second(timestamp: int) -> None:
        protocol.tick(protocol.JOB, float(timestamp))

    work(line, app)


def work(line: Any, app: Any) -> None:
    line.end_with_the_bench()
    line.send(ready=True)
    with app.open():
        app.run_worker(concurrency=protocol.CONCURRENCY)


def cron(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del store, settings

    def declared(expression: str) -> Any:
        app = App(connector=PsycopgConnector())
        app.periodic(cron=expression)(app.task(protocol.tick, name="tick"))
        return app

    def runs(expression: str, start: str, end: str, tz: str) -> list[str]:
        """Compute as its worker, which has no zones."""
        del tz
        app = declared(expression)
        (periodic,) = app.periodic_registry.periodic_tasks.values()
        deferrer = PeriodicDeferrer(app.periodic_registry)
        since, until = (int(datetime.fromisoformat(text).timestamp()) for text in (start, end))
        times = deferrer.get_timestamps(periodic, since=since - 1, until=until - 1)
        return [protocol.instant(time).isoformat() for time in times]

    def declare(expression: str, tz: str) -> None:
        del tz
        declared(expression)

    line.answer({"runs": runs, "declare": declare})


if __name__ == "__main__":
    protocol.main(
        {"client": client, "worker": worker, "scheduler": scheduler, "cron": cron, "schema": schema}
    )
