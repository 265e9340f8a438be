"""The trail has each requested change once, with caller, target and result, and no payload."""

import base64
import json

import pytest

from duetime.model.action import ActionRef
from tests.api.deployment import CLAIMS, GUARDED, NAME, at
from tests.api.trail import ADDRESS, CHANGES, OWN, SECRET, STAFF, scheduled
from tests.api.trail import ask as ask  # noqa: PLC0414 - fixtures
from tests.api.trail import deployment as deployment  # noqa: PLC0414
from tests.api.trail import trail as trail  # noqa: PLC0414


def test_an_entry_has_the_caller_its_roles_its_address_the_request_and_the_result(ask, trail):
    made = scheduled(ask).json
    assert ask("PUT", f"/actions/{made['id']}/reschedule", body={"in": 120}).status == 200
    later, first = trail()
    assert later.pop("id") > first.pop("id")
    links = [entry.pop(name) for entry in (first, later) for name in ("begun_link", "ended_link")]
    assert [link and link["number"] for link in links] == [None, 1, 2, 3]
    assert {entry.pop("expires_at")[:10] for entry in (first, later)} == {"2027-04-05"}
    who = {
        "subject": "s-1",
        "target": f"action:{made['id']}",
        "by": "ada@acme.example",
        "roles": ["admins", "others"],
        "address": ADDRESS,
    }
    result = {"id": made["id"], "status": "pending", "type": "remark"}
    assert first == {
        **who,
        "operation": "schedule",
        "requested_at": "2026-03-01T12:00:01Z",
        "request_fields": {"type": "remark", "in": 60},
        "status": 201,
        "result": {**result, "due_at": "2026-03-01T12:01:01Z"},
    }
    assert later == {
        **who,
        "operation": "reschedule",
        "requested_at": "2026-03-01T12:00:02Z",
        "request_fields": {"in": 120},
        "status": 200,
        "result": {**result, "due_at": "2026-03-01T12:02:02Z"},
    }


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_each_change_writes_exactly_one_entry_whatever_its_response(deployment, ask, trail, method, path):
    for number, inputs in enumerate(
        (
            {"body": {}},
            {"body": {"name": "x", "payload": {"text": SECRET}, "more": [{"payload": SECRET}]}},
            {"body": None, "claims": CLAIMS},
            {"body": "{"},
            {"body": "[1]"},
            {"body": base64.b64encode(b"\xff").decode(), "isBase64Encoded": True},
            {"body": "{}", "headers": {"Content-Type": "text/plain"}},
        ),
        1,
    ):
        response = ask(method, at(path), **inputs)
        entries = trail()
        assert len(entries) == number
        assert entries[0]["status"] == response.status
        assert (entries[0]["by"], entries[0]["address"]) == ("ada@acme.example", ADDRESS)
    assert SECRET not in json.dumps(trail())
    assert deployment.trail.list("globex", None, limit=9, cursor=None).entries == ()


def test_reads_leave_no_entry(ask, trail):
    for method, path, _ in GUARDED:
        if method == "GET":
            ask(method, at(path))
    assert trail() == []


def test_an_unknown_caller_leaves_no_entry(ask, trail):
    for method, path in CHANGES:
        assert ask(method, at(path), claims={"sub": "s-1"}).status == 403
    assert trail() == []


def test_the_entry_of_a_rejected_request_names_the_request_and_the_reason(ask, trail):
    running = scheduled(ask).json["id"]
    ask("DELETE", f"/actions/{running}")
    for status, inputs in (
        (403, {"method": "DELETE", "path": f"/actions/{running}", "claims": CLAIMS}),
        (404, {"method": "DELETE", "path": f"/actions/{NAME}"}),
        (409, {"method": "DELETE", "path": f"/actions/{running}"}),
        (422, {"method": "PUT", "path": f"/actions/{running}/reschedule", "body": {"in": -1}}),
    ):
        response = ask(**inputs)
        assert response.status == status, response.text
        last = trail()[0]
        assert last["status"] == status
        assert last["result"] == {name: response.json[name] for name in ("status", "type", "detail")}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/actions/cancel", {"type": "remark"}),
        ("/actions/redrive", {"type": "remark"}),
        ("/undelivered/redrive", {}),
    ],
)
def test_a_dry_run_writes_no_entry_and_the_real_run_writes_one(ask, trail, path, body):
    assert ask("POST", path, body={**body, "dry_run": True}).status < 300
    assert trail() == []
    assert ask("POST", path, body={**body, "dry_run": False}).status < 300
    assert [item["operation"] for item in trail()] == [path.rpartition("/")[2]]


def test_a_dry_run_is_in_the_trail_of_routes_without_dry_runs(ask, trail):
    made = scheduled(ask).json["id"]
    fields = {"body": {"dry_run": True}, "query": {"dry_run": "true"}}
    assert ask("DELETE", f"/actions/{made}", **fields).json["status"] == "cancelled"
    assert ask("DELETE", "/grants/clerks", **fields).status == 204
    assert [item["operation"] for item in trail()] == ["revoke", "cancel", "schedule"]
    doubled = '{"type":"remark","dry_run":true,"dry_run":false}'
    is_dry = ask("POST", "/actions/cancel", body=doubled).json["dry_run"]
    assert len(trail()) == (3 if is_dry else 4)


def test_an_identity_in_a_request_is_ignored_and_recorded(ask, trail):
    response = scheduled(
        lambda *route, body: ask(
            *route,
            body=body | {"tenant_id": "globex", "actor": "eve"},
            query={"user": "eve"},
            headers={"X-Duetime-Tenant": "globex", "x-duetime-user": "eve"},
        )
    )
    assert (response.json["tenant_id"], response.json["created_by"]) == ("acme", "ada@acme.example")
    (entry,) = trail()
    assert entry["by"] == "ada@acme.example"
    assert entry["request_fields"] == {
        "type": "remark",
        "in": 60,
        "ignored": ["actor", "tenant_id", "user", "x-duetime-tenant", "x-duetime-user"],
    }


def test_no_entry_contains_a_payload_at_any_depth(ask, trail):
    deep = {"a": [{"payload": SECRET, "b": {"payload": [SECRET], "c": 1}}], "payload": SECRET}
    ask("POST", "/jobs", body={**OWN, "reason": deep})
    ask("POST", "/jobs", body=json.dumps([deep]))
    ask("POST", "/jobs/own-report/trigger", body={"payload": {"text": SECRET, "number": SECRET}})
    assert len(trail()) == 3
    assert SECRET not in json.dumps(trail())
    assert trail()[-1]["request_fields"] == {"name": "own-report", "type": "remark"}


@pytest.mark.parametrize(
    ("route", "body", "inputs"),
    [
        (
            "POST /actions",
            {"type": "remark", "in": 60, "payloads": {"text": SECRET}},
            {"type": "remark", "in": 60},
        ),
        ("POST /jobs/own-report/trigger", {"text": SECRET}, {}),
        ("POST /jobs/own-report/pause", {"reason": {"text": SECRET}}, {}),
        (
            "POST /actions/cancel",
            {"type": "remark", "status": ["failed", {"x": SECRET}]},
            {"type": "remark", "status": ["failed"]},
        ),
        (
            "PUT /jobs/own-report",
            {"type": "remark", "retry": {"attempts": 2, "note": SECRET}},
            {"type": "remark", "retry": {"attempts": 2}},
        ),
        ("PUT /notifications/preferences", {"language": "fr", "adresses": [SECRET]}, {"language": "fr"}),
        ("DELETE /grants/clerks", {"why": SECRET}, {}),
    ],
)  # fmt: skip
def test_unknown_fields_are_not_stored(ask, trail, route, body, inputs):
    ask(*route.split(), body=body, query={"comment": SECRET})
    assert trail()[0]["request_fields"] == inputs
    assert SECRET not in json.dumps(trail())


def test_an_entry_of_a_large_request_is_small(deployment, ask):
    ask("POST", "/actions/cancel", body={f"{number}{'é' * 3_000}": "é" * 3_000 for number in range(100)})
    ask("POST", "/actions/cancel", body="[" * 100_000)
    for entry in deployment.trail.list("acme", None, limit=9, cursor=None):
        assert len(json.dumps(entry.request_fields)) < 200_000


def test_the_trail_of_one_action_and_of_one_job(ask, trail):
    one, other = scheduled(ask).json["id"], scheduled(ask).json["id"]
    ask("DELETE", f"/actions/{one}")
    ask("POST", "/jobs", body=OWN)
    ask("POST", "/jobs/own-report/pause")
    ask("POST", "/jobs/own-other /pause")
    assert [item["operation"] for item in trail(action=one)] == ["cancel", "schedule"]
    assert [item["operation"] for item in trail(action=other)] == ["schedule"]
    assert [item["operation"] for item in trail(job="own-report")] == ["pause", "register"]
    assert [item["status"] for item in trail(job="own-other")] == [404]
    assert trail(action="") == trail(job="") == []
    assert len(trail()) == 6


def test_an_action_that_its_key_names_has_both_entries(ask, trail):
    first = scheduled(ask, idempotency_key="k").json["id"]
    assert scheduled(ask, idempotency_key="k").status == 200
    assert [item["status"] for item in trail(action=first)] == [200, 201]


def test_pages_of_the_trail_contain_every_entry(deployment, ask, trail):
    for _ in range(5):
        scheduled(ask)
    found, cursor = [], {}
    while cursor is not None:
        page = deployment.ask("GET", "/audit", claims=STAFF, query={"limit": "2", **cursor}).json
        found += [item["id"] for item in page["items"]]
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
    assert found == [item["id"] for item in trail()]


def test_an_invalid_request_for_the_trail_is_rejected(deployment):
    for query, status in (
        ({"action": NAME, "job": "own-report"}, 422),
        ({"limit": "0"}, 422),
        ({"limit": "101"}, 422),
        ({"target": "x"}, 422),
        ({"cursor": "x"}, 422),
    ):
        assert deployment.ask("GET", "/audit", claims=STAFF, query=query).status == status


def test_no_route_changes_the_trail(ask, trail):
    entry = trail()
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert ask(method, "/audit", body={}).status == 405
        assert ask(method, f"/audit/{NAME}", body={}).status == 404
    assert trail() == entry == []


@pytest.mark.parametrize("end", ["\n", "\r", "\t", "\x00", "\x7f"])
def test_a_control_character_in_a_path_is_no_second_name_of_a_target(deployment, ask, trail, end):
    made = scheduled(ask).json
    for path in (f"/actions/{made['id']}{end}/cancel", f"/jobs/{NAME}{end}/pause"):
        response = ask("POST", path)
        assert response.status == 404
        assert response.json["type"].endswith("route-not-found"), response.json
    assert [entry["operation"] for entry in trail()] == ["schedule"]
    assert deployment.store.get(ActionRef("acme", made["id"])).status == "pending"
