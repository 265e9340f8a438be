"""A network that treats each commit as it is told: loses it, its answer, or makes it twice."""

from collections import deque
from functools import partial

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from duetime.aws.jobs import DynamoJobStore
from duetime.aws.tables import JOBS, create_table_request
from duetime.settings import DUE_SHARDS


class Network:
    """Makes the calls of a client, but each commit as `weather` says, until that is used up."""

    def __init__(self, client, *weather, reads=True):
        self._client, self.weather, self.reads = client, deque(weather), reads

    def __getattr__(self, name):
        found = getattr(self._client, name)
        if name == "get_item":
            return partial(self._read, found)
        return partial(self._transact, found) if name == "transact_write_items" else found

    def _read(self, found, **request):
        if not self.reads:
            raise EndpointConnectionError(endpoint_url="the table")
        return found(**request)

    def _transact(self, found, **request):
        if not self.weather or "ClientRequestToken" not in request:
            return found(**request)
        return self.weather.popleft()(partial(found, **request))


def lost(_call):
    """It never arrives."""
    raise EndpointConnectionError(endpoint_url="the table")


def unanswered(call):
    """It arrives, and its answer does not."""
    call()
    raise ReadTimeoutError(endpoint_url="the table")


def fault(_call):
    """The service is ill, and says so."""
    raise ClientError({"Error": {"Code": "InternalServerError"}}, "TransactWriteItems")


def unanswered_fault(call):
    """The service has done it, and falls ill."""
    call()
    fault(call)


def twice(call):
    """It arrives, its answer does not, and the client repeats it by itself."""
    call()
    return call()


def cancelled(*codes):
    """It is cancelled for those reasons."""
    answer = {
        "Error": {"Code": "TransactionCanceledException", "Message": f"said the table {[*codes]}"},
        "CancellationReasons": [{"Code": code} for code in codes],
    }

    def weather(_call):
        raise ClientError(answer, "TransactWriteItems")

    return weather


CONFLICT = cancelled("TransactionConflict", "None")
THROTTLED = cancelled("ThrottlingError", "None")


@pytest.fixture
def store(table):
    return table.store()


@pytest.fixture
def over(table):
    """A store behind a network."""
    return lambda *weather, **more: table.store(Network(table.client, *weather, **more))


@pytest.fixture
def jobs_over(table):
    """A job store behind a network."""
    table.client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    yield lambda *weather: DynamoJobStore(
        Network(table.client, *weather), table.name, "duetime-jobs", due_shards=DUE_SHARDS
    )
    table.client.delete_table(TableName="duetime-jobs")
