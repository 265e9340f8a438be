"""The stores that the contract is run over: memory, moto, and Amazon's DynamoDB Local."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from moto import mock_aws

from duetime import instant
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.keys import row_key
from duetime.aws.store import DynamoStore
from duetime.aws.tables import ACTIONS, JOBS, actions_shape, create_table_request
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.action import ActionRef
from duetime.ports.action_store import ActionStore
from duetime.ports.at_once import AtOnce, one_by_one
from duetime.ports.job_store import JobStore
from duetime.settings import DUE_SHARDS
from duetime.sqlite import items, rows
from duetime.sqlite.database import Database
from duetime.sqlite.store import SqliteJobStore, SqliteStore
from tests import dynamodb_local
from tests.contract import expressions
from tests.contract.expressions import NotedClient, note_call
from tests.emulated.call_lock import CallLock
from tests.emulated.fast_path.requests import FastPath, activate

MOTO, LOCAL = "moto", pytest.param("dynamodb-local", marks=pytest.mark.dynamodb_local)
EMULATED, SQLITE = "emulated", "sqlite"
SENT = pytest.StashKey[dict[str, set[str]]]()
"""What each test has sent to moto."""
COLLECTED = pytest.StashKey[set[str]]()
"""The names of all tests of this folder, also of those that the marks deselect."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave to DynamoDB Local the tests over moto that no expression needs."""
    here = [item for item in items if item.path.parent == expressions.LISTED.parent]
    config.stash[COLLECTED] = {item.nodeid for item in here}
    needed = {*expressions.listed().values()}
    for item in here:
        if is_over_moto(item) and item.nodeid not in needed:
            item.add_marker(pytest.mark.moto_too)


def is_over_moto(item):
    """Whether it is the variant over moto of a test that also runs over DynamoDB Local."""
    params = getattr(item, "callspec", None) and item.callspec.params
    fixtures = item._fixtureinfo.name2fixturedefs  # a class may override one, and request it
    return any(
        value == MOTO and any(LOCAL in (fixture.params or ()) for fixture in fixtures.get(name, ()))
        for name, value in (params or {}).items()
    )


class OneAtATime:
    """A client whose calls are made one after the other.

    moto looks at an item, checks the condition and writes in three steps without a lock: under threads two
    writers can
    both find the condition true. DynamoDB is atomic for each item, and so is moto once its calls do not
    overlap. What
    the threads of a test then race for is the order of the calls, which is what the protocol is about.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._lock = client, threading.Lock()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                return found(*args, **kwargs)

        return call


@dataclass
class Table:
    """An empty actions table, and a client to it that sends each request once."""

    client: Any
    name: str
    due_order: bool = False

    def store(self, client: Any = None, at_once: AtOnce = one_by_one) -> DynamoStore:
        """The store over it; through `client`, if one is given."""
        return DynamoStore(
            client or self.client,
            self.name,
            due_shards=DUE_SHARDS,
            due_order=self.due_order,
            at_once=at_once,
        )


@pytest.fixture(scope="session")
def moto_clients():
    """Clients that talk to moto while it is on; they are costly to make, and keep nothing."""
    session = boto3.Session(**dynamodb_local.CREDENTIALS)
    clients = {service: session.client(service) for service in ("dynamodb", "sqs", "scheduler", "events")}
    clients["dynamodb"].meta.events.register_first("before-call.dynamodb", note_call)
    return clients


@pytest.fixture(scope="session")
def fast_path():
    """The local cloud's fast path to moto. It keeps the forms of requests that moto has accepted."""
    return FastPath(CallLock())


@pytest.fixture
def moto(request, moto_clients, fast_path):
    """An empty AWS account, as the local cloud emulates it."""
    expressions.sent.clear()
    with mock_aws(), activate(fast_path):
        yield moto_clients
    test = request.node.nodeid
    request.config.stash.setdefault(SENT, {})[test] = {*expressions.sent}
    expressions.check_moto(test)


@pytest.fixture(scope="session")
def local_endpoint():
    """DynamoDB Local, for the whole session."""
    with dynamodb_local.running() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def local_client(local_endpoint):
    """A client to it, whose tables have no streams."""
    client = dynamodb_local.client(local_endpoint)
    dynamodb_local.leave_out_streams(client)
    return client


@pytest.fixture
def moto_table(moto):
    """An actions table in moto."""
    client = OneAtATime(moto["dynamodb"])
    client.create_table(**create_table_request(ACTIONS, "duetime-actions"))
    return Table(client, "duetime-actions")


@pytest.fixture
def plain_table(moto_clients):
    """An actions table in moto, without the local cloud's fast path."""
    with mock_aws():
        client = OneAtATime(moto_clients["dynamodb"])
        client.create_table(**create_table_request(ACTIONS, "duetime-actions"))
        yield Table(client, "duetime-actions")


@pytest.fixture
def local_table(local_client):
    """An actions table in DynamoDB Local."""
    local_client.create_table(**create_table_request(ACTIONS, "duetime-actions"))
    yield Table(local_client, "duetime-actions")
    local_client.delete_table(TableName="duetime-actions")


@pytest.fixture
def emulated_client(request):
    """The emulated client, which is much faster than moto."""
    expressions.sent.clear()
    client = NotedClient()
    yield client
    client.close()
    expressions.check(request.node.nodeid)


@pytest.fixture
def emulated_table(emulated_client):
    """An actions table in it."""
    emulated_client.create_table(**create_table_request(ACTIONS, "duetime-actions"))
    return Table(emulated_client, "duetime-actions")


TABLES = {"moto": "moto_table", "dynamodb-local": "local_table", "emulated": "emulated_table"}


@pytest.fixture
def sqlite_store():
    """An empty store over SQLite; tests/sqlite has one that is a file."""
    database = Database(":memory:", rows.TABLE + items.TABLE)
    yield SqliteStore(database)
    database.close()


@pytest.fixture
def memory_store():
    """An empty store in memory."""
    return MemoryStore()


ROW_STORES = {"memory": "memory_store", "sqlite": "sqlite_store"}
"""The stores that keep rows themselves."""


@pytest.fixture(params=[MOTO, LOCAL])
def table(request):
    """An actions table, in each engine."""
    return request.getfixturevalue(TABLES[request.param])


@pytest.fixture(params=[MOTO, LOCAL, EMULATED])
def any_table(request):
    """An actions table, in each engine and in the emulated client."""
    return request.getfixturevalue(TABLES[request.param])


@pytest.fixture(params=["memory", SQLITE, MOTO, LOCAL, EMULATED])
def store(request):
    """An empty store of each back end."""
    return _store(request)


@pytest.fixture(params=["memory", MOTO, LOCAL, EMULATED])
def rule_store(request):
    """An empty store of each way to evaluate guards: that of SQLite is memory's code."""
    return _store(request)


def _store(request):
    if request.param in ROW_STORES:
        return request.getfixturevalue(ROW_STORES[request.param])
    return request.getfixturevalue(TABLES[request.param]).store()


@pytest.fixture
def moto_ordered_table(moto):
    """One with the index by due time."""
    client = OneAtATime(moto["dynamodb"])
    client.create_table(**create_table_request(actions_shape(due_order=True), "duetime-ordered"))
    return Table(client, "duetime-ordered", due_order=True)


@pytest.fixture
def local_ordered_table(local_client):
    """One with it in DynamoDB Local."""
    local_client.create_table(**create_table_request(actions_shape(due_order=True), "duetime-ordered"))
    yield Table(local_client, "duetime-ordered", due_order=True)
    local_client.delete_table(TableName="duetime-ordered")


@pytest.fixture
def emulated_ordered_table(emulated_client):
    """One with it in the emulated client."""
    emulated_client.create_table(**create_table_request(actions_shape(due_order=True), "duetime-ordered"))
    return Table(emulated_client, "duetime-ordered", due_order=True)


@pytest.fixture(params=["memory", SQLITE, MOTO, LOCAL, EMULATED])
def ordered_store(request):
    """An empty store of each back end, set up with ``due_order``."""
    if request.param in ROW_STORES:
        return request.getfixturevalue(ROW_STORES[request.param])
    return request.getfixturevalue(TABLES[request.param].replace("_table", "_ordered_table")).store()


@pytest.fixture(params=[MOTO, LOCAL, EMULATED])
def jobs_table(request):
    """A jobs table, in each engine: the client and its name."""
    if request.param == "moto":
        client = request.getfixturevalue("moto")["dynamodb"]
    else:
        client = request.getfixturevalue(
            "local_client" if request.param == "dynamodb-local" else "emulated_client"
        )
    client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    yield client, "duetime-jobs"
    client.delete_table(TableName="duetime-jobs")


@dataclass
class BackEnd:
    """Actions and jobs over the same tables, both empty.

    `remove` takes a settled row away, as the time to live does.
    """

    store: ActionStore
    jobs: JobStore
    remove: Callable[[ActionRef], object]


@pytest.fixture(params=["memory", SQLITE, MOTO, LOCAL, EMULATED])
def back_end(request):
    """Each back end's actions and jobs."""
    yield from _back_end(request)


@pytest.fixture(params=["memory", MOTO, LOCAL, EMULATED])
def rule_back_end(request):
    """Actions and jobs of each way to evaluate guards: that of SQLite is memory's code."""
    yield from _back_end(request)


def _back_end(request):
    if request.param in ROW_STORES:
        store = request.getfixturevalue(ROW_STORES[request.param])
        jobs = MemoryJobStore(store) if request.param == "memory" else SqliteJobStore(store)
        yield BackEnd(store, jobs, lambda _ref: store.remove_expired(instant.LATEST))
        return
    actions = request.getfixturevalue(TABLES[request.param])
    actions.client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    jobs = DynamoJobStore(actions.client, actions.name, "duetime-jobs", due_shards=DUE_SHARDS)
    yield BackEnd(
        actions.store(),
        jobs,
        lambda ref: actions.client.delete_item(TableName=actions.name, Key=row_key(ref)),
    )
    actions.client.delete_table(TableName="duetime-jobs")
