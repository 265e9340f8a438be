"""Pauses of work over HTTP: a tenant's own callers pause its own work, operators all tenants' work."""

import json
from datetime import timedelta

import pytest

from duetime.testing import TurnedClock
from tests.api.conftest import NOW
from tests.api.deployment import ALONE, CLAIMS, Deployment

OPS = {"custom:tenant_id": "ops", "sub": "o-1", "email": "ops@deployment.example"}
PAUSE = {"scope": "type", "name": "remark", "reason": "SES is down"}


@pytest.fixture
def clock():
    return TurnedClock(NOW)


@pytest.fixture
def deployment(clock):
    return Deployment(clock, roles=ALONE)


@pytest.fixture
def ask(deployment):
    def call(group, method, path, claims=CLAIMS, **body):
        sent = json.dumps(body) if body else None
        return deployment.ask(method, path, claims=claims | {"cognito:groups": group}, body=sent)

    return call


@pytest.fixture
def ops(ask):
    return lambda method, path, **body: ask("manage_tenants", method, path, OPS, **body)


@pytest.fixture
def mine(ask):
    return lambda method, path, **body: ask("manage_actions", method, path, **body)


def listed(response):
    return [(item["scope"], item["name"], item["tenant"], item["reason"]) for item in response.json["items"]]


def test_a_tenant_s_pause_covers_its_own_work_and_an_operator_s_all_tenants_work(mine, ops):
    begun = mine("POST", "/pauses", **PAUSE)
    assert (begun.status, begun.json["tenant"]) == (201, "acme")
    assert ops("POST", "/pauses", **PAUSE).json["tenant"] is None
    assert ops("POST", "/pauses", **PAUSE, of_tenant="globex").json["tenant"] == "globex"
    assert {tenant for _, _, tenant, _ in listed(mine("GET", "/pauses"))} == {"acme", None}
    assert len(ops("GET", "/pauses").json["items"]) == 3


def test_a_second_pause_keeps_the_first_one_s_reason_and_end(mine, clock):
    end = (NOW + timedelta(hours=1)).isoformat()
    mine("POST", "/pauses", **PAUSE | {"until": end})
    clock.wait_until(NOW + timedelta(minutes=1))
    mine("POST", "/pauses", **PAUSE | {"reason": "and now the database"})
    first, second = mine("GET", "/pauses").json["items"]
    assert (first["reason"], second["reason"]) == ("SES is down", "and now the database")
    assert first["until"] is not None
    assert second["until"] is None


def test_an_ended_pause_is_listed_until_the_last_waiting_action_begins(mine, clock):
    begun = mine("POST", "/pauses", **PAUSE | {"spread": 60})
    clock.wait_until(NOW + timedelta(hours=1))
    ended = mine("DELETE", f"/pauses/{begun.json['id']}")
    assert ended.status == 200
    assert ended.json["over_at"] == f"{NOW + timedelta(hours=1, minutes=1 + 2):%Y-%m-%dT%H:%M:%SZ}"
    assert len(mine("GET", "/pauses").json["items"]) == 1
    assert mine("DELETE", f"/pauses/{begun.json['id']}").status == 422
    clock.wait_until(NOW + timedelta(hours=1, minutes=1 + 15))
    assert mine("GET", "/pauses").json["items"] == []


def test_a_tenant_s_callers_end_neither_an_operator_s_pause_nor_another_tenant_s(mine, ops):
    for body in (PAUSE, PAUSE | {"of_tenant": "acme"}):
        begun = ops("POST", "/pauses", **body).json
        assert mine("DELETE", f"/pauses/{begun['id']}").status == 403
    other = ops("POST", "/pauses", **PAUSE, of_tenant="globex").json
    assert mine("DELETE", f"/pauses/{other['id']}").status == 422
    assert len(ops("GET", "/pauses").json["items"]) == 3


@pytest.mark.parametrize(
    "more",
    [{"of_tenant": "globex"}, {"scope": "tenant", "name": "globex"}, {"scope": "tenant", "name": "acme"}],
)
def test_a_tenant_s_callers_pause_no_tenant_and_no_other_tenant_s_work(mine, more):
    assert mine("POST", "/pauses", **PAUSE | more).status == 403
    assert mine("GET", "/pauses").json["items"] == []


@pytest.mark.parametrize("group", ["read_actions", "manage_jobs", "system"])
def test_who_may_not_manage_actions_cannot_pause(ask, group):
    assert ask(group, "POST", "/pauses", **PAUSE).status == 403


@pytest.mark.parametrize(
    ("fields", "where", "problem"),
    [
        ({"name": "remrak"}, "name", "is no known type; known: apply-plan-change, "),
        ({"scope": "worker"}, "name", "is no known worker; known: default"),
        ({"scope": "colour"}, "scope", "tenant"),
        ({"scope": "concurrency-key", "name": "a\u0001"}, "concurrency_key", ""),
        ({"scope": "rate-key", "name": "k" * 129}, "rate_key", "128"),
        ({"reason": ""}, "reason", "1"),
        ({"reason": " \t"}, "reason", "printable"),
        ({"until": "2020-01-01T00:00:00Z"}, "until", "has passed"),
        ({"until": "soon"}, "until", "ISO 8601"),
        ({"spread": -1}, "spread", "0"),
        ({"spread": 21_601}, "spread", "21600"),
    ],
    ids=str,
)
def test_a_bad_pause_is_rejected_with_what_is_allowed(mine, fields, where, problem):
    response = mine("POST", "/pauses", **PAUSE | fields)
    assert response.status == 422
    [error] = response.json["errors"]
    assert error["where"] == where
    assert problem in error["problem"]
    assert mine("GET", "/pauses").json["items"] == []


def test_a_tenant_s_callers_begin_only_so_many_pauses(mine, ops):
    for _ in range(20):
        assert mine("POST", "/pauses", **PAUSE).status == 201
    [error] = mine("POST", "/pauses", **PAUSE).json["errors"]
    assert "at most 20" in error["problem"]
    assert ops("POST", "/pauses", **PAUSE).status == 201


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/pauses", PAUSE),
        ("/pauses", {"scope": "tenant", "name": "acme", "reason": "a loop"}),
        ("/jobs/billing-nightly/pause", {"reason": "a loop"}),
    ],
)
def test_a_deployment_may_require_an_end_of_each_pause(clock, path, body):
    deployment = Deployment(clock, roles=ALONE, pause_needs_end=True)

    def begin(**more):
        groups = "manage_tenants manage_actions manage_jobs system"
        claims = CLAIMS | {"cognito:groups": groups.split()}
        return deployment.ask("POST", path, claims=claims, body=json.dumps(body | more))

    [error] = begin().json["errors"]
    assert error["where"] == "until"
    assert "requires the instant at which the pause ends" in error["problem"]
    assert begin(until=(NOW + timedelta(hours=1)).isoformat()).status in {200, 201, 204}


def test_an_action_shows_which_pause_holds_it_and_when_it_will_run(deployment, mine):
    body = {"type": "remark", "payload": {"text": "x"}, "in": 60}
    action = mine("POST", "/actions", **body).json
    end = (NOW + timedelta(hours=1)).isoformat()
    mine("POST", "/pauses", **PAUSE, until=end, spread=0)
    found = deployment.ask("GET", f"/actions/{action['id']}/why", "read_actions").json
    assert found["sentence"].startswith("The type remark of acme is paused until ")
    assert found["sentence"].endswith(": SES is down.")
    assert found["runs_at"] == f"{end[:19]}Z"
    assert action["held_by"] is None


def test_the_trail_has_the_pause_and_its_end(ask, mine, clock):
    begun = mine("POST", "/pauses", **PAUSE).json
    clock.wait_until(NOW + timedelta(minutes=1))
    mine("DELETE", f"/pauses/{begun['id']}")
    entries = ask("read_audit", "GET", "/audit").json["items"]
    assert [(entry["operation"], entry["target"]) for entry in entries] == [
        ("resume", f"pause:{begun['id']}"),
        ("pause", "pause:type remark"),
    ]
    assert entries[1]["request_fields"]["reason"] == "SES is down"
