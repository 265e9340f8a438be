"""Scheduling in bulk: whatever is lost on the way, nothing is written over a row that may have run."""

from dataclasses import replace

import pytest
from botocore.exceptions import ReadTimeoutError

from duetime.errors import BackendUnavailable
from duetime.model.action import Status
from duetime.ports.at_once import in_threads
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import claim, end, fresh


class HoldsBack:
    """A network that holds the writes of a caller back, until the caller has given up."""

    def __init__(self, client):
        self._client, self.held = client, []

    def __getattr__(self, name):
        def call(**request):
            if not name.startswith(("put", "batch", "transact")):
                return getattr(self._client, name)(**request)
            self.held.append((name, request))
            raise ReadTimeoutError(endpoint_url="the table")

        return call

    def deliver(self):
        for name, request in self.held:
            try:
                getattr(self._client, name)(**request)
            except self._client.exceptions.ConditionalCheckFailedException:
                continue


@pytest.fixture
def steady(table):
    """A store over the table, which loses nothing."""
    return table.store(at_once=in_threads)


@pytest.mark.parametrize("apart", [False, True], ids=["small payloads", "large payloads"])
def test_a_bulk_that_arrives_after_its_timeout_overwrites_no_row_that_ran(table, steady, apart):
    actions = [fresh(steady, payload=LARGE, payload_offloaded=apart) for _ in range(30)]
    network = HoldsBack(table.client)
    late = table.store(network, at_once=every_call)
    with pytest.raises(BackendUnavailable):
        late.put_many(actions)
    steady.put_many(actions)
    ran = [claim(steady, action.ref) for action in actions[:20]]
    for run in ran[:10]:
        steady.settle(run, end(Status.EXECUTED))
    before = {action.ref: steady.get(action.ref) for action in actions}
    network.deliver()
    assert len(network.held) == 30
    assert {action.ref: steady.get(action.ref) for action in actions} == before


def every_call(call, items):
    """Make all calls, and raise the last error: what threads do that have all begun."""
    errors = []
    for item in items:
        try:
            call(item)
        except BackendUnavailable as error:
            errors.append(error)
    raise errors[-1]


def test_a_partly_failed_bulk_can_be_repeated_after_some_have_run(table, steady):
    actions = [fresh(steady) for _ in range(60)]
    broken = [*actions[:30], replace(actions[30], payload=None, type=None), *actions[31:]]
    with pytest.raises(Exception, match="Parameter validation failed"):
        steady.put_many(broken)
    steady.put_many(actions[:30])
    ran = claim(steady, actions[20].ref)
    steady.put_many(actions)
    assert steady.get(ran.ref) == ran
    assert len(steady.get_rows([action.ref for action in actions])) == 60


def test_after_an_error_a_bulk_begins_no_further_call():
    made = []

    def call(number):
        made.append(number)
        if number == 0:
            raise BackendUnavailable("DynamoDB", "no response")

    with pytest.raises(BackendUnavailable):
        in_threads(call, range(10_000))
    assert len(made) < 10_000
