"""Scheduling under an idempotency key over HTTP."""

from datetime import timedelta

import pytest

from duetime.model.action import Ending, Status

KEY = "order-17"
REMARK = {"type": "remark", "payload": {"text": "hello"}, "in": 60}
KEYED = {**REMARK, "idempotency_key": KEY}


def with_header(call, key, body, name="Idempotency-Key"):
    """Call with the header, which API Gateway gives in two forms."""
    headers = {"Content-Type": ["application/json"], name: [key]}
    return call("schedule", body=body, headers={name: key}, multiValueHeaders=headers)


def listed(call):
    return call("query", query={}).json["items"]


def test_a_repeat_returns_the_first_action_with_another_status(call):
    first = call("schedule", body=KEYED)
    again = call("schedule", body={**KEYED, "in": 3_600})
    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert again.headers["Location"] == first.headers["Location"]
    assert len(listed(call)) == 1


@pytest.mark.parametrize("name", ["Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY"])
def test_the_header_also_sets_the_key(call, name):
    first = with_header(call, KEY, REMARK, name)
    assert first.status == 201
    assert call("schedule", body=KEYED).json == first.json
    assert with_header(call, KEY, KEYED, name).status == 200


def test_a_header_with_another_key_than_the_body_is_rejected(call):
    response = with_header(call, "order-18", KEYED)
    assert (response.status, response.code) == (422, "invalid-request")
    assert response.json["errors"][0]["where"] == "idempotency_key"
    assert listed(call) == []


def test_a_key_of_another_request_is_a_conflict_that_names_the_first_action(call):
    first = call.schedule(body=KEYED)
    response = call("schedule", body={**KEYED, "payload": {"text": "bye"}})
    assert (response.status, response.code) == (409, "idempotency-conflict")
    assert response.json["action_id"] == first["id"]


def test_a_key_is_its_tenants_own(call):
    call.schedule(body=KEYED)
    claims = {"custom:tenant_id": "globex", "sub": "2", "email": "bob@globex.example"}
    assert call("schedule", body=KEYED, claims=claims).status == 201


def test_the_body_sets_the_life_of_a_key(call, worker, clock):
    made = call.schedule(body={**KEYED, "in": 0, "idempotency_ttl": 60})
    claimed = worker.claim(made["id"])
    worker.settle(claimed, Ending.EXECUTED, Status.EXECUTED, kept_until=clock.now() + timedelta(days=1))
    clock.wait_until(clock.now() + timedelta(seconds=59))
    assert call("schedule", body=KEYED).status == 200
    clock.wait_until(clock.now() + timedelta(seconds=1))
    assert call("schedule", body=KEYED).status == 201


@pytest.mark.parametrize(
    "fields",
    [
        {"idempotency_key": ""},
        {"idempotency_key": "a#b"},
        {"idempotency_key": 7},
        {"idempotency_ttl": 59, "idempotency_key": KEY},
        {"idempotency_ttl": 2_592_001, "idempotency_key": KEY},
        {"idempotency_ttl": "60", "idempotency_key": KEY},
        {"idempotency_ttl": 60},
    ],
    ids=str,
)
def test_an_invalid_key_or_time_to_live_is_rejected(call, fields):
    assert call("schedule", body={**REMARK, **fields}).status == 422
    assert listed(call) == []


def test_an_empty_header_is_no_key(call):
    assert with_header(call, "", REMARK).status == 422
