"""The setting `two_persons`: what cannot be undone is stored, and made when another person confirms it."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.api import confirmations
from duetime.api.app import make_api
from duetime.api.bulk_actions import BulkActionRoutes
from duetime.api.context import ApiContext
from duetime.api.openapi.document import every_route
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.route_ports import Access, Health
from duetime.embedded.memory_cloud import MemoryCloud
from duetime.errors import BackendUnavailable
from duetime.ids import new_action_id
from duetime.jobs.known_pauses import KnownPauses
from duetime.memory.access import MemoryAuditTrail, MemoryGrants
from duetime.model.action import ActionRef
from tests.api.conftest import ADA, OPERATOR, Client, jobs_app, sample_event

BOB = {**ADA, "sub": "3", "email": "bob@acme.example"}
EVE = {"custom:tenant_id": "globex", "sub": "2", "email": "eve@globex.example"}
CARL = {**ADA, "sub": "9", "email": "carl@acme.example"}
VIEWER = {**ADA, "sub": "4", "email": "vic@acme.example"}
CONFIRMATIONS = "/api/v1/confirmations"


class Deployment:
    """An API over memory back ends, and what its callers do."""

    def __init__(self, settings, clock, cloud):
        self.clock, self.trail = clock, MemoryAuditTrail()
        pauses = KnownPauses(cloud.pauses, clock)
        api = ApiContext(cloud.store, cloud.job_ports, jobs_app(), clock, settings, pauses=pauses)
        self.client = Client(make_api(api, Health({}), Access(MemoryGrants(), self.trail, clock)))
        self.store = cloud.store

    def remark(self, **more):
        body = {"type": "remark", "payload": {}, "in": 86_400, "correlation_id": "order:7"} | more
        made = self.client.schedule(body=body, claims=ADA)["id"]
        self.clock.wait_until(self.clock.now() + timedelta(seconds=1))
        return made

    def cancel(self, claims=ADA, **body):
        return self.client("cancel-many", body={"correlation_id": "order:7"} | body, claims=claims)

    def at(self, method, path="", claims=BOB, **changes):
        return self.client(
            "cancel", httpMethod=method, path=f"{CONFIRMATIONS}{path}", claims=claims, **changes
        )

    def confirm(self, confirmation_id, claims=BOB, **changes):
        return self.at("POST", f"/{confirmation_id}/confirm", claims, **changes)

    def status(self, action_id):
        return self.client("get", action_id=action_id, claims=ADA).json["status"]


@pytest.fixture
def cloud(clock, settings):
    return MemoryCloud(jobs_app(), clock=clock, settings=settings)


@pytest.fixture
def deployment(settings, clock, cloud):
    return Deployment(replace(settings, two_persons=True, identities={"*": "acme"}), clock, cloud)


def test_a_bulk_cancel_is_stored_with_its_count_and_changes_nothing(deployment):
    ids = [deployment.remark() for _ in range(3)]
    response = deployment.cancel()
    assert response.status == 202
    waiting = response.json
    assert (waiting["operation"], waiting["path"]) == ("cancelActions", "/actions/cancel")
    assert (waiting["count"], waiting["more"], waiting["state"]) == (3, False, "waiting")
    assert (waiting["requested_by"], waiting["ended_by"]) == ("ada@acme.example", None)
    assert waiting["body"]["correlation_id"] == "order:7"
    assert {deployment.status(one) for one in ids} == {"pending"}
    assert [item["id"] for item in deployment.at("GET").json["items"]] == [waiting["id"]]


def test_another_person_makes_it_once(deployment):
    ids = [deployment.remark() for _ in range(3)]
    waiting = deployment.cancel().json["id"]
    response = deployment.confirm(waiting)
    assert (response.status, response.json["changed"], response.json["next_cursor"]) == (200, 3, None)
    assert {deployment.status(one) for one in ids} == {"cancelled"}
    assert deployment.at("GET").json["items"] == []
    ended = deployment.at("GET", f"/{waiting}").json
    assert (ended["state"], ended["ended_by"]) == ("ended", "bob@acme.example")
    again = deployment.confirm(waiting, CARL)
    assert (again.status, again.code) == (409, "confirmation-ended")
    assert "was confirmed by bob@acme.example" in again.json["detail"]


def test_what_is_scheduled_after_the_request_is_left(deployment):
    deployment.remark()
    waiting = deployment.cancel().json["id"]
    deployment.clock.wait_until(deployment.clock.now() + timedelta(seconds=1))
    later = deployment.remark()
    assert deployment.confirm(waiting).json["changed"] == 1
    assert deployment.status(later) == "pending"


def test_a_confirmed_change_makes_all_steps(deployment):
    ids = [deployment.remark() for _ in range(7)]
    waiting = deployment.cancel(limit=2).json
    assert waiting["count"] == 7
    assert "limit" not in waiting["body"]
    assert deployment.confirm(waiting["id"]).json["changed"] == 7
    assert {deployment.status(one) for one in ids} == {"cancelled"}


@pytest.mark.parametrize(
    "claims",
    [
        ADA,
        {**ADA, "email": "ada.new@acme.example"},
        {**ADA, "sub": "77"},
        {**ADA, "sub": "77", "email": "Ada@ACME.example"},
    ],
)
def test_the_same_person_is_refused(deployment, claims):
    one = deployment.remark()
    waiting = deployment.cancel().json["id"]
    response = deployment.confirm(waiting, claims)
    assert (response.status, response.code) == (403, "same-person")
    assert "another person must confirm it" in response.json["detail"]
    assert deployment.status(one) == "pending"


def test_the_second_person_needs_the_permission_of_the_change(settings, clock, cloud):
    roles = {"actors": "actions:manage jobs:manage", "planners": "jobs:manage"}
    deployment = Deployment(replace(settings, two_persons=True, roles=roles), clock, cloud)
    ada, planner = {**ADA, "cognito:groups": "actors"}, {**VIEWER, "cognito:groups": "planners"}
    deployment.client.schedule(body={"type": "remark", "payload": {}, "in": 60}, claims=ada)
    waiting = deployment.client("cancel-many", body={"type": "remark"}, claims=ada).json["id"]
    for response in (deployment.confirm(waiting, planner), deployment.at("DELETE", f"/{waiting}", planner)):
        assert (response.status, response.code) == (403, "forbidden")
        assert "actions:manage" in response.json["detail"]


def test_another_tenant_finds_none(deployment):
    deployment.remark()
    waiting = deployment.cancel().json["id"]
    assert deployment.at("GET", claims=EVE).json["items"] == []
    assert deployment.confirm(waiting, EVE).code == "confirmation-not-found"
    assert deployment.confirm(deployment.remark()).code == "confirmation-not-found"


def test_it_lapses_after_a_day(deployment):
    one = deployment.remark(**{"in": 200_000})
    waiting = deployment.cancel().json["id"]
    deployment.clock.wait_until(deployment.clock.now() + timedelta(days=1))
    assert deployment.at("GET").json["items"] == []
    assert deployment.at("GET", f"/{waiting}").json["state"] == "lapsed"
    response = deployment.confirm(waiting)
    assert (response.status, "lapsed at 2026-" in response.json["detail"]) == (409, True)
    assert deployment.status(one) == "pending"


def test_a_withdrawn_request_cannot_be_confirmed(deployment):
    one = deployment.remark()
    waiting = deployment.cancel().json["id"]
    assert deployment.at("DELETE", f"/{waiting}", ADA).status == 204
    assert deployment.confirm(waiting).code == "confirmation-ended"
    assert deployment.status(one) == "pending"


def test_a_request_that_is_claimed_during_its_withdrawal_is_not_withdrawn(deployment, monkeypatch):
    one = deployment.remark()
    waiting, claims = deployment.cancel().json["id"], []
    write = deployment.store.cancel

    def cancel(row, **changes):
        if row.id == waiting and not claims:
            now = deployment.clock.now()
            by, at = "confirm#bob@acme.example", row.next_change_at(now)
            claims.append(deployment.store.reschedule(row, now + timedelta(hours=1), by=by, at=at))
        return write(row, **changes)

    monkeypatch.setattr(deployment.store, "cancel", cancel)
    withdrawal = deployment.at("DELETE", f"/{waiting}", ADA)
    assert (len(claims), withdrawal.code) == (1, "confirmation-ended")
    assert "was confirmed by bob@acme.example" in withdrawal.json["detail"]
    assert deployment.confirm(waiting).status == 200
    assert deployment.status(one) == "cancelled"


@pytest.mark.parametrize("path", ["/api/v1/actions/{}", CONFIRMATIONS + "/{}"])
def test_its_second_person_cannot_confirm_what_the_same_person_has_rejected(deployment, path):
    one = deployment.remark()
    waiting = deployment.cancel().json["id"]
    assert (
        deployment.client("cancel", httpMethod="DELETE", path=path.format(waiting), claims=BOB).status < 300
    )
    response = deployment.confirm(waiting)
    assert (response.status, response.code) == (409, "confirmation-ended")
    assert "was withdrawn by bob@acme.example" in response.json["detail"]
    assert deployment.status(one) == "pending"


def test_what_is_made_is_not_made_again_by_its_second_person(deployment):
    body = {"scope": "type", "name": "remark", "reason": "a fault", "skip": True}
    waiting = deployment.client("pause-work", body=body, claims=ADA).json["id"]
    assert deployment.confirm(waiting).status == 200
    again = deployment.confirm(waiting)
    assert (again.status, again.code) == (409, "confirmation-ended")
    assert "was confirmed by bob@acme.example" in again.json["detail"]
    assert len(deployment.client("list-pauses", claims=ADA).json["items"]) == 1


def test_its_second_person_alone_makes_the_further_steps_within_an_hour(deployment, monkeypatch):
    monkeypatch.setattr(confirmations, "_LONGEST", timedelta(0))
    for _ in range(2 * LARGEST_PAGE + 1):
        deployment.remark()
    waiting = deployment.cancel().json["id"]
    first = deployment.confirm(waiting).json
    assert deployment.at("GET", f"/{waiting}").json["state"] == "ended"
    further = {"body": {"cursor": first["next_cursor"]}}
    for response in (deployment.confirm(waiting, CARL, **further), deployment.at("DELETE", f"/{waiting}")):
        assert (response.status, response.code) == (409, "confirmation-ended")
    second = deployment.confirm(waiting, **further).json
    assert first["changed"] == second["changed"] > 0
    assert second["next_cursor"] is not None
    deployment.clock.wait_until(deployment.clock.now() + timedelta(hours=1))
    late = deployment.confirm(waiting, body={"cursor": second["next_cursor"]})
    assert late.code == "confirmation-ended"


def test_its_second_person_alone_may_repeat_a_step_that_failed(deployment, monkeypatch):
    one = deployment.remark()
    waiting = deployment.cancel().json["id"]
    with monkeypatch.context() as broken:
        broken.setattr(BulkActionRoutes, "_step", fail)
        assert deployment.confirm(waiting).status == 503
    assert deployment.confirm(waiting, CARL).code == "confirmation-ended"
    assert deployment.confirm(waiting).json["changed"] == 1
    assert deployment.status(one) == "cancelled"


def fail(*_):
    raise BackendUnavailable("the actions table", "a test")


def test_a_rescheduled_row_lapses_at_its_time(deployment):
    one = deployment.remark(**{"in": 900_000})
    waiting = deployment.cancel().json
    path = f"/api/v1/actions/{waiting['id']}/reschedule"
    response = deployment.client("reschedule", path=path, body={"in": 800_000}, claims=ADA)
    assert response.status == 200, response.text
    deployment.clock.wait_until(deployment.clock.now() + timedelta(days=1))
    assert deployment.at("GET", f"/{waiting['id']}").json["confirm_until"] == waiting["confirm_until"]
    assert deployment.confirm(waiting["id"]).code == "confirmation-ended"
    assert deployment.status(one) == "pending"


def test_a_row_without_a_request_does_not_hide_the_others(deployment):
    deployment.remark()
    waiting = deployment.cancel().json["id"]
    forged = deployment.store.get(ActionRef("acme", waiting))
    later = new_action_id(deployment.clock.now(), os.urandom)
    deployment.store.put(replace(forged, id=later, payload="[]", payload_offloaded=False))
    assert [item["id"] for item in deployment.at("GET").json["items"]] == [waiting]


def test_a_request_may_name_a_hundred_actions(deployment):
    ids = [deployment.remark() for _ in range(100)]
    waiting = deployment.client("cancel-many", body={"ids": ids}, claims=ADA).json
    assert (waiting["count"], waiting["body"]["ids"]) == (100, ids)
    assert deployment.confirm(waiting["id"]).json["changed"] == 100


def test_a_dry_run_and_one_action_need_no_second_person(deployment):
    one = deployment.remark()
    assert deployment.cancel(dry_run=True).status == 200
    assert deployment.client("cancel", action_id=one, claims=ADA).status == 200


def test_an_invalid_request_is_rejected_at_once(deployment):
    response = deployment.client("cancel-many", body={"runs": False}, claims=ADA)
    assert (response.status, response.code) == (422, "invalid-selection")
    assert deployment.at("GET").json["items"] == []


def test_a_job_is_unregistered_as_it_was_seen(deployment):
    body = {"name": "acme-nightly", "type": "remark", "cadences": ["daily 02:30"], "payload": {}}
    registered = deployment.client.jobs("POST", body=body, claims=ADA)
    assert registered.status == 201, registered.text
    response = deployment.client.jobs("DELETE", "/acme-nightly", claims=ADA)
    assert (response.status, response.json["count"]) == (202, None)
    assert deployment.client.jobs("GET", "/acme-nightly", claims=ADA).status == 200
    assert deployment.client.jobs("DELETE", "/none-such", claims=ADA).status == 404
    assert deployment.confirm(response.json["id"]).json["changed"] == 1
    assert deployment.client.jobs("GET", "/acme-nightly", claims=ADA).status == 404
    assert deployment.client.jobs("POST", body=body, claims=ADA).status == 201
    assert deployment.confirm(response.json["id"]).code == "confirmation-ended"
    assert deployment.client.jobs("GET", "/acme-nightly", claims=ADA).status == 200


def test_a_job_that_was_replaced_after_the_request_stays(deployment):
    body = {"type": "remark", "cadences": ["daily 02:30"], "payload": {}}
    replace_job = {"method": "PUT", "path": "/acme-nightly", "claims": ADA}
    assert deployment.client.jobs(**replace_job, body=body).status == 201
    waiting = deployment.client.jobs("DELETE", "/acme-nightly", claims=ADA, headers={"If-Match": "*"}).json
    assert deployment.client.jobs(**replace_job, body=body | {"cadences": ["daily 03:30"]}).status == 200
    assert deployment.confirm(waiting["id"]).code == "precondition-failed"
    assert deployment.client.jobs("GET", "/acme-nightly", claims=ADA).status == 200


ROLE = "arn:aws:sts::123456789012:assumed-role"


@pytest.mark.parametrize(
    ("first", "second", "is_made"),
    [
        ("ops/ada", "ops/bob", False),  # whoever assumes a role chooses the name of the session
        ("AWSReservedSSO_ops_1/ada", "AWSReservedSSO_ops_1/bob", True),
        ("AWSReservedSSO_ops_1/ada", "AWSReservedSSO_admins_2/Ada", False),
        ("AWSReservedSSO_ops_1/ada", "ops/bob", True),
        ("AWSReservedSSO_ops_1/ada@acme.example", ADA, False),
        ("ops/ada", BOB, True),
    ],
)
def test_sessions_of_one_role_are_one_person(deployment, first, second, is_made):
    one = deployment.remark()
    waiting = as_caller(deployment, first, "cancel-many", body={"correlation_id": "order:7"}).json["id"]
    path = f"{CONFIRMATIONS}/{waiting}/confirm"
    response = as_caller(deployment, second, "cancel", httpMethod="POST", path=path)
    assert response.status == (200 if is_made else 403)
    assert deployment.status(one) == ("cancelled" if is_made else "pending")


def as_caller(deployment, caller, sample, **changes):
    if isinstance(caller, dict):
        return deployment.client(sample, claims=caller, **changes)
    event = sample_event(sample, **changes)
    role, _, session = caller.partition("/")
    event["requestContext"] |= {
        "authorizer": None,
        "identity": {"userArn": f"{ROLE}/{caller}", "user": f"AROA{role}:{session}"},
    }
    return deployment.client.send(event)


def test_a_change_without_a_preview_waits_although_its_body_requests_one(deployment):
    body = {"name": "acme-nightly", "type": "remark", "cadences": ["daily 02:30"], "payload": {}}
    assert deployment.client.jobs("POST", body=body, claims=ADA).status == 201
    response = deployment.client.jobs("DELETE", "/acme-nightly", body={"dry_run": True}, claims=ADA)
    assert response.status == 202
    assert deployment.client.jobs("GET", "/acme-nightly", claims=ADA).status == 200


@pytest.mark.parametrize(("skip", "is_final"), [(True, True), ("true", True), (1, True), (False, False)])
def test_a_pause_that_skips_needs_a_second_person(deployment, skip, is_final):
    body = {"scope": "type", "name": "remark", "reason": "a fault", "skip": skip}
    response = deployment.client("pause-work", body=body, claims=ADA)
    assert response.status == (202 if is_final else 201)
    paused = deployment.client("list-pauses", claims=ADA).json["items"]
    assert len(paused) == (0 if is_final else 1)
    if is_final:
        assert deployment.confirm(response.json["id"]).json["changed"] == 1
        (pause,) = deployment.client("list-pauses", claims=ADA).json["items"]
        assert (pause["skips"], pause["by"]) == (True, "bob@acme.example")


def skipping(**more):
    return {"scope": "type", "name": "remark", "reason": "a fault", "skip": True} | more


ALL_TENANTS = [
    skipping(),
    skipping(of_tenant="globex"),
    skipping(scope="tenant", name="globex"),
    skipping(scope="tenant", name="acme"),
]


@pytest.mark.parametrize("body", ALL_TENANTS)
def test_an_operator_s_pause_waits_for_an_operator(deployment, body):
    waiting = deployment.client("pause-work", body=body, claims=OPERATOR).json["id"]
    refused = deployment.confirm(waiting)
    assert (refused.status, "tenants:manage" in refused.json["detail"]) == (403, True)
    assert deployment.at("GET", f"/{waiting}").json["state"] == "waiting"
    assert deployment.confirm(waiting, {**BOB, "cognito:groups": "operators"}).status == 200
    (pause,) = deployment.client("list-pauses", claims=OPERATOR).json["items"]
    assert pause["tenant"] == (body["name"] if body["scope"] == "tenant" else body.get("of_tenant"))


@pytest.mark.parametrize("body", ALL_TENANTS[1:])
def test_a_pause_that_its_first_person_may_not_make_does_not_wait(deployment, body):
    response = deployment.client("pause-work", body=body, claims=ADA)
    assert (response.status, response.code) == (403, "forbidden")
    assert deployment.at("GET").json["items"] == []


def test_a_tenant_s_pause_covers_its_own_work_if_an_operator_confirms_it(deployment):
    waiting = deployment.client("pause-work", body=skipping(), claims=ADA).json
    assert waiting["body"] == skipping(of_tenant="acme")
    assert deployment.confirm(waiting["id"], {**BOB, "cognito:groups": "operators"}).status == 200
    (pause,) = deployment.client("list-pauses", claims=OPERATOR).json["items"]
    assert pause["tenant"] == "acme"


def test_both_persons_are_in_the_audit_trail(deployment):
    deployment.remark()
    waiting = deployment.cancel().json["id"]
    deployment.confirm(waiting)
    page = deployment.trail.list("acme", None, limit=10, cursor=None)
    changes = {(entry.operation, str(entry.target), entry.by, entry.status) for entry in page}
    assert changes > {
        ("cancel", "many", "bob@acme.example", 200),
        ("confirm", f"confirmation:{waiting}", "bob@acme.example", 200),
        ("cancel", "many", "ada@acme.example", 202),
    }


def test_without_the_setting_nothing_waits(settings, clock, cloud):
    deployment = Deployment(settings, clock, cloud)
    one = deployment.remark()
    assert deployment.cancel().status == 200
    assert deployment.status(one) == "cancelled"


def test_the_list_of_what_cannot_be_undone():
    changes = [route for route in every_route() if route.operation]
    final = {route.operation_id for route in changes if route.operation.is_final}
    assert final == {"cancelActions", "cancelBatch", "cancelBackfill", "unregisterJob"}
    by_field = {
        (route.operation_id, route.operation.final_field)
        for route in changes
        if route.operation.cannot_be_undone({"skip": True}) and not route.operation.is_final
    }
    assert by_field == {("pauseWork", "skip")}
