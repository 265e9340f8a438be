"""`AsyncScheduler` has the methods of `Scheduler`, and its calls overlap."""

import asyncio
import inspect
from datetime import timedelta

import pytest

from duetime import AsyncScheduler, Order, Payload, Scheduler
from duetime.actions.async_batches import AsyncBatches, AsyncOpenBatch
from duetime.actions.batches import Batches, OpenBatch
from duetime.asynchronous.suspension import run, wait_for
from duetime.aws.notes import publish
from duetime.clock import PAUSES, SystemClock
from duetime.errors import InvalidArgument, KeyConflict, NotFound, UnknownType
from duetime.jobs.async_jobs import AsyncJobs
from duetime.jobs.jobs import Jobs
from duetime.model.manifest import Manifest
from duetime.undelivered.async_undelivered_client import AsyncUndeliveredClient
from duetime.undelivered.undelivered_client import UndeliveredClient

SOON = timedelta(hours=1)


class Remind(Payload):
    order: str


def using(steps):
    """Run `steps(scheduler)` with a scheduler of the environment."""

    async def use():
        async with AsyncScheduler.from_env(tenant_id="acme", actor="checkout") as scheduler:
            return await steps(scheduler)

    return asyncio.run(use())


@pytest.mark.parametrize(
    ("synchronous", "asynchronous"),
    [
        (Scheduler, AsyncScheduler),
        (Jobs, AsyncJobs),
        (UndeliveredClient, AsyncUndeliveredClient),
        (Batches, AsyncBatches),
        (OpenBatch, AsyncOpenBatch),
    ],
)
def test_it_has_every_method_with_the_same_arguments_and_documentation(synchronous, asynchronous):
    methods = {
        name: method
        for name, method in vars(synchronous).items()
        if inspect.isfunction(method) and not name.startswith("_") and name != "batch"  # a context manager
    }
    assert methods
    for name, method in methods.items():
        found = getattr(asynchronous, name)
        assert inspect.iscoroutinefunction(found), name
        assert inspect.signature(found) == inspect.signature(method)
        assert found.__doc__ == method.__doc__


def test_a_batch_is_filled_closed_and_read(dynamodb):
    async def steps(scheduler):
        async with scheduler.batch("import-1", on_complete=Remind(order="all")) as batch:
            await batch.schedule_many(Order(Remind(order=f"o-{number}"), at=SOON) for number in range(3))
        with pytest.raises(ZeroDivisionError):
            async with scheduler.batch("import-2"):
                1 / 0  # noqa: B018 - the error
        return [await scheduler.batches.get(name) for name in ("import-1", "import-2")]

    closed, still_open = using(steps)
    assert (closed.size, closed.closed_by, still_open.closed_at) == (3, "checkout", None)
    assert Scheduler.from_env(tenant_id="acme").batches.get("import-1") == closed


def test_an_action_is_scheduled_listed_changed_and_cancelled(dynamodb):
    async def steps(scheduler):
        action = await scheduler.schedule(Remind(order="o-1"), at=SOON, correlation_id="order:1")
        later = await scheduler.reschedule(action.id, timedelta(days=2))
        listed = await scheduler.list(correlation_id="order:1")
        cancelled = await scheduler.cancel(action.id)
        return action, later, [row.id for row in listed], cancelled, await scheduler.get(action.id)

    action, later, listed, cancelled, last = using(steps)
    assert (action.created_by, later.due_at > action.due_at, listed) == ("checkout", True, [action.id])
    assert cancelled.status == last.status == "cancelled"
    assert Scheduler.from_env(tenant_id="acme").get(action.id) == last


def test_many_orders_are_scheduled_in_batches(dynamodb):
    orders = [Order(Remind(order=f"o-{number}"), at=SOON) for number in range(60)]
    actions = using(lambda scheduler: scheduler.schedule_many(orders))
    assert len({action.id for action in actions}) == 60
    assert dynamodb.scan(TableName="duetime-actions", Select="COUNT")["Count"] == 60


def test_the_entries_commit_in_a_transaction_of_ones_own(dynamodb):
    action, items = using(lambda scheduler: scheduler.transact_items(Remind(order="o-1"), at=SOON))
    dynamodb.transact_write_items(TransactItems=items)
    assert using(lambda scheduler: scheduler.get(action.id)) == action


def test_errors_are_those_of_the_scheduler(dynamodb, monkeypatch):
    async def conflict(scheduler):
        await scheduler.schedule(Remind(order="o-1"), at=SOON, idempotency_key="once")
        await scheduler.schedule(Remind(order="o-2"), at=SOON, idempotency_key="once")

    with pytest.raises(KeyConflict, match="idempotency key"):
        using(conflict)
    with pytest.raises(NotFound, match="no action"):
        using(lambda scheduler: scheduler.get("missing"))
    publish(dynamodb, "duetime-jobs", Manifest("default", {"refund": 1}))
    with pytest.raises(UnknownType, match="deploy"):
        using(lambda scheduler: scheduler.schedule(Remind(order="o-1"), at=SOON))
    monkeypatch.setenv("DUETIME_TENANTS", "acme globex")
    with pytest.raises(InvalidArgument, match="tenant"):
        AsyncScheduler.from_env()


def test_a_repeated_key_returns_the_first_action_to_tasks_at_once(dynamodb):
    async def steps(scheduler):
        calls = (scheduler.schedule(Remind(order="o-1"), at=SOON, idempotency_key="once") for _ in range(8))
        return await asyncio.gather(*calls)

    assert len({action.id for action in using(steps)}) == 1


def test_jobs_and_undelivered_inputs_are_listed(dynamodb):
    async def steps(scheduler):
        return [job.name for job in await scheduler.jobs.list()], await scheduler.undelivered.list()

    jobs, undelivered = using(steps)
    assert (jobs, list(undelivered)) == ([], [])


def test_calls_of_several_tasks_overlap():
    async def overlapping():
        meeting = asyncio.Barrier(3)
        return await asyncio.gather(*(run(lambda: wait_for(meeting.wait()) >= 0) for _ in range(3)))

    assert asyncio.run(overlapping()) == [True, True, True]


def test_a_cancelled_task_ends_its_call_and_restores_the_clock_of_pauses():
    ended = []

    def waits():
        try:
            wait_for(asyncio.Event().wait())
        finally:
            ended.append(True)

    async def cancels():
        task = asyncio.create_task(run(waits))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return PAUSES.get()

    assert isinstance(asyncio.run(cancels()), SystemClock)
    assert ended == [True]


def test_a_pause_between_attempts_lets_other_tasks_run():
    async def both():
        seen = []

        def pauses():
            clock = PAUSES.get()
            clock.wait_until(clock.now() + timedelta(milliseconds=1))
            seen.append("paused")

        task = asyncio.create_task(run(pauses))
        await asyncio.sleep(0)
        seen.append("other")
        await task
        return seen

    assert asyncio.run(both()) == ["other", "paused"]


def test_outside_of_a_scheduler_an_asynchronous_client_is_rejected():
    with pytest.raises(RuntimeError, match="await its methods"):
        wait_for(asyncio.sleep(0))
