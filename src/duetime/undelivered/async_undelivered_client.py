"""Undelivered inputs for asyncio: `AsyncScheduler.undelivered` is such an object."""

from __future__ import annotations

from duetime.asynchronous.awaited import Awaited, awaited
from duetime.undelivered.undelivered_client import UndeliveredClient


class AsyncUndeliveredClient(Awaited[UndeliveredClient]):
    """The methods of `UndeliveredClient`, awaited."""

    get = awaited(UndeliveredClient.get)
    list = awaited(UndeliveredClient.list)
    redrive = awaited(UndeliveredClient.redrive)
    redrive_many = awaited(UndeliveredClient.redrive_many)
