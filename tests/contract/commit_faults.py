"""A network that loses a commit or its response, or sends the commit twice."""

from collections import deque
from functools import partial

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from duetime.aws.jobs import DynamoJobStore
from duetime.aws.tables import JOBS, create_table_request
from duetime.settings import DUE_SHARDS


class Network:
    """Passes calls to a client; each commit has the next of `outcomes`, until none is left."""

    def __init__(self, client, *outcomes, reads=True):
        self._client, self.outcomes, self.reads = client, deque(outcomes), reads

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
        if not self.outcomes or "ClientRequestToken" not in request:
            return found(**request)
        return self.outcomes.popleft()(partial(found, **request))


def lost(_call):
    """The request is lost."""
    raise EndpointConnectionError(endpoint_url="the table")


def unanswered(call):
    """The commit is made; its response is lost."""
    call()
    raise ReadTimeoutError(endpoint_url="the table")


def fault(_call):
    """The service returns an internal error."""
    raise ClientError({"Error": {"Code": "InternalServerError"}}, "TransactWriteItems")


def unanswered_fault(call):
    """The commit is made; the service returns an internal error."""
    call()
    fault(call)


def twice(call):
    """The response is lost, and the client repeats the commit."""
    call()
    return call()


def cancelled(*codes):
    """The transaction is cancelled for these reasons."""
    answer = {
        "Error": {"Code": "TransactionCanceledException", "Message": f"said the table {[*codes]}"},
        "CancellationReasons": [{"Code": code} for code in codes],
    }

    def outcomes(_call):
        raise ClientError(answer, "TransactWriteItems")

    return outcomes


CONFLICT = cancelled("TransactionConflict", "None")
THROTTLED = cancelled("ThrottlingError", "None")


@pytest.fixture
def store(table):
    return table.store()


@pytest.fixture
def over(table):
    """A store behind a network."""
    return lambda *outcomes, **more: table.store(Network(table.client, *outcomes, **more))


@pytest.fixture
def jobs_over(table):
    """A job store behind a network."""
    table.client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    yield lambda *outcomes: DynamoJobStore(
        Network(table.client, *outcomes), table.name, "duetime-jobs", due_shards=DUE_SHARDS
    )
    table.client.delete_table(TableName="duetime-jobs")
