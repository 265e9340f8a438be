"""Who sees which jobs: a tenant its own, an operator code's beside them."""

import pytest

from tests.cases import for_each

ADA = {"custom:tenant_id": "acme", "sub": "1", "email": "ada@acme.example"}
EVE = {"custom:tenant_id": "globex", "sub": "2", "email": "eve@globex.example"}
REPORT = {"name": "acme-report", "type": "remark", "payload": {}, "cadences": ["daily 06:00"]}
ROUTES = {
    ("GET", ""): None,
    ("DELETE", ""): None,
    ("GET", "/runs"): None,
    ("GET", "/occurrences"): None,
    ("POST", "/pause"): None,
    ("POST", "/resume"): None,
    ("POST", "/trigger"): None,
    ("POST", "/skip-next"): None,
    ("PUT", "/settings"): {},
    ("GET", "/backfills"): None,
    ("POST", "/backfills"): {"from": "2027-01-01T00:00Z", "until": "2027-01-02T00:00Z"},
    ("GET", "/backfills/0badcafe"): None,
    ("PATCH", "/backfills/0badcafe"): {"state": "running"},
}


@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_another_tenants_job_gets_the_same_response_as_a_missing_one(ask, method, route):
    assert ask("POST", body=REPORT, claims=ADA).status == 201
    body = ROUTES[method, route]
    theirs = ask(method, f"/acme-report{route}", body=body, claims=EVE)
    missing = ask(method, f"/acme-missing{route}", body=body, claims=EVE)
    assert (theirs.status, theirs.code) == (404, "job-not-found")
    assert theirs.text.replace("acme-report", "…") == missing.text.replace("acme-missing", "…")
    assert ask("GET", "/acme-report", claims=ADA).json["paused"] is None


@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_a_job_that_code_declares_is_not_found_without_the_system_permission(ask, method, route):
    body = ROUTES[method, route]
    response = ask(method, f"/billing-nightly{route}", body=body, claims=ADA)
    assert (response.status, response.code) == (404, "job-not-found")
    assert ask("GET", claims=ADA).json["items"] == []


@for_each(("method", "route"), ROUTES)
@for_each("name", ["acme-missing", "x", "Acme-Report", "%2e%2e", "a" * 5_000, "acme-é", "a b"])
def test_a_missing_job_is_not_found(ask, method, route, name):
    response = ask(method, f"/{name}{route}", body=ROUTES[method, route])
    assert (response.status, response.code) == (404, "job-not-found")
    assert len(response.text) < 500


@pytest.mark.parametrize(
    "groups",
    [
        "operators",
        "admins",
        "a admins",
        "[staff operators]",
        "staff,operators",
        "[admins, staff]",
        ["admins"],
    ],
)
def test_an_operator_is_a_member_of_an_operators_group(ask, groups):
    claims = ADA | {"cognito:groups": groups}
    assert ask("GET", "/billing-nightly", claims=claims).status == 200


@pytest.mark.parametrize("groups", ["", "operator", "superadmins", "[]", "admins-of-nothing", None, []])
def test_a_member_of_any_other_group_is_no_operator(ask, groups):
    claims = ADA | {"cognito:groups": groups}
    assert ask("GET", "/billing-nightly", claims=claims).status == 404


def test_operators_of_two_tenants_see_jobs_from_code_and_their_own(ask):
    operators = {"cognito:groups": "operators"}
    ask("POST", body=REPORT, claims=ADA)
    ours = [item["name"] for item in ask("GET", claims=ADA | operators).json["items"]]
    theirs = [item["name"] for item in ask("GET", claims=EVE | operators).json["items"]]
    assert ours == [*theirs, "acme-report"]
    assert "billing-nightly" in theirs


def test_only_operators_see_and_cancel_runs_of_a_job_from_code(ask, call_cloud):
    run = ask("POST", "/billing-nightly/trigger").json["id"]
    operator = ADA | {"cognito:groups": "operators"}
    assert call_cloud("get", action_id=run, claims=ADA).code == "action-not-found"
    assert call_cloud("cancel", action_id=run, claims=ADA).code == "action-not-found"
    assert call_cloud("get", action_id=run, claims=operator).json["job"] == "billing-nightly"
    assert call_cloud("cancel", action_id=run, claims=operator).json["status"] == "cancelled"


def test_a_caller_without_a_tenant_is_forbidden_before_anything_is_read(ask):
    assert ask("POST", body="{", claims={"sub": "1", "cognito:groups": "operators"}).code == "forbidden"
    assert ask("GET", claims={}).code == "forbidden"
