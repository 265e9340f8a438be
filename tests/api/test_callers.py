"""Who calls, and for which tenant, is what the authorizer's claims say and nothing else."""

import threading

import pytest

from tests.backends import MemoryAuditTrail
from tests.cases import for_each

GLOBEX = {"custom:tenant_id": "globex", "sub": "1", "email": "eve@globex.example"}
NOBODYS = "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"
ONES = ("get", "cancel", "reschedule", "redrive", "dismiss")


@pytest.mark.parametrize("route", ONES)
def test_another_tenants_action_gets_the_same_response_as_a_missing_one(call, route):
    made = call.schedule()
    theirs = call(route, action_id=made["id"], claims=GLOBEX)
    unknown = call(route, action_id=NOBODYS, claims=GLOBEX)
    assert (theirs.status, theirs.code) == (404, "action-not-found")
    assert theirs.text.replace(made["id"], "…") == unknown.text.replace(NOBODYS, "…")
    assert theirs.headers == unknown.headers


def test_another_tenants_actions_are_in_no_list(call):
    call.schedule()
    assert call("query", claims=GLOBEX).json["items"] == []
    assert call("query", claims=GLOBEX, query={}).json["items"] == []


def test_a_tenant_or_an_actor_that_the_client_names_is_ignored(call):
    body = {
        "type": "remark",
        "payload": {},
        "in": 5,
        "tenant_id": "globex",
        "tenant": "globex",
        "actor": "eve",
        "created_by": "eve",
    }
    made = call.schedule(
        body=body,
        headers={"X-Duetime-Tenant": "globex", "X-Duetime-User": "eve", "X-Tenant-Id": "globex"},
        query={"tenant_id": "globex"},
    )
    assert (made["tenant_id"], made["created_by"]) == ("acme", "ada@acme.example")
    listed = call("query", query={"tenant_id": "globex"})
    assert [item["id"] for item in listed.json["items"]] == [made["id"]]


@for_each("sample", ["schedule", "query", *ONES])
@for_each(
    "claims",
    [
        {},
        {"sub": "1", "email": "ada@acme.example"},
        {"custom:tenant_id": "", "sub": "1"},
        {"custom:tenant_id": "system", "sub": "1"},
        {"custom:tenant_id": "a#b", "sub": "1"},
        {"custom:tenant_id": "t" * 65, "sub": "1"},
        {"custom:tenant_id": None, "sub": "1"},
        {"custom:tenant_id": "acme"},
        "acme",
    ],
)
def test_a_caller_without_a_tenant_or_a_name_is_forbidden(call, sample, claims):
    response = call(sample, claims=claims)
    assert (response.status, response.code) == (403, "forbidden")
    assert "claim" in response.json["detail"]


def test_a_request_without_an_authorizer_is_forbidden_before_its_body_is_read(call):
    response = call(
        "health", path="/api/v1/actions", httpMethod="POST", body="{", headers={"Content-Type": "x"}
    )
    assert (response.status, response.code) == (403, "forbidden")


@pytest.mark.parametrize(
    ("claims", "actor"),
    [
        ({"email": "ada@acme.example", "sub": "s-1"}, "ada@acme.example"),
        ({"email": "ada@acme.example", "email_verified": "true", "sub": "s-1"}, "ada@acme.example"),
        ({"email": "boss@acme.example", "email_verified": "false", "sub": "s-1"}, "s-1"),
        ({"email": "a#da@acme.example", "sub": "s-1"}, "s-1"),
        ({"sub": "s-1"}, "s-1"),
    ],
    ids=["email", "verified", "unverified", "separator", "subject"],
)
def test_the_actor_is_the_verified_address_or_the_subject(call, claims, actor):
    assert call.schedule(claims={"custom:tenant_id": "acme", **claims})["created_by"] == actor


def test_callers_at_the_same_time_never_see_each_others_actions(call):
    wrong = []

    def be(tenant):
        claims = {"custom:tenant_id": tenant, "sub": tenant}
        for _ in range(15):
            made = call.schedule(claims=claims)
            listed = call("query", claims=claims, query={}).json["items"]
            wrong.extend(item for item in [made, *listed] if item["tenant_id"] != tenant)

    threads = [threading.Thread(target=be, args=(f"tenant-{number}",)) for number in range(6)]
    for item in threads:
        item.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_request_that_hangs_delays_no_other(call, store, monkeypatch):
    hangs, goes_on, get, responses = threading.Event(), threading.Event(), store.get, []
    first, second = call.schedule()["id"], call.schedule()["id"]

    def read(ref):
        if ref.id == first:
            hangs.set()
            goes_on.wait()
        return get(ref)

    monkeypatch.setattr(store, "get", read)
    thread = threading.Thread(target=lambda: responses.append(call("get", action_id=first)))
    thread.start()
    hangs.wait()
    try:
        assert call("get", action_id=second).json["id"] == second
        assert call("cancel", action_id=second).status == 200
    finally:
        goes_on.set()
        thread.join()
    assert responses[0].json["id"] == first


def test_an_audit_trail_that_hangs_for_one_tenant_delays_no_other(call_over, store, monkeypatch):
    hangs, goes_on, begin = threading.Event(), threading.Event(), MemoryAuditTrail.begin

    def write(trail, entry):
        if entry.tenant_id == "globex":
            hangs.set()
            goes_on.wait()
        begin(trail, entry)

    monkeypatch.setattr(MemoryAuditTrail, "begin", write)
    call = call_over(store)
    theirs, ours = call.schedule(claims=GLOBEX)["id"], call.schedule()["id"]
    thread = threading.Thread(target=lambda: call("cancel", action_id=theirs, claims=GLOBEX))
    thread.start()
    hangs.wait()
    try:
        assert call("cancel", action_id=ours).status == 200
    finally:
        goes_on.set()
        thread.join()
