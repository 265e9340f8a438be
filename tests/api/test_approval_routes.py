"""People with a permission of its own approve and reject over HTTP; the trail has who and why."""

from dataclasses import replace
from datetime import datetime, timedelta
from unittest import mock

import pytest

from duetime import Scheduler
from duetime.api.authenticator import Caller
from duetime.errors import Forbidden
from duetime.model.hand_over import Approval, HandedOver
from tests.api.conftest import ADA, OPERATOR, Remark, sample_event

HOUR = timedelta(hours=1)
QUESTION = "Refund 900 € to Ann?"
ADMIN = {**ADA, "cognito:groups": "admins"}
BOB = {**ADMIN, "sub": "2", "email": "bob@acme.example"}


@pytest.fixture
def await_approval(worker, store, clock):
    """Let an action of acme wait for an approval; return its id."""

    def await_approval(action, **approval):
        clock.wait_until(datetime.fromisoformat(action["due_at"]))
        claimed = worker.claim(action["id"])
        terms = HandedOver(HOUR, None, Approval(QUESTION, **approval)).by(claimed, clock.now())
        store.hand_over(claimed, terms)
        return action["id"]

    return await_approval


@pytest.fixture
def waiting(call, await_approval):
    """The id of an action of acme that waits for an approval."""
    return await_approval(call.schedule(claims=OPERATOR))


@pytest.fixture
def decide(call):
    def decide(action_id, verb, body=None, claims=ADMIN, **changes):
        path = f"/api/v1/actions/{action_id}/{verb}"
        return call.send(
            sample_event("cancel", httpMethod="POST", path=path, body=body, claims=claims, **changes)
        )

    return decide


@pytest.fixture
def audit(call):
    def audit(action_id):
        event = sample_event("list-audit-entries", claims=ADMIN, query={"action": action_id})
        entries = call.send(event).json["items"]
        return [entry for entry in entries if entry["operation"] in {"approve", "reject"}]

    return audit


def test_an_approval_needs_its_own_permission(call, decide, waiting, audit, store):
    before = store.rows()
    refused = decide(waiting, "approve", claims=OPERATOR)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "actions:approve" in refused.json["detail"]
    assert decide(waiting, "reject", {"reason": "no"}, claims=OPERATOR).status == 403
    assert store.rows() == before
    assert {entry["status"] for entry in audit(waiting)} <= {403}


def test_who_may_manage_actions_cannot_decide_by_ending_the_hand_over(call, decide, waiting, store):
    etag = call("get", action_id=waiting, claims=OPERATOR).headers["ETag"]
    before = store.rows()
    for verb, body in (("complete", {"result": {"approved": True}}), ("fail", {"reason": "no"})):
        refused = decide(waiting, verb, body, claims=OPERATOR, headers={"If-Match": etag})
        assert (refused.status, refused.code) == (422, "invalid-argument")
    assert store.rows() == before


def test_the_action_shows_its_question_and_then_who_decided_and_why(call, decide, waiting, audit):
    shown = call("get", action_id=waiting, claims=OPERATOR).json
    assert (shown["awaits_approval"], shown["question"], shown["result"]) == (True, QUESTION, None)
    done = decide(waiting, "approve", {"reason": "the parcel is back"})
    assert (done.status, done.json["status"], done.json["awaits_approval"]) == (200, "executed", False)
    shown = call("get", action_id=waiting, claims=OPERATOR).json
    assert shown["result"] == {"approved": True, "by": "ada@acme.example", "reason": "the parcel is back"}
    assert shown["attempts"][-1]["message"] == "approved by ada@acme.example: the parcel is back"
    (entry,) = audit(waiting)
    assert (entry["operation"], entry["by"], entry["status"]) == ("approve", "ada@acme.example", 200)
    assert entry["request_fields"] == {"reason": "the parcel is back"}


def test_a_rejection_fails_the_action(call, decide, waiting, audit):
    done = decide(waiting, "reject", {"reason": "no receipt"})
    assert (done.status, done.json["status"]) == (200, "failed")
    assert done.json["failure_reason"] == "rejected by ada@acme.example: no receipt"
    assert [entry["operation"] for entry in audit(waiting)] == ["reject"]


def test_a_second_decision_is_a_conflict_that_names_the_first(decide, waiting, store):
    decide(waiting, "approve")
    before = store.rows()
    for verb, body in (("approve", None), ("reject", {"reason": "late"})):
        again = decide(waiting, verb, body, claims=BOB)
        assert (again.status, again.code) == (409, "hand-over-ended")
        assert "approved by ada@acme.example" in again.json["detail"]
    assert store.rows() == before


def test_a_decision_after_the_time_out_is_a_conflict(decide, waiting, store, clock):
    clock.wait_until(clock.now() + HOUR)
    before = store.rows()
    assert decide(waiting, "approve").code == "hand-over-ended"
    assert store.rows() == before


def test_an_action_that_waits_for_no_approval_is_a_conflict(call, decide):
    action = call.schedule(claims=OPERATOR)
    refused = decide(action["id"], "approve")
    assert (refused.status, refused.code) == (409, "action-conflict")
    assert decide("019ca945-0a00-7506-9e45-2137f8357eff", "approve").status == 404


def test_a_decision_about_an_older_version_changes_nothing(call, decide, waiting, store):
    etag = call("get", action_id=waiting, claims=OPERATOR).headers["ETag"]
    before = store.rows()
    assert decide(waiting, "approve", headers={"If-Match": '"old"'}).status == 412
    assert store.rows() == before
    assert decide(waiting, "approve", headers={"If-Match": etag}).status == 200


@pytest.mark.parametrize(
    ("verb", "body"),
    [
        ("reject", {}),
        ("reject", {"reason": ""}),
        ("reject", {"reason": "x" * 501}),
        ("reject", {"reason": " "}),
        ("approve", {"reason": "x" * 501}),
        ("approve", {"reason": "a\nb"}),
    ],
)
def test_a_bad_reason_is_refused_with_its_field(decide, waiting, store, verb, body):
    before = store.rows()
    refused = decide(waiting, verb, body)
    assert refused.status == 422
    assert [flaw["where"] for flaw in refused.json["errors"]] == ["reason"]
    assert store.rows() == before


def test_an_approver_without_another_permission_sees_and_decides(clock, store, waiting):
    from tests.api.deployment import Deployment  # noqa: PLC0415

    deployment = Deployment(clock, roles={"managers": "actions:approve"})
    shown = set(deployment.ask("GET", "/me", "managers").json["permissions"])
    assert shown == {"actions:approve", "actions:read"}


def test_another_person_than_the_scheduler_must_approve_if_the_handler_demands_it(
    call, decide, await_approval, store
):
    action = await_approval(call.schedule(claims=ADMIN), by_another=True)
    before = store.rows()
    refused = decide(action, "approve")
    assert (refused.status, refused.code) == (403, "approver-not-allowed")
    assert "ada@acme.example scheduled it" in refused.json["detail"]
    assert store.rows() == before
    assert decide(action, "approve", claims=BOB).json["status"] == "executed"


def test_the_scheduler_may_reject(call, decide, await_approval):
    action = await_approval(call.schedule(claims=ADMIN), by_another=True)
    assert decide(action, "reject", {"reason": "my mistake"}).json["status"] == "failed"


def test_who_repeats_the_call_of_an_idempotency_key_has_scheduled_it_too(call, decide, await_approval):
    keyed = {"body": {"type": "remark", "payload": {}, "in": 60, "idempotency_key": "refund 900"}}
    first = call.schedule(claims=ADMIN, **keyed)
    assert call("schedule", claims=BOB, **keyed).json["id"] == first["id"]
    action = await_approval(first, by_another=True)
    assert {decide(action, "approve", claims=claims).status for claims in (ADMIN, BOB)} == {403}


def test_what_no_caller_of_the_api_scheduled_can_only_be_rejected(
    decide, await_approval, clock, settings, store
):
    scheduler = Scheduler(store, tenant_id="acme", actor="ada@acme.example", clock=clock, settings=settings)
    made = scheduler.schedule(Remark(), at=clock.now())
    action = await_approval({"id": made.id, "due_at": made.due_at.isoformat()}, by_another=True)
    before = store.rows()
    refused = decide(action, "approve", claims=BOB)
    assert (refused.status, refused.code) == (403, "approver-not-allowed")
    assert "can only be rejected" in refused.json["detail"]
    with pytest.raises(Forbidden, match="over the API"):
        scheduler.approve(action)
    assert store.rows() == before


@pytest.fixture
def sdk(store, clock, settings):
    """The scheduler of ada's program, which needs no API."""
    return Scheduler(store, tenant_id="acme", actor="ada@acme.example", clock=clock, settings=settings)


def test_who_repeats_over_the_api_what_the_sdk_scheduled_has_not_made_it(
    call, decide, await_approval, clock, sdk
):
    made = sdk.schedule(Remark(), at=clock.now() + HOUR, idempotency_key="refund 900")
    body = {"type": "remark", "payload": {}, "in": 3600, "idempotency_key": "refund 900"}
    repeated = call("schedule", body=body, claims=BOB)
    assert (repeated.status, repeated.json["id"]) == (200, made.id)
    action = await_approval(repeated.json, by_another=True)
    assert {decide(action, "approve", claims=claims).code for claims in (ADMIN, BOB)} == {
        "approver-not-allowed"
    }


def test_what_a_further_call_with_its_debounce_key_changed_can_only_be_rejected(
    call, decide, await_approval, clock, sdk
):
    body = {"type": "remark", "payload": {}, "in": 3600, "debounce_key": "refund"}
    first = call.schedule(claims=BOB, body=body)
    changed = sdk.schedule(Remark(), at=clock.now() + HOUR, debounce_key="refund")
    assert (changed.id, changed.debounced.calls) == (first["id"], 1)
    action = await_approval({"id": changed.id, "due_at": changed.due_at.isoformat()}, by_another=True)
    assert decide(action, "approve").code == "approver-not-allowed"


def test_an_action_with_more_entries_than_are_read_can_only_be_rejected(call, decide, await_approval):
    action = await_approval(call.schedule(claims=ADMIN), by_another=True)
    assert decide(action, "approve", claims=ADMIN).status == 403
    with mock.patch("duetime.api.hand_overs._PAGES", 1), mock.patch("duetime.api.hand_overs._PAGE", 1):
        assert decide(action, "approve", claims=BOB).code == "approver-not-allowed"
    assert decide(action, "approve", claims=BOB).status == 200


def test_an_approval_that_is_requested_again_meanwhile_is_checked_again(call, decide, await_approval, store):
    action = await_approval(call.schedule(claims=ADMIN), by_another=True)
    read = Scheduler.get

    def before(self, action_id):
        row = read(self, action_id)
        return replace(row, hand_over=replace(row.hand_over, decision_terms=None))

    with mock.patch.object(Scheduler, "get", before):
        assert decide(action, "approve").code == "approver-not-allowed"
    assert store.rows()[0].awaits_approval


@pytest.mark.parametrize(
    ("caller", "subject", "is_other"),
    [
        (Caller("acme", "ada", subject="1"), "2", True),
        (Caller("acme", "ada", subject="1"), "1", False),
        (Caller("acme", "ada"), "2", False),
        (Caller("acme", "ada", subject="1"), "", False),
        (Caller("acme", "ops/bob", subject="AROA1:bob", names_itself=True), "AROA1:ada", False),
        (Caller("acme", "ops/bob", subject="AROA1:bob", names_itself=True), "AROA2:bob", True),
        (Caller("acme", "sso/bob", subject="AROA1:bob"), "AROA1:ada", True),
    ],
)
def test_all_sessions_of_a_role_are_one_unless_identity_center_names_them(caller, subject, is_other):
    assert caller.is_other_than(subject) is is_other
