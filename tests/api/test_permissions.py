"""Who may do what: each route is served to exactly those whose roles give what it needs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.errors import SettingsError
from duetime.model.permissions import EVERYTHING, GRANTABLE, Permission, permissions_of
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, sample_event
from tests.api.deployment import ALONE, CLAIMS, GUARDED, Deployment, at, unavailable


@pytest.fixture
def deployment(clock):
    return Deployment(clock, roles=ALONE)


def test_only_these_routes_are_open():
    routes = Deployment(TurnedClock(NOW), roles={}).routes
    by_token = {f"/handovers/<token>/{verb}" for verb in ("complete", "fail", "heartbeat")}
    assert {route.path for route in routes if route.is_open} <= {"/health", "/openapi.json", *by_token}
    assert {route.path for route in routes if route.is_by_token} == by_token
    assert {route.path for route in routes if not route.admits and not route.is_open} == {"/me", "/reads"}


def test_me_needs_a_tenant(deployment):
    assert deployment.ask("GET", "/me").json["permissions"] == []
    assert deployment.ask("GET", "/me", claims={}).status == 403


@pytest.mark.parametrize(("method", "path", "needs"), GUARDED)
def test_a_route_is_served_exactly_with_its_permission(deployment, method, path, needs):
    for permission in Permission:
        response = deployment.ask(method, at(path), permission.name.lower(), body={})
        is_allowed = not permissions_of([permission]).isdisjoint(needs)
        assert (response.status != 403) == is_allowed, (permission, response.text)
        if not is_allowed:
            assert response.code == "forbidden"
            assert " or ".join(needs) in response.json["detail"]
            assert permission.name.lower() in response.json["detail"]


def test_a_caller_with_no_role_or_an_unknown_one_is_rejected(deployment):
    for method, path, needs in GUARDED:
        for groups in ((), ("strange",), (f"{needs[0]}s",)):
            assert deployment.ask(method, at(path), *groups, body={}).status == 403


@pytest.mark.parametrize("suffix", ["\n", "%0A", "\n/", " ", "//x", "/.", ";a", "\x00", "?a", "\ud800"])
def test_a_path_similar_to_a_route_bypasses_no_permission(deployment, suffix):
    for method, path, _ in GUARDED:
        response = deployment.ask(method, at(path) + suffix, body={})
        assert response.status in {403, 404, 405}, (method, path, response.text)


def test_an_unknown_method_of_a_path_is_rejected_for_every_caller(deployment):
    for _, path, _ in GUARDED:
        response = deployment.ask("TRACE", at(path), "admin")
        assert (response.status, response.code) == (405, "wrong-method")
        methods = {method for method, other, _ in GUARDED if other == path}
        assert response.headers["Allow"] == ", ".join(sorted(methods))
        assert deployment.ask("TRACE", at(path), claims={}).status == 403


@pytest.mark.parametrize(
    ("fields", "meant"),
    [
        (["actions:manage"], {"actions:manage", "actions:read"}),
        (["jobs:manage"], {"jobs:manage", "jobs:read"}),
        (["admin"], set(EVERYTHING)),
        (["tenant:admin"], set(EVERYTHING) - {"tenants:manage", "system", "admin"}),
        (["system"], {"system"}),
        (["grants:manage"], {"grants:manage"}),
        ([], set()),
    ],
)
def test_manage_permissions_imply_read_and_admin_implies_all(fields, meant):
    assert permissions_of(fields) == meant


def test_a_caller_has_the_permissions_of_all_its_roles(deployment):
    assert set(deployment.ask("GET", "/me", "read_actions", "manage_jobs").json["permissions"]) == {
        "actions:read",
        "jobs:manage",
        "jobs:read",
    }


def test_a_tenants_admin_reaches_nothing_of_the_deployments(clock):
    deployment = Deployment(clock, roles={"owners": "tenant:admin"})
    for method, path, needed in GUARDED:
        is_operators = set(needed) <= {"tenants:manage", "system", "admin"}
        assert (deployment.ask(method, at(path), "owners", body={}).status == 403) is is_operators, path
    assert deployment.ask("GET", "/notifications", "owners", query={"scope": "system"}).status == 403


def test_everyone_is_a_role_of_every_known_caller(clock):
    deployment = Deployment(clock, roles={"everyone": "actions:read"})
    assert deployment.ask("GET", "/actions/query").status == 200
    assert deployment.ask("GET", "/jobs").status == 403
    assert deployment.ask("GET", "/actions/query", claims={"sub": "s-1"}).status == 403


def test_a_required_role_is_required_of_admins_too(clock):
    for settings in ({"roles": {"admins": "admin"}}, {"roles": {}, "authorization": "allow-all"}):
        deployment = Deployment(clock, required_role="staff", **settings)
        for method, path, _ in GUARDED:
            refused = deployment.ask(method, at(path), "admins", body={})
            assert refused.status == 403
            assert "'staff'" in refused.json["detail"]
        assert deployment.ask("GET", "/me", "admins", "staff").status == 200


def test_allow_all_gives_every_known_caller_all_permissions(clock):
    deployment = Deployment(clock, authorization="allow-all", roles={})
    for method, path, _ in GUARDED:
        assert deployment.ask(method, at(path), body={}).status != 403
        assert deployment.ask(method, at(path), claims={"sub": "s-1"}).status == 403


def test_a_grant_at_run_time_adds_to_the_settings_until_it_is_revoked(deployment):
    assert deployment.ask("GET", "/jobs", "clerks").status == 403
    granted = deployment.ask(
        "PUT", "/grants/clerks", "manage_grants", body={"permissions": ["jobs:manage", "actions:read"]}
    )
    assert granted.status == 200
    assert granted.json == {
        "role": "clerks",
        "permissions": ["actions:read", "jobs:manage"],
        "granted_by": "ada@acme.example",
        "granted_at": "2026-03-01T12:00:00Z",
    }
    assert deployment.ask("GET", "/grants", "manage_grants").json == {"items": [granted.json]}
    assert deployment.ask("GET", "/jobs", "clerks").status == 200
    assert deployment.ask("GET", "/jobs", "others").status == 403
    theirs = CLAIMS | {"custom:tenant_id": "globex", "cognito:groups": "clerks"}
    assert deployment.ask("GET", "/jobs", claims=theirs).status == 403
    deployment.ask("PUT", "/grants/clerks", "manage_grants", body={"permissions": ["actions:read"]})
    assert deployment.ask("GET", "/jobs", "clerks").status == 403
    assert deployment.ask("GET", "/actions/query", "clerks").status == 200
    assert deployment.ask("DELETE", "/grants/clerks", "manage_grants", body=None).status == 204
    assert deployment.ask("GET", "/actions/query", "clerks").status == 403


def test_a_grant_removes_no_permission_of_the_settings(deployment):
    deployment.ask("PUT", "/grants/manage_jobs", "manage_grants", body={"permissions": ["actions:read"]})
    deployment.ask("DELETE", "/grants/manage_jobs", "manage_grants", body=None)
    assert deployment.ask("GET", "/jobs", "manage_jobs").status == 200


@pytest.mark.parametrize("beyond", sorted(EVERYTHING - GRANTABLE))
def test_permissions_beyond_a_tenant_are_never_granted(deployment, beyond):
    refused = deployment.ask(
        "PUT", "/grants/manage_grants", "admin", body={"permissions": ["jobs:read", beyond]}
    )
    assert (refused.status, refused.code) == (422, "invalid-request")
    assert deployment.ask("GET", "/grants", "admin").json == {"items": []}
    stored_grant = replace_grant(deployment, beyond)
    assert beyond not in deployment.ask("GET", "/me", "clerks").json["permissions"], stored_grant


def replace_grant(deployment, beyond):
    """A grant that was written into the table without the API."""
    deployment.ask("PUT", "/grants/clerks", "admin", body={"permissions": ["actions:read"]})
    grant = deployment.grants.for_tenant("acme")["clerks"]
    stored_grant = replace(grant, permissions=frozenset({Permission.READ_ACTIONS, Permission(beyond)}))
    deployment.grants.put("acme", stored_grant)
    return stored_grant


@pytest.mark.parametrize(
    "fields", [{}, {"permissions": []}, {"permissions": ["fly"]}, {"permissions": "jobs:read"}, {"role": "x"}]
)
def test_an_invalid_grant_is_rejected(deployment, fields):
    assert deployment.ask("PUT", "/grants/clerks", "admin", body=fields).code == "invalid-request"


def test_a_tenants_admin_sees_and_changes_none_of_codes_jobs(clock):
    deployment = Deployment(clock, roles={"heads": "grants:manage"})
    deployment.ask("PUT", "/grants/heads", "heads", body={"permissions": sorted(GRANTABLE)})
    assert set(deployment.ask("GET", "/me", "heads").json["permissions"]) == GRANTABLE | {"grants:manage"}
    assert deployment.ask("GET", "/jobs", "heads").json["items"] == []
    for method, path, _ in GUARDED:
        if path.startswith("/jobs/<name>"):
            there = path.replace("<name>", "billing-nightly")
            assert deployment.ask(method, there, "heads", body={}).status in {404, 422}, (method, path)
    assert deployment.ask("GET", "/undelivered", "heads").status == 403


def test_grants_that_cannot_be_read_admit_admins_only(deployment):
    deployment.grants.hooks["for_tenant"] = unavailable
    assert deployment.ask("GET", "/me", "manage_actions").status == 503
    assert deployment.ask("GET", "/me", "admin").status == 200


@pytest.mark.parametrize(
    "settings",
    [
        {"roles": {"clerks": "jobs:read jobs:fly"}},
        {"roles": {"clerks": "Admin"}},
        {"identities": {"arn:aws:iam::123456789012:role/x": ""}},
        {"identities": {"arn:aws:iam::123456789012:role/x": "system operators"}},
        {"identities": {"arn:aws:iam::123456789012:role/x": "a#b"}},
    ],
)
def test_an_api_with_invalid_settings_does_not_start(clock, settings):
    with pytest.raises(SettingsError) as result:
        Deployment(clock, **settings)
    assert next(iter(next(iter(settings.values())))) in str(result.value)


def test_a_service_with_a_long_name_is_recognised(clock):
    role = "r" * 64
    deployment = Deployment(
        clock, roles=ALONE, identities={f"arn:aws:iam::1:role/a/b/{role}": "acme read_actions"}
    )
    event = sample_event("cancel", httpMethod="GET", path="/api/v1/me", claims={})
    arn = f"arn:aws:sts::1:assumed-role/{role}/{'s' * 64}"
    event["requestContext"] |= {"authorizer": None, "identity": {"userArn": arn}}
    assert deployment.send(event).json["actor"] == f"{role}/{'s' * 63}"


def test_a_grant_applies_after_ten_seconds(deployment, clock):
    deployment.ask("PUT", "/grants/clerks", "admin", body={"permissions": ["actions:read"]})
    clock.wait_until(NOW + timedelta(seconds=10))
    assert deployment.ask("GET", "/me", "clerks").json["roles"] == ["clerks"]


def test_only_an_operator_may_schedule_a_probe_that_ends_its_workers_process(clock):
    deployment = Deployment(clock, roles={"owners": "tenant:admin", "operators": "actions:manage system"})
    probe = {"type": "duetime-probe", "in": 60, "payload": {"die": True}}
    refused = deployment.ask("POST", "/actions", "owners", body=probe)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "ends its worker's process needs the permission system" in refused.json["detail"]
    assert deployment.ask("POST", "/actions", "operators", body=probe).status == 201
    assert deployment.ask("POST", "/actions", "owners", body={**probe, "payload": {}}).status == 201
