"""duetime: embedded, on the local cloud with its workers, and on a table alone."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import boto3
import protocol  # type: ignore[import-not-found]

from duetime import App, Order, Payload, Run, Scheduler, cron
from duetime.aws.backends import AwsBackends
from duetime.aws.store import DynamoStore
from duetime.aws.tables import ACTIONS, create_table_request
from duetime.clock import SystemClock
from duetime.ids import SYSTEM_TENANT, job_name
from duetime.jobs.plan import Plan
from duetime.lambdas.work import make_handler
from duetime.local import LocalCloud, LocalOptions
from duetime.model.job import JobRef
from duetime.settings import Settings

EACH_SECOND, JOB = cron("* * * * * *"), "bench-each-second"
LOOK_EVERY = 0.1
app, jobs = App(), App()


class Tick(Payload):
    """The name and the due time of a run."""

    name: str
    due: float


class Hang(Payload):
    """The same."""

    name: str
    due: float


@app.action
@jobs.action
def tick(payload: Tick) -> None:
    protocol.tick(payload.name, payload.due)


@app.action
@jobs.action
def hang(payload: Hang) -> None:
    protocol.hang(payload.name, payload.due)


@jobs.job(EACH_SECOND, name=JOB)
def each_second(run: Run) -> None:
    protocol.tick(protocol.JOB, run.nominal_at.timestamp())


APPS, PAYLOADS = {"app": app, "jobs": jobs}, {"tick": Tick, "hang": Hang}


def commands(scheduler: Scheduler) -> dict[str, Any]:
    made: list[str] = []

    def one(handler: str, name: str, due: float) -> None:
        action = scheduler.schedule(PAYLOADS[handler](name=name, due=due), at=protocol.instant(due))
        made[:] = [action.id]

    def many(orders: Sequence[tuple[str, float]]) -> None:
        scheduler.schedule_many(
            Order(payload=Tick(name=name, due=due), at=protocol.instant(due)) for name, due in orders
        )

    def state() -> str:
        return f"status {scheduler.get(made[0]).status}"

    return {**protocol.commands(one, many, state)}


def embedded(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del store, settings
    with app.embedded() as scheduler:
        line.answer(commands(scheduler))


def table(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Run a client; `store` is DynamoDB Local's endpoint."""
    del settings
    client = boto3.client("dynamodb", endpoint_url=store)
    client.create_table(**create_table_request(ACTIONS, "rivals"))
    actions = DynamoStore(client, "rivals", due_shards=Settings().due_shards, single_shot=client)
    line.answer(
        commands(
            Scheduler(actions, tenant_id="acme", actor="bench", clock=SystemClock(), settings=Settings())
        )
    )


def cloud(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Run the local cloud; with ``concurrency`` 0, a deployment whose workers are other processes."""
    del store
    concurrency = settings.get("concurrency", protocol.CONCURRENCY)
    lengths: dict[str, Any] = {
        name: timedelta(seconds=seconds) for name, seconds in settings.get("settings", {}).items()
    }
    given, chosen = (
        {"settings": Settings(**lengths), "concurrency": concurrency},
        APPS[settings.get("app", "app")],
    )
    made = LocalCloud(chosen, LocalOptions(**given)) if concurrency else _deployment(chosen, given, settings)
    with made as running:
        line.answer({**commands(running.scheduler()), "environment": lambda: running.environment})


def _deployment(chosen: App, given: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
    from tests import emulated  # noqa: PLC0415 - moto takes a second to load

    quirks = emulated.SchedulerQuirks(doubles=settings.get("doubles", 0.0))
    return emulated.EmulatedCloud(chosen, emulated.EmulatedOptions(timers=quirks, **given))


def worker(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    """Receive as Lambda's pollers; with ``plans``, plan as well."""
    del store
    from tests.emulated.queue_poller import in_lambda_form  # noqa: PLC0415 - moto takes a second to load

    line.end_with_the_bench()
    chosen = APPS[settings.get("app", "app")]
    deployed, clock, sqs = Settings.from_env(), SystemClock(), boto3.client("sqs")
    handle = make_handler(deployed, chosen.handler_set, instance="bench", metrics=lambda *_: None)
    backends = AwsBackends(deployed, clock)
    plan = Plan(backends)
    url = deployed.made.queues[chosen.worker]
    line.send(ready=True)
    while True:
        if settings.get("plans"):
            plan(JobRef(SYSTEM_TENANT, job_name(JOB)))
        answer = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        for message in answer.get("Messages", []):
            if not handle({"Records": [in_lambda_form(message, url)]}, None)["batchItemFailures"]:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        time.sleep(LOOK_EVERY)


def computed(line: Any, store: str, settings: Mapping[str, Any]) -> None:
    del store, settings

    def runs(expression: str, start: str, end: str, tz: str) -> list[str]:
        second = timedelta(seconds=1)
        since, until = (datetime.fromisoformat(text) - second for text in (start, end))
        return [at.isoformat() for at in cron(expression, tz=tz).between(since, until)]

    def declare(expression: str, tz: str) -> None:
        cron(expression, tz=tz)

    line.answer({"runs": runs, "declare": declare})


if __name__ == "__main__":
    logging.getLogger("duetime").setLevel(logging.ERROR)
    protocol.main({"embedded": embedded, "table": table, "cloud": cloud, "worker": worker, "cron": computed})
