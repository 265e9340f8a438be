"""Batches of 100,000: from the first member to the completion in memory, and a count on DynamoDB Local.

The rows on DynamoDB Local are put as executed, so that only the count is measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.meter import metered
from bench.result import Result, at_most
from bench.stand import made
from duetime import App, Order, Payload, Run
from duetime.aws.backends import AwsBackends
from duetime.aws.items import to_item
from duetime.aws.store import DynamoStore
from duetime.clock import SystemClock
from duetime.model.action import Status
from duetime.model.batch import ActionBatch, BatchState
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from duetime.wakeups.assembly import Steps
from tests.dynamodb_local import client, running

MEMBERS, STARTS = 100_000, 500
"""Members, and how many of them are due in each second."""
MOST_WRITES = 0.1
"""Write units a member."""
START = datetime(2027, 1, 1, tzinfo=UTC)
NAME = "bench"
_AT_ONCE = 25


class Line(Payload):
    """Nothing to import."""


def measure() -> list[Result]:
    """Measure both back ends."""
    return [*_in_memory(), *_on_dynamodb()]


def _orders(count: int) -> Iterator[Order]:
    return (Order(Line(), at=timedelta(seconds=60 + number // STARTS)) for number in range(count))


def _in_memory() -> list[Result]:
    app, ended = App(), list[datetime]()
    cloud: SimulatedCloud

    @app.action
    def line(payload: Line, run: Run) -> None:
        """Do nothing."""

    @app.action
    def done(payload: Done, run: Run) -> None:
        del payload, run
        ended.append(cloud.now)

    cloud = SimulatedCloud(app, start=START)
    store, writes = cloud.memory.store, [0]
    change = store.change_batch

    def counted(read: ActionBatch, changed: ActionBatch) -> bool:
        writes[0] += 1
        return change(read, changed)

    with cloud.scheduler.batch(NAME, on_complete=Done()) as batch:
        batch.schedule_many(_orders(MEMBERS))
    store.change_batch = counted  # type: ignore[method-assign]
    began = time.perf_counter()
    cloud.advance(minutes=10)
    seconds = time.perf_counter() - began
    progress = cloud.scheduler.batches.get(NAME)
    assert (progress.state, progress.counts.executed) == (BatchState.COMPLETE, MEMBERS)
    last = START + timedelta(seconds=60 + (MEMBERS - 1) // STARTS)
    return [
        Result(
            bench="batch",
            name="writes that count a batch of 100,000, in memory",
            measured=writes[0] / MEMBERS,
            unit="writes/member",
            budget=at_most(MOST_WRITES),
            note=f"{STARTS} members are due in each second; {seconds:.0f} s of this processor",
        ),
        Result(
            bench="batch",
            name="the completion action after the last member, in memory",
            measured=(ended[0] - last).total_seconds(),
            unit="s",
            budget=at_most(60),
        ),
    ]


class Done(Payload):
    """Nothing to report."""


def _on_dynamodb() -> list[Result]:
    settings, clock = Settings(), SystemClock()
    with running() as endpoint:
        raw = client(endpoint)
        made(raw, settings.made.actions_table)
        store = DynamoStore(raw, settings.made.actions_table, due_shards=settings.due_shards)
        scheduler = Scheduler(store, tenant_id="acme", actor="bench", clock=clock, settings=settings)
        open_batch = scheduler.batch(NAME)
        open_batch.schedule_many(_orders(1))
        batch = scheduler.batches.get(NAME)
        sized = replace(batch, size=MEMBERS, version="sized")
        assert store.change_batch(batch, sized)
        _put_executed(raw, settings.made.actions_table, store, sized)
        scheduler.batches.close(NAME)
        count = Steps(AwsBackends(settings, clock, raw)).count_batch
        began = time.perf_counter()
        with metered(raw) as bill:
            count.sweep(batch.ref, stop_at=clock.now() + timedelta(minutes=10))
        seconds = time.perf_counter() - began
        assert scheduler.batches.get(NAME).counts.executed == MEMBERS
    where = "a count of 100,000 executed members on DynamoDB Local"
    return [
        Result(
            bench="batch",
            name=f"{where}: writes",
            measured=bill.write_units / MEMBERS,
            unit="units/member",
            budget=at_most(MOST_WRITES),
            note=f"the count takes {seconds:.1f} s, one shard after another",
        ),
        Result(
            bench="batch",
            name=f"{where}: reads",
            measured=bill.read_units / MEMBERS,
            unit="units/member",
        ),
    ]


def _put_executed(raw: Any, table: str, store: DynamoStore, batch: ActionBatch) -> None:
    (member,) = store.get_rows([batch.member(0)])
    items = [
        to_item(replace(member, id=batch.member(number).id, status=Status.EXECUTED))
        for number in range(MEMBERS)
    ]
    for first in range(0, MEMBERS, _AT_ONCE):
        some = items[first : first + _AT_ONCE]
        raw.batch_write_item(RequestItems={table: [{"PutRequest": {"Item": item}} for item in some]})
