"""Scheduling under a debounce key over HTTP."""

from uuid import UUID

import pytest

KEYED = {"type": "remark", "payload": {"text": "hello"}, "in": 60, "debounce_key": "reindex:42"}
OTHER = {
    "type": "apply-plan-change",
    "payload": {name: str(UUID(int=7)) for name in ("subscription_id", "new_plan_id")},
}
LATER = {**KEYED, "payload": {"text": "bye"}, "in": 120}


def listed(call):
    return call("query", query={}).json["items"]


def test_a_further_request_changes_the_action_with_another_status(call):
    first = call("schedule", body={**KEYED, "at_most_after": 90})
    again = call("schedule", body={**LATER, "at_most_after": 300})
    assert (first.status, again.status) == (201, 200)
    assert again.json["id"] == first.json["id"]
    assert again.json["payload"]["text"] == "bye"
    assert again.json["due_at"] == again.json["debounce_until"] == first.json["debounce_until"]
    assert (first.json["coalesced"], again.json["coalesced"]) == (0, 1)
    [item] = listed(call)
    assert (item["debounce_key"], item["due_at"]) == ("reindex:42", again.json["due_at"])


def test_a_request_after_a_cancel_schedules_another(call):
    first = call.schedule(body=KEYED)
    call("cancel", action_id=first["id"])
    second = call("schedule", body=LATER)
    assert second.status == 201
    assert second.json["id"] != first["id"]


def test_an_action_of_another_type_is_a_conflict_that_names_it(call):
    first = call.schedule(body=KEYED)
    response = call("schedule", body={**KEYED, **OTHER})
    assert (response.status, response.code) == (409, "debounce-conflict")
    assert response.json["action_id"] == first["id"]


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"at_most_after": 30}, "at_most_after"),
        ({"at_most_after": 0}, "at_most_after"),
        ({"debounce_key": None, "at_most_after": 90}, "at_most_after"),
        ({"idempotency_key": "order-17"}, "debounce_key"),
        ({"debounce_key": "a#b"}, "debounce_key"),
        ({"debounce_key": ""}, "debounce_key"),
    ],
    ids=str,
)
def test_an_invalid_request_is_rejected_at_its_field(call, more, where):
    response = call("schedule", body={**KEYED, **more})
    assert response.status == 422
    assert response.json["errors"][0]["where"] == where
    assert listed(call) == []


def test_a_key_is_its_tenants_own(call):
    call.schedule(body=KEYED)
    claims = {"custom:tenant_id": "globex", "sub": "2", "email": "bob@globex.example"}
    assert call("schedule", body=KEYED, claims=claims).status == 201
