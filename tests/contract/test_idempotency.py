"""Idempotency keys in DynamoDB: their items, lost answers, and transactions of a caller's own."""

from dataclasses import replace

import pytest
from botocore.exceptions import ReadTimeoutError

from duetime.aws.keys import row_key
from duetime.errors import BackendUnavailable
from duetime.ids import SEPARATOR
from duetime.model.action import Status
from duetime.model.lease import Applied
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import ACME, NOON, claim, fresh, stored_row
from tests.contract.networks import LosesAnAnswer
from tests.contract.rules.idempotency import KEY, LATER, OTHER, finished, key_from, placed, under_key


@pytest.fixture
def steady(table):
    """A store over the table, which loses nothing."""
    return table.store()


def items(table):
    return table.client.scan(TableName=table.name, ConsistentRead=True)["Items"]


def keys(table):
    return [item for item in items(table) if f"{SEPARATOR}key{SEPARATOR}" in item["pk"]["S"]]


def test_a_key_is_an_item_of_its_tenants_that_no_list_shows_and_that_never_expires_by_itself(table, steady):
    action = placed(steady)
    [key] = keys(table)
    assert key["pk"]["S"].startswith(f"{ACME}{SEPARATOR}")
    assert key["sk"]["S"] == KEY
    assert key["action_id"]["S"] == action.id
    assert not key.keys() & {"ttl", "status", "due_shard", "correlation"}


def test_an_action_without_a_key_is_one_item(table, steady):
    steady.put(fresh(steady))
    assert len(items(table)) == 1


def test_a_repeat_leaves_no_large_payload_behind(table, steady):
    placed(steady, payload=LARGE)
    before = items(table)
    placed(steady, payload=LARGE)
    assert sorted(map(str, items(table))) == sorted(map(str, before))


def test_the_key_of_a_row_that_was_removed_is_free(table, steady):
    previous = finished(steady, placed(steady))
    table.client.delete_item(TableName=table.name, Key=row_key(previous.ref))
    second = placed(steady, NOON, OTHER)
    assert steady.get(second.ref) == second


def test_a_key_is_removed_with_its_row(table, steady):
    action = placed(steady)
    steady.remove_key(action.ref, KEY)
    assert keys(table) == []


def test_a_schedule_whose_response_was_lost_finds_its_own_key(table, steady):
    action = under_key(steady)
    caller = table.store(LosesAnAnswer(table.client, "transact_write_items"))
    assert caller.put_once(action, key_from(NOON)) == action
    assert steady.get(action.ref) == action
    assert len(keys(table)) == 1


def test_a_take_over_whose_response_was_lost_finds_its_own_key(table, steady):
    previous = finished(steady, placed(steady))
    action = under_key(steady)
    caller = table.store(LosesTheAnswerOfATakeOver(table.client))
    assert caller.put_once(action, key_from(LATER)) == action
    assert steady.get(action.ref) == action
    assert steady.get(previous.ref) == previous


class LosesTheAnswerOfATakeOver:
    """A network that loses what a transaction with a check in it is answered with."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)

    def transact_write_items(self, **request):
        answer = self._client.transact_write_items(**request)
        if any("ConditionCheck" in item for item in request["TransactItems"]):
            raise ReadTimeoutError(endpoint_url="the table")
        return answer


class NeverSends:
    """A network on which no transaction arrives."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)

    def transact_write_items(self, **_asked):
        raise ReadTimeoutError(endpoint_url="the table")


def test_a_schedule_that_never_arrived_is_in_doubt_and_leaves_nothing(table, steady):
    with pytest.raises(BackendUnavailable):
        table.store(NeverSends(table.client)).put_once(under_key(steady), key_from(NOON))
    assert items(table) == []


def test_a_repeat_after_a_lost_response_returns_the_existing_action(table, steady):
    class LosesAllAnswers(NeverSends):
        def get_item(self, **_asked):
            raise ReadTimeoutError(endpoint_url="the table")

        def transact_write_items(self, **request):
            self._client.transact_write_items(**request)
            raise ReadTimeoutError(endpoint_url="the table")

    first = under_key(steady)
    with pytest.raises(BackendUnavailable):
        table.store(LosesAllAnswers(table.client)).put_once(first, key_from(NOON))
    running = claim(steady, first.ref)
    assert placed(steady) == running


def test_of_two_that_find_a_key_free_after_its_time_one_takes_it(table, steady):
    finished(steady, placed(steady))
    rivals = []

    class TakenMeanwhile(NeverSends):
        """Another caller takes the key after its former action was read, and before it is replaced."""

        def transact_write_items(self, **request):
            if "#action_id = " in str(request) and not rivals:
                rivals.append(placed(steady, LATER))
            return self._client.transact_write_items(**request)

    second = table.store(TakenMeanwhile(table.client)).put_once(under_key(steady), key_from(LATER))
    assert [second] == rivals


def test_a_redrive_with_a_key_whose_response_was_lost_returns_its_result_when_repeated(table, steady):
    failed = finished(steady, placed(steady), Status.FAILED)
    caller = table.store(LosesAnAnswer(table.client, "transact_write_items"))
    with pytest.raises(BackendUnavailable):
        caller.redrive(failed, LATER, by="ops", at=LATER)
    assert caller.redrive(failed, LATER, by="ops", at=LATER) == Applied(stored_row(steady, failed.ref))
    assert stored_row(steady, failed.ref).generation == 2


@pytest.mark.parametrize("payload", ["{}", LARGE], ids=["small payload", "large payload"])
def test_a_key_is_taken_in_a_callers_own_transaction(table, steady, payload):
    action = under_key(steady, payload=payload)
    entries = steady.entries(action, key_from(NOON))
    table.client.transact_write_items(TransactItems=list(entries))
    assert placed(steady, payload=payload) == action


def test_a_callers_own_transaction_with_a_key_that_is_taken_fails_at_its_entry(table, steady):
    first = placed(steady)
    rival = under_key(steady)
    entries = list(steady.entries(rival, key_from(NOON)))
    place = next(n for n, entry in enumerate(entries) if entry["Put"]["Item"]["sk"]["S"] == KEY)
    with pytest.raises(table.client.exceptions.TransactionCanceledException) as refused:
        table.client.transact_write_items(TransactItems=entries)
    codes = [item["Code"] for item in refused.value.response["CancellationReasons"]]
    assert [n for n, code in enumerate(codes) if code == "ConditionalCheckFailed"] == [place]
    assert steady.get(rival.ref) is None
    assert placed(steady) == first


def test_rows_keep_their_key_in_every_status(steady):
    action = replace(under_key(steady), correlation_id="order:17")
    steady.put_once(action, key_from(NOON))
    assert finished(steady, action).idempotency_key == KEY
