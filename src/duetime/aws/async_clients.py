"""Asynchronous clients of AWS for synchronous code that `duetime.asynchronous` runs.

A client is opened at its first call, and all are closed together.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from aiobotocore.config import AioConfig
from aiobotocore.session import get_session

from duetime.asynchronous.suspension import wait_for
from duetime.aws.clients import ONCE, PATIENT


class AsyncClients:
    """The clients of one event loop."""

    def __init__(self) -> None:
        self._open, self._lock = AsyncExitStack(), asyncio.Lock()
        self.dynamodb = AwaitedClient(self, "dynamodb", AioConfig().merge(PATIENT))
        self.single_shot = AwaitedClient(self, "dynamodb", AioConfig().merge(ONCE))
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
            for client in (self.dynamodb, self.single_shot, self.sqs):
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
