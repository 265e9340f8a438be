"""The contract of the action store over the asynchronous client: all that `AsyncScheduler` calls."""

import asyncio
import threading
from functools import partial

import pytest

from duetime.asynchronous.suspension import run
from duetime.aws.async_clients import AsyncClients, in_tasks
from duetime.aws.store import DynamoStore
from duetime.settings import DUE_SHARDS
from duetime_contract.lists import FailedContract, ListContract
from duetime_contract.scheduling import PayloadContract, SchedulingContract
from tests.contract.rules.changing import (
    CancelContract,
    DismissContract,
    LateContract,
    RedriveContract,
    RescheduleContract,
)
from tests.contract.rules.idempotency import IdempotencyContract, KeyRaceContract, KeyRedriveContract


class OverAnEventLoop:
    """A store whose methods are tasks of one event loop, from any thread."""

    def __init__(self, store, loop):
        self._store, self._loop, self.due_shards = store, loop, store.due_shards

    def __getattr__(self, name):
        method = getattr(self._store, name)
        return lambda *args, **named: self.result(run(partial(method, *args, **named)))

    def result(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


@pytest.fixture(scope="module")
def loop():
    """An event loop in a thread of its own."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


@pytest.mark.long
@pytest.mark.usefixtures("dynamodb")
class TestActionStoreUnderAsyncio(
    SchedulingContract,
    PayloadContract,
    IdempotencyContract,
    KeyRaceContract,
    KeyRedriveContract,
    CancelContract,
    LateContract,
    RescheduleContract,
    DismissContract,
    RedriveContract,
    ListContract,
    FailedContract,
):
    @pytest.fixture
    def store(self, loop):
        clients = AsyncClients()
        over = DynamoStore(clients.dynamodb, "duetime-actions", due_shards=DUE_SHARDS, at_once=in_tasks)
        made = OverAnEventLoop(over, loop)
        yield made
        made.result(clients.close())
