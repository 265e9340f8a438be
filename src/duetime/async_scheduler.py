"""The scheduler for asyncio: the methods of `Scheduler`, awaited. It needs the extra ``duetime[async]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from duetime._lazy_property import lazy_property
from duetime.asynchronous.awaited import Awaited, awaited
from duetime.environment import file_of_rows
from duetime.errors import Unsupported
from duetime.scheduler import Scheduler

if TYPE_CHECKING:
    from duetime.actions.async_batches import AsyncBatches, AsyncOpenBatch
    from duetime.aws.async_clients import AsyncClients
    from duetime.jobs.async_jobs import AsyncJobs
    from duetime.payload import Payload
    from duetime.undelivered.async_undelivered_client import AsyncUndeliveredClient


class AsyncScheduler(Awaited[Scheduler]):
    """Schedules, finds and changes the actions of one tenant, in the name of one actor.

    Make one per event loop; any number of tasks may share it::

        async with AsyncScheduler.from_env(tenant_id="acme") as scheduler:
            action = await scheduler.schedule(SendReceipt(order="o-17"), at=timedelta(hours=2))
    """

    def __init__(self, scheduler: Scheduler, clients: AsyncClients | None = None) -> None:
        """Make one over a synchronous scheduler; `from_env` makes one on DynamoDB.

        Args:
            scheduler: runs the methods; its back ends wait with `duetime.asynchronous.suspension.wait_for`.
            clients: are closed by `close`.
        """
        super().__init__(scheduler)
        self._clients, self.tenant_id, self.actor = clients, scheduler.tenant_id, scheduler.actor

    @classmethod
    def from_env(cls, *, tenant_id: str | None = None, actor: str = "sdk", sees_system: bool = True) -> Self:
        """Make a scheduler on DynamoDB, as `Scheduler.from_env` does; the first call opens the connections.

        Raises:
            DuetimeError: see `Scheduler.from_env`. A missing region is raised by the first call.
            Unsupported: the extra ``duetime[async]`` is not installed.
        """
        if file_of_rows() is not None:
            return cls(Scheduler.from_env(tenant_id=tenant_id, actor=actor, sees_system=sees_system))
        try:
            from duetime.aws.async_clients import AsyncClients, in_tasks  # noqa: PLC0415 - only callers of AWS load it
        except ModuleNotFoundError as missing:
            raise Unsupported("AsyncScheduler needs the extra: pip install 'duetime[async]'") from missing

        clients = AsyncClients()
        scheduler = Scheduler.over_clients(
            clients.dynamodb,
            in_tasks,
            clients.sqs,
            tenant_id=tenant_id,
            actor=actor,
            sees_system=sees_system,
        )
        return cls(scheduler, clients)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; ``async with`` calls it."""
        if self._clients is not None:
            await self._clients.close()

    schedule = awaited(Scheduler.schedule)
    place = awaited(Scheduler.place)
    schedule_many = awaited(Scheduler.schedule_many)
    transact_items = awaited(Scheduler.transact_items)
    get = awaited(Scheduler.get)
    list = awaited(Scheduler.list)
    complete = awaited(Scheduler.complete)
    fail = awaited(Scheduler.fail)
    heartbeat = awaited(Scheduler.heartbeat)
    cancel = awaited(Scheduler.cancel)
    cancel_many = awaited(Scheduler.cancel_many)
    reschedule = awaited(Scheduler.reschedule)
    redrive = awaited(Scheduler.redrive)
    redrive_many = awaited(Scheduler.redrive_many)
    dismiss = awaited(Scheduler.dismiss)
    approve = awaited(Scheduler.approve)
    reject = awaited(Scheduler.reject)

    def batch(self, name: str, *, on_complete: Payload | None = None) -> AsyncOpenBatch:
        """Return a batch to fill: ``async with scheduler.batch(…) as batch``; see `Scheduler.batch`."""
        from duetime.actions.async_batches import AsyncOpenBatch  # noqa: PLC0415 - few callers have batches

        return AsyncOpenBatch(self._synchronous.batch(name, on_complete=on_complete))

    @lazy_property
    def batches(self) -> AsyncBatches:
        """This tenant's batches; see `Scheduler.batches`."""
        from duetime.actions.async_batches import AsyncBatches  # noqa: PLC0415 - as above

        return AsyncBatches(self._synchronous.batches)

    @lazy_property
    def jobs(self) -> AsyncJobs:
        """The jobs that code declares, and this tenant's own; see `Scheduler.jobs`."""
        from duetime.jobs.async_jobs import AsyncJobs  # noqa: PLC0415 - others load no cadences

        return AsyncJobs(self._synchronous.jobs)

    @lazy_property
    def undelivered(self) -> AsyncUndeliveredClient:
        """The deployment's undelivered inputs; see `Scheduler.undelivered`."""
        from duetime.undelivered.async_undelivered_client import (  # noqa: PLC0415 - rarely used
            AsyncUndeliveredClient,
        )

        return AsyncUndeliveredClient(self._synchronous.undelivered)
