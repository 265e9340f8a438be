"""Concurrency keys over HTTP: how they are said, and shown again."""

import pytest

REMARK = {"type": "remark", "payload": {}, "in": 60}
KEY = "customer:42"


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_a_concurrency_key_and_its_limit_are_scheduled_and_shown(call, limit):
    made = call.schedule(body={**REMARK, "concurrency_key": KEY, "concurrency_limit": limit})
    assert (made["concurrency_key"], made["concurrency_limit"]) == (KEY, limit)
    [listed] = call("query", query={}).json["items"]
    assert (listed["concurrency_key"], listed["concurrency_limit"]) == (KEY, limit)


def test_a_key_without_a_limit_allows_one_run_at_once(call):
    assert call.schedule(body={**REMARK, "concurrency_key": KEY})["concurrency_limit"] == 1


def test_an_idempotency_key_is_shown_again(call):
    assert call.schedule(body={**REMARK, "idempotency_key": "order-17"})["idempotency_key"] == "order-17"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"concurrency_key": ""}, "is empty"),
        ({"concurrency_key": "a#b"}, "separates"),
        ({"concurrency_key": "k" * 129}, "at most 128"),
        ({"concurrency_key": 7}, "must be text"),
        ({"concurrency_key": KEY, "concurrency_limit": 0}, "greater than or equal to 1"),
        ({"concurrency_key": KEY, "concurrency_limit": 101}, "less than or equal to 100"),
        ({"concurrency_key": KEY, "concurrency_limit": "2"}, "must be a whole number"),
        ({"concurrency_key": KEY, "concurrency_limit": True}, "must be a whole number"),
        ({"concurrency_key": KEY, "concurrency_limit": None}, "must be a whole number"),
        ({"concurrency_limit": 2}, "pass concurrency_key as well"),
    ],
    ids=str,
)
def test_an_invalid_key_or_limit_is_rejected_with_the_remedy(call, fields, problem):
    response = call("schedule", body={**REMARK, **fields})
    assert response.status == 422
    assert problem in response.text
    assert call("query", query={}).json["items"] == []
