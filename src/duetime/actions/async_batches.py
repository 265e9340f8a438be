"""Batches for asyncio: `AsyncScheduler.batch` and `AsyncScheduler.batches` are such objects."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from duetime.actions.batches import Batches, OpenBatch
from duetime.asynchronous.awaited import Awaited, awaited


class AsyncOpenBatch(Awaited[OpenBatch]):
    """The methods of `OpenBatch`, awaited; ``async with`` closes it at the end, unless an error occurs."""

    open = awaited(OpenBatch.open)
    schedule_many = awaited(OpenBatch.schedule_many)
    close = awaited(OpenBatch.close)
    member_id = awaited(OpenBatch.member_id)

    @property
    def name(self) -> str:
        """The name of the batch."""
        return self._synchronous.name

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()


class AsyncBatches(Awaited[Batches]):
    """The methods of `Batches`, awaited."""

    get = awaited(Batches.get)
    list = awaited(Batches.list)
    members = awaited(Batches.members)
    close = awaited(Batches.close)
    cancel = awaited(Batches.cancel)
    redrive = awaited(Batches.redrive)
