"""Asynchronous clients of AWS for synchronous code that `duetime.asynchronous` runs.

A client is opened at its first call, and all are closed together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeVar

from aiobotocore.config import AioConfig
from aiobotocore.session import get_session

from duetime.asynchronous.suspension import run, wait_for
from duetime.aws.clients import PATIENT
from duetime.ports.at_once import MOST

T = TypeVar("T")


def in_tasks(call: Callable[[T], object], items: Iterable[T]) -> None:
    """Call `call` with each item, in at most `MOST` tasks of the event loop at once."""
    places = asyncio.Semaphore(MOST)

    async def in_place(item: T) -> None:
        async with places:
            await run(partial(call, item))

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for item in items:
                group.create_task(in_place(item))

    try:
        wait_for(all_of_them())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


class AsyncClients:
    """The clients of one event loop."""

    def __init__(self) -> None:
        self._open, self._lock = AsyncExitStack(), asyncio.Lock()
        self.dynamodb = AwaitedClient(self, "dynamodb", AioConfig().merge(PATIENT))
        self.sqs = AwaitedClient(self, "sqs", AioConfig().merge(PATIENT))

    async def open(self, client: AwaitedClient) -> Any:
        """Return the asynchronous client, opened once.

        Raises:
            botocore.exceptions.NoRegionError: no AWS region is configured.
        """
        async with self._lock:
            if client.opened is None:
                created = get_session().create_client(client.service, config=client.config)
                client.opened = await self._open.enter_async_context(created)
            return client.opened

    async def close(self) -> None:
        """Close the connections of all clients; a later call opens them again."""
        async with self._lock:
            await self._open.aclose()
            for client in (self.dynamodb, self.sqs):
                client.opened = None


class AwaitedClient:
    """A client whose calls return results, as boto3's do, while the event loop continues."""

    def __init__(self, clients: AsyncClients, service: str, config: Any) -> None:
        self._clients, self.service, self.config = clients, service, config
        self.opened: Any = None

    def __getattr__(self, operation: str) -> Any:
        def call(**request: Any) -> Any:
            client = self.opened or wait_for(self._clients.open(self))
            return wait_for(getattr(client, operation)(**request))

        return call
