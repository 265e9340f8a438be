"""Scheduling in bulk: whatever is lost on the way, nothing is written over a row that may have run."""

import pytest

from duetime.testing.contract.scheduling import LARGE
from duetime.testing.contract.specimens import claim, fresh
from tests.contract.networks import LosesAnAnswer


@pytest.fixture
def steady(table):
    """A store over the table, which loses nothing."""
    return table.store()


@pytest.mark.parametrize("apart", [False, True], ids=["small payloads", "large payloads"])
def test_a_batch_with_a_lost_response_does_not_overwrite_rows_that_ran_meanwhile(table, steady, apart):
    actions = [fresh(steady, payload=LARGE, payload_offloaded=apart) for _ in range(60)]
    claimed = []
    single_shot = LosesAnAnswer(
        table.client, "batch_write_item", lambda: claimed.append(claim(steady, actions[7].ref))
    )
    table.store(single_shot=single_shot).put_many(actions)
    assert steady.get(actions[7].ref) == claimed[0]
    assert len(steady.get_rows([action.ref for action in actions])) == 60


def test_a_partly_failed_bulk_can_be_repeated_after_some_have_run(table, steady):
    actions = [fresh(steady) for _ in range(60)]

    class FailsAfterTheFirstBatch:
        def __init__(self):
            self.batches = 0

        def batch_write_item(self, **request):
            self.batches += 1
            if self.batches > 1:
                raise AssertionError("the caller's machine died")
            return table.client.batch_write_item(**request)

    with pytest.raises(AssertionError, match="died"):
        table.store(single_shot=FailsAfterTheFirstBatch()).put_many(actions)
    ran = claim(steady, actions[20].ref)
    steady.put_many(actions)
    assert steady.get(ran.ref) == ran
    assert len(steady.get_rows([action.ref for action in actions])) == 60


def test_rows_that_dynamodb_left_unprocessed_are_put_one_by_one(table, steady):
    class LeavesSomeUnprocessed:
        """DynamoDB may leave a part of a batch to its caller; the engines here never do."""

        def batch_write_item(self, *, RequestItems):  # noqa: N803 - DynamoDB's own name
            ((name, requests),) = RequestItems.items()
            table.client.batch_write_item(RequestItems={name: requests[2:]})
            return {"UnprocessedItems": {name: requests[:2]}}

    actions = [fresh(steady, payload=LARGE, payload_offloaded=place == 1) for place in range(30)]
    table.store(single_shot=LeavesSomeUnprocessed()).put_many(actions)
    assert [steady.get(action.ref) for action in actions] == actions
