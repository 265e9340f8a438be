"""Expiry over HTTP."""

import pytest

REMARK = {"type": "remark", "payload": {}, "at": "2027-06-01T09:00:00Z"}


@pytest.mark.parametrize(
    "fields",
    [{"expires_after": 3600}, {"expires_at": "2027-06-01T10:00:00Z"}],
    ids=lambda given: next(iter(given)),
)
def test_an_expiry_is_scheduled_and_shown(call, fields):
    made = call.schedule(body={**REMARK, **fields})
    assert made["expires_at"] == "2027-06-01T10:00:00Z"
    [listed] = call("query", query={}).json["items"]
    assert listed["expires_at"] == made["expires_at"]


def test_a_local_expiry_is_in_the_zone_of_the_due_time(call):
    local = {"at": "2027-06-01T09:00:00", "tz": "Europe/Paris", "expires_at": "2027-06-01T10:00:00"}
    assert call.schedule(body={**REMARK, **local})["expires_at"] == "2027-06-01T08:00:00Z"


def test_an_action_without_an_expiry_shows_none(call):
    assert call.schedule(body=REMARK)["expires_at"] is None


@pytest.mark.parametrize(
    ("fields", "field", "problem"),
    [
        ({"expires_after": 0}, "expires_after", "greater than 0"),
        ({"expires_after": "1h"}, "expires_after", "must be a number"),
        ({"expires_at": "soon"}, "expires_at", "is no ISO 8601 time"),
        ({"expires_at": "2027-06-01T10:00:00"}, "expires_at", "has no offset"),
        ({"expires_at": "2027-06-01T09:00:00Z"}, "expires_at", "is not after the due time"),
        ({"expires_at": "2027-06-01T10:00:00Z", "expires_after": 60}, "expires_after", "pass one of them"),
    ],
    ids=str,
)
def test_an_expiry_in_which_no_run_could_begin_is_rejected(call, fields, field, problem):
    response = call("schedule", body={**REMARK, **fields})
    assert response.status == 422
    [error] = response.json["errors"]
    assert error["where"] == field
    assert problem in error["problem"]
    assert call("query", query={}).json["items"] == []
