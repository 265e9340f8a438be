"""Operators of the deployment pause and resume tenants; a paused tenant's callers may read and cancel."""

import json
from datetime import timedelta

import pytest

from duetime.testing import TurnedClock
from tests.api.conftest import NOW
from tests.api.deployment import ALONE, CLAIMS, Deployment

REASON = "its scripts loop"
OPS = {"custom:tenant_id": "ops", "sub": "o-1", "email": "ops@deployment.example"}
ACTION = '{"type": "remark", "payload": {"text": "x"}, "in": 3600}'


@pytest.fixture
def clock():
    return TurnedClock(NOW)


@pytest.fixture
def deployment(clock):
    return Deployment(clock, roles=ALONE)


@pytest.fixture
def ops(deployment):
    """Calls as an operator of another tenant."""
    claims = OPS | {"cognito:groups": "manage_tenants"}
    return lambda method, path, **more: deployment.ask(method, path, claims=claims, **more)


def pause(ops, name="acme", **more):
    body = {"scope": "tenant", "name": name, "reason": REASON} | more
    return ops("POST", "/pauses", body=json.dumps(body))


def requests_of_acme(deployment):
    """Each route that may create work, with the status that it has unless the tenant is paused."""
    body = ACTION
    yield deployment.ask("POST", "/actions", "manage_actions", body=body)
    yield deployment.ask("POST", "/actions/redrive", "manage_actions", body='{"type": "remark"}')
    yield deployment.ask("POST", "/jobs/billing-nightly/trigger", "manage_jobs")
    backfill = "/jobs/billing-nightly/backfills/b-1"
    yield deployment.ask("PATCH", backfill, "manage_jobs", body='{"state": "running"}')
    yield deployment.ask("PUT", "/jobs/acme-nightly", "manage_jobs", body='{"type": "remark"}')


def test_a_paused_tenant_s_callers_create_no_work_but_read_and_cancel(deployment, ops):
    scheduled = deployment.ask("POST", "/actions", "manage_actions", body=ACTION)
    assert scheduled.status == 201, scheduled.json
    begun = pause(ops)
    assert begun.status == 201
    for rejected in requests_of_acme(deployment):
        assert (rejected.status, rejected.json["type"]) == (409, "urn:duetime:problem:tenant-paused")
        assert REASON in rejected.json["detail"]
    path = f"/actions/{scheduled.json['id']}"
    assert deployment.ask("GET", path, "read_actions").status == 200
    preview = '{"type": "remark", "dry_run": true}'
    assert deployment.ask("POST", "/actions/redrive", "manage_actions", body=preview).status == 200
    assert deployment.ask("GET", "/summary", "read_actions").json["paused"]["reason"] == REASON
    assert deployment.ask("DELETE", path, "manage_actions").status == 200
    backfill = "/jobs/billing-nightly/backfills/b-1"
    cancel = deployment.ask("PATCH", backfill, "manage_jobs", body='{"state": "cancelled"}')
    assert cancel.code == "job-not-found"
    assert ops("DELETE", f"/pauses/{begun.json['id']}").json["tenant"] == "acme"
    assert deployment.ask("POST", "/actions", "manage_actions", body=ACTION).status == 201
    assert deployment.ask("GET", "/summary", "read_actions").json["paused"] is None


def test_a_second_pause_keeps_the_first_one_s_reason_and_end(ops, clock):
    end = (NOW + timedelta(hours=2)).isoformat()
    pause(ops, reason="first", until=end)
    clock.wait_until(NOW + timedelta(minutes=1))
    pause(ops, reason="second")
    first, second = ops("GET", "/pauses").json["items"]
    assert (first["reason"], second["reason"], second["until"]) == ("first", "second", None)
    assert first["until"].startswith((NOW + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M"))


@pytest.mark.parametrize("tenant", ["system", "", "a b"])
def test_a_pause_of_no_tenant_is_rejected(ops, tenant):
    assert pause(ops, tenant).status == 422
    assert ops("GET", "/pauses").json["items"] == []


@pytest.mark.parametrize("group", ["tenant_admin", "system", "manage_actions", "manage_grants"])
def test_a_tenant_s_admin_cannot_pause_or_resume_it(deployment, ops, group):
    begun = pause(ops).json

    def ask(method, path, **more):
        return deployment.ask(method, path, claims=CLAIMS | {"cognito:groups": group}, **more)

    assert pause(ask).status == 403
    assert ask("DELETE", f"/pauses/{begun['id']}").status == 403
    grant = '{"permissions": ["tenants:manage"]}'
    assert deployment.ask("PUT", "/grants/clerks", "manage_grants", body=grant).status == 422


def test_the_trail_of_the_operator_s_tenant_has_the_pause(deployment, ops):
    pause(ops)
    claims = OPS | {"cognito:groups": "read_audit"}
    [entry] = deployment.ask("GET", "/audit", claims=claims).json["items"]
    assert (entry["operation"], entry["target"], entry["request_fields"]["reason"]) == (
        "pause",
        "pause:tenant acme",
        REASON,
    )
