"""What is undelivered, over HTTP: for operators only."""

from datetime import timedelta

import pytest

from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.memory.notes import MemoryBookmarks
from duetime.model.action import ActionRef
from duetime.model.undelivered import UndeliveredKind, request_for
from tests.api.conftest import ADA, NOW, OPERATOR, Client, empty_access, jobs_app, sample_event
from tests.contract.rules.undelivered import given_up

ACTION = ActionRef("acme", "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16")


@pytest.fixture
def undelivered(cloud):
    return cloud.undelivered_ports


@pytest.fixture
def ask(cloud, clock, settings, undelivered):
    """Calls a route of what is undelivered, as an operator unless the test says otherwise."""
    api = ApiContext(cloud.store, cloud.job_ports, jobs_app(), clock, settings, undelivered)
    client = Client(make_api(api, Health(MemoryBookmarks()), empty_access()))

    def call(method, path="", *, claims=OPERATOR, **changes):
        event = sample_event("cancel", httpMethod=method, path=f"/api/v1/undelivered{path}", **changes)
        event["requestContext"]["path"] = f"/prod{event['path']}"
        event["requestContext"]["authorizer"]["claims"] = claims
        return client.send(event)

    return call


@pytest.fixture
def undelivered_inputs(undelivered):
    """Three things, the newest first."""
    things = [
        given_up("a", NOW + timedelta(hours=2), kind=UndeliveredKind.PASS, source="sweep"),
        given_up("b", NOW + timedelta(hours=1), action=ACTION),
        given_up("c", NOW),
    ]
    for thing in things:
        undelivered.store.keep(thing, expires_at=NOW + timedelta(days=30))
    return things


def asked_for(undelivered):
    return undelivered.queues.sent


def test_an_empty_list_is_shown_as_empty(ask):
    response = ask("GET")
    assert (response.status, response.json) == (200, {"items": [], "next_cursor": None})


def test_they_are_listed_newest_first_page_by_page_and_without_their_bodies(ask, undelivered_inputs):
    first = ask("GET", query={"limit": "2"}).json
    second = ask("GET", query={"limit": "2", "cursor": first["next_cursor"]}).json
    assert [item["id"] for item in (*first["items"], *second["items"])] == [
        item.id for item in undelivered_inputs
    ]
    assert second["next_cursor"] is None
    assert first["items"][1] == {
        "id": undelivered_inputs[1].id,
        "kind": "message",
        "source": "due-default",
        "reason": "no worker took it",
        "first_at": "2030-06-01T12:00:00Z",
        "last_at": "2030-06-01T12:00:00Z",
        "count": 1,
        "tenant_id": "acme",
        "action_id": ACTION.id,
    }


def test_one_is_shown_in_full(ask, undelivered_inputs):
    response = ask("GET", f"/{undelivered_inputs[2].id}")
    assert response.status == 200
    assert (response.json["body"], response.json["is_cut"], response.json["action_id"]) == ("c", False, None)


def test_those_of_the_ids_are_redriven_by_requests_to_the_undelivered_handler(
    ask, undelivered_inputs, undelivered
):
    ids = [undelivered_inputs[2].id, undelivered_inputs[1].id]
    dry = ask("POST", "/redrive", body={"ids": ids, "dry_run": True})
    assert [item["id"] for item in dry.json["items"]] == ids
    assert asked_for(undelivered) == []
    response = ask("POST", "/redrive", body={"ids": ids})
    assert (response.status, response.json) == (202, {**dry.json, "dry_run": False})
    assert asked_for(undelivered) == [("failures", request_for(one)) for one in ids]


@pytest.mark.parametrize(
    ("fields", "chosen"),
    [({}, "abc"), ({"kind": "message"}, "bc"), ({"limit": 1}, "a"), ({"kind": "wake"}, "")],
)
def test_many_are_redriven_the_newest_first(ask, undelivered_inputs, undelivered, fields, chosen):
    expected = [item for item in undelivered_inputs if item.body in chosen]
    dry = ask("POST", "/redrive", body={**fields, "dry_run": True})
    assert (dry.status, dry.json["dry_run"]) == (202, True)
    assert [item["id"] for item in dry.json["items"]] == [item.id for item in expected]
    assert asked_for(undelivered) == []
    assert ask("POST", "/redrive", body=fields).json == {**dry.json, "dry_run": False}
    assert asked_for(undelivered) == [("failures", request_for(item.id)) for item in expected]


@pytest.mark.parametrize("unknown", ["nothing", "u.20260301T120000Z.0123456789abcdef"])
def test_a_missing_input_is_not_found(ask, undelivered_inputs, undelivered, unknown):
    ids = [undelivered_inputs[0].id, unknown]
    for method, path, body in (("GET", f"/{unknown}", None), ("POST", "/redrive", {"ids": ids})):
        response = ask(method, path, body=body)
        assert (response.status, response.code) == (404, "undelivered-input-not-found")
    assert asked_for(undelivered) == []


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("GET", "/u.1"), ("POST", "/redrive")],
)
def test_other_users_than_operators_see_and_redrive_nothing(
    ask, undelivered_inputs, undelivered, method, path
):
    response = ask(method, path, claims=ADA, body={} if path == "/redrive" else None)
    assert (response.status, response.code) == (403, "forbidden")
    assert asked_for(undelivered) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"ids": []},
        {"ids": "u.1"},
        {"kind": "strange"},
        {"limit": 0},
        {"limit": 1_001},
        {"dry_run": "yes"},
        {"all": True},
    ],
)
def test_a_request_with_other_fields_is_rejected(ask, undelivered_inputs, undelivered, fields):
    response = ask("POST", "/redrive", body=fields)
    assert (response.status, response.code) == (422, "invalid-request")
    assert asked_for(undelivered) == []


@pytest.mark.parametrize(
    ("query", "status"), [({"limit": "0"}, 422), ({"kind": "x"}, 422), ({"cursor": "x"}, 422)]
)
def test_an_invalid_list_request_is_rejected(ask, query, status):
    assert ask("GET", query=query).status == status


def test_an_api_without_back_ends_for_it_responds_with_the_reason(call_cloud):
    event = sample_event("cancel", httpMethod="GET", path="/api/v1/undelivered", claims=OPERATOR)
    response = call_cloud.send(event)
    assert (response.status, response.code) == (501, "unsupported")
