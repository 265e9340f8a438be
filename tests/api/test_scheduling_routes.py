"""Each route of actions, asked as API Gateway asks it."""

from datetime import timedelta

import pytest

from duetime import instant
from duetime.model.action import Ending, Status

ACTION_MEMBERS = {
    "expires_at",
    "id", "type", "status", "is_retrying", "due_at", "nominal_at", "tenant_id", "correlation_id",
    "idempotency_key", "concurrency_key", "concurrency_limit", "created_at", "created_by",
    "held_by", "rate_key", "is_high", "debounce_key", "debounce_until", "coalesced",
    "batch", "after", "is_held",
    "modified_at", "modified_by", "executed_at", "cancel_requested_at", "cancelled_by", "failure_reason",
    "dismissed_reason", "recoveries", "job", "cadence", "trigger", "waits_for", "skip_reason", "note",
    "attempts",
    "is_handed_over", "handed_over_at", "times_out_at", "heartbeat_at", "progress", "progress_note",
    "awaits_approval", "question",
}  # fmt: skip
ADA = "ada@acme.example"


def test_scheduling_returns_the_full_action_and_its_location(call):
    response = call("schedule")
    assert response.status == 201
    action = response.json
    assert response.headers["Location"] == f"/prod/api/v1/actions/{action['id']}"
    assert action.keys() == ACTION_MEMBERS | {
        *("payload", "redacted", "checkpoint", "result", "trace_id", "trace_url")
    }
    assert action["type"] == "apply-plan-change"
    assert action["status"] == "pending"
    assert action["due_at"] == "2027-06-01T07:00:00Z"
    assert (action["tenant_id"], action["created_by"]) == ("acme", ADA)
    assert action["correlation_id"] == "subscription:42"
    assert action["payload"]["new_plan_id"] == "e902893a-9d22-3c7e-a7b8-d6e313b71d9f"
    assert action["attempts"] == []
    assert action["trigger"] == "scheduled"
    assert {action[name] for name in ("job", "cadence", "skip_reason", "note")} == {None}
    assert {action[name] for name in ("idempotency_key", "concurrency_key")} == {None}
    assert action["concurrency_limit"] == 1


def test_an_action_can_be_due_in_some_seconds(call):
    action = call.schedule(body={"type": "remark", "payload": {}, "in": 1.5})
    assert action["due_at"] == "2026-03-01T12:00:02Z"


def test_a_due_time_in_the_past_is_taken_and_runs_at_once(call):
    action = call.schedule(body={"type": "remark", "payload": {}, "at": "2020-01-01T00:00:00Z"})
    assert action["status"] == "pending"


def test_a_payload_is_returned_unchanged(call):
    sent = {"text": 'naïve 🦊 \\ " \n', "number": 1.5, "price": "0.10", "rest": {"a": [1, None, {"b": True}]}}
    made = call.schedule(body={"type": "remark", "payload": sent, "in": 0})
    assert call("get", action_id=made["id"]).json["payload"] == sent


def test_a_deeply_nested_valid_payload_is_returned_unchanged(call):
    nested = "leaf"
    for _ in range(190):
        nested = {"n": nested}
    made = call.schedule(body={"type": "remark", "payload": {"rest": nested}, "in": 0})
    assert call("get", action_id=made["id"]).json["payload"]["rest"] == nested


def test_a_span_ends_at_a_whole_second_unless_it_is_to_be_precise(call, clock, failed):
    clock.wait_until(clock.now().replace(microsecond=250_000))
    begin = clock.now().replace(microsecond=0)
    precise = {"precision": "millisecond", "in": 5}
    order = {"type": "remark", "payload": {}}
    made = [call.schedule(body={**order, **when}) for when in ({"in": 5}, precise)]
    moved = call("reschedule", action_id=made[0]["id"], body=precise).json
    redriven = call("redrive", action_id=failed, body={"in": 5}).json
    due = [instant.parse(action["due_at"]) - begin for action in (*made, moved, redriven)]
    assert [span.total_seconds() for span in due] == [6, 5.25, 5.25, 6]


def test_an_action_is_returned_by_its_id(call):
    made = call.schedule()
    response = call("get", action_id=made["id"])
    assert response.status == 200
    assert response.json == made


def test_actions_of_a_correlation_id_are_listed_oldest_first_without_their_payloads(call, clock):
    first = call.schedule()
    clock.wait_until(clock.now() + timedelta(seconds=1))
    second = call.schedule()
    call.schedule(body={"type": "remark", "payload": {}, "in": 0, "correlation_id": "another"})
    page = call("query").json
    assert [item["id"] for item in page["items"]] == [first["id"], second["id"]]
    assert page["items"][0].keys() == ACTION_MEMBERS
    assert page["next_cursor"] is None


def test_all_actions_are_listed_newest_first_in_pages(call, clock):
    made = []
    for _ in range(5):
        clock.wait_until(clock.now() + timedelta(seconds=1))
        made.append(call.schedule()["id"])
    seen, query = [], {"limit": "2"}
    while True:
        page = call("query", query=query).json
        seen.append([item["id"] for item in page["items"]])
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == [made[:-3:-1], made[2:0:-1], made[:1]]


def test_a_query_without_parameters_lists_all(call):
    made = call.schedule()
    response = call("query", queryStringParameters=None, multiValueQueryStringParameters=None)
    assert [item["id"] for item in response.json["items"]] == [made["id"]]


def test_a_cancelled_action_names_its_canceller(call):
    made = call.schedule()
    response = call("cancel", action_id=made["id"])
    assert response.status == 200
    assert (response.json["status"], response.json["cancelled_by"]) == ("cancelled", ADA)


def test_a_cancel_of_a_running_action_requests_its_stop(call, worker):
    made = call.schedule(body={"type": "remark", "payload": {}, "in": 0})
    worker.claim(made["id"])
    response = call("cancel", action_id=made["id"])
    assert response.status == 202
    assert (response.json["status"], response.json["cancel_requested_at"]) == (
        "processing",
        "2026-03-01T12:00:00Z",
    )


def test_a_pending_action_is_given_another_due_time(call):
    made = call.schedule()
    response = call("reschedule", action_id=made["id"])
    assert response.status == 200
    assert response.json["due_at"] == "2026-03-01T13:00:00Z"
    assert response.json["modified_by"] == ADA


def test_a_reschedule_reads_a_local_time_in_its_zone(call):
    made = call.schedule()
    response = call("reschedule", action_id=made["id"], body={"at": "2026-07-01T09:00", "tz": "Europe/Paris"})
    assert response.json["due_at"] == "2026-07-01T07:00:00Z"


@pytest.fixture
def failed(call, worker, clock):
    """An action that has failed."""
    made = call.schedule(body={"type": "remark", "payload": {}, "in": 0})
    claimed = worker.claim(made["id"])
    worker.settle(claimed, Ending.FAILED, Status.FAILED, message="no bank", kept_until=clock.now())
    return made["id"]


def test_a_failed_action_is_run_again_at_once(call, failed):
    assert call("get", action_id=failed).json["failure_reason"] == "no bank"
    response = call("redrive", action_id=failed)
    assert response.status == 200
    assert (response.json["status"], response.json["due_at"]) == ("pending", "2026-03-01T12:00:00Z")


def test_a_failed_action_is_redriven_at_the_time_in_the_body(call, failed):
    response = call("redrive", action_id=failed, body={"in": 60})
    assert response.json["due_at"] == "2026-03-01T12:01:00Z"


@pytest.mark.parametrize("route", ["cancel", "reschedule"])
def test_a_change_of_a_settled_action_is_a_conflict_with_the_reason(call, failed, route):
    response = call(route, action_id=failed)
    assert (response.status, response.code) == (409, "action-conflict")
    assert "it is failed" in response.json["detail"]


def test_an_empty_body_redrives_at_once_like_no_body(call, failed):
    response = call("redrive", action_id=failed, body={})
    assert (response.status, response.json["status"]) == (200, "pending")
    assert response.json["due_at"] == "2026-03-01T12:00:00Z"


def test_a_redrive_with_a_zone_and_no_time_is_rejected(call, failed):
    assert call("redrive", action_id=failed, body={"tz": "Europe/Paris"}).status == 422


def test_a_dismissed_action_leaves_the_dead_letters_and_stays_failed(call, failed):
    response = call("dismiss", action_id=failed, body={"reason": " refunded by hand "})
    assert response.status == 200
    assert response.json["dismissed_reason"] == "refunded by hand"
    assert call("get", action_id=failed).json["status"] == "failed"
    assert call("dead-letters", query={}).json["items"] == []
    bob = {"custom:tenant_id": "acme", "sub": "bob"}
    again = call("dismiss", action_id=failed, body={"reason": "twice"}, claims=bob)
    assert (again.status, again.code) == (409, "action-conflict")
    assert "only a failed one that is not dismissed can be" in again.json["detail"]


def test_a_dismissed_action_is_found_without_the_filter_and_is_no_dead_letter_by_correlation_id(
    call, worker, clock
):
    made = call.schedule(body={"type": "remark", "payload": {}, "in": 0, "correlation_id": "order:7"})["id"]
    worker.settle(worker.claim(made), Ending.FAILED, Status.FAILED, message="no", kept_until=clock.now())
    listed = [call(route, query={"correlation_id": "order:7"}) for route in ("dead-letters", "query")]
    assert [item["id"] for page in listed for item in page.json["items"]] == [made, made]
    call("dismiss", action_id=made, body={"reason": "done"})
    listed = [call(route, query={"correlation_id": "order:7"}) for route in ("dead-letters", "query")]
    assert [[item["id"] for item in page.json["items"]] for page in listed] == [[], [made]]


@pytest.mark.parametrize(
    "body", [None, {}, {"reason": ""}, {"reason": "   "}, {"reason": "x" * 501}, {"reason": 1}]
)
def test_a_dismissal_needs_a_reason(call, failed, body):
    response = call("dismiss", action_id=failed, body=body)
    assert response.status == 422
    assert call("get", action_id=failed).json["dismissed_reason"] is None


def test_a_dismissed_action_is_redriven(call, failed):
    call("dismiss", action_id=failed, body={"reason": "done"})
    response = call("redrive", action_id=failed)
    assert (response.json["status"], response.json["dismissed_reason"]) == ("pending", None)


def test_an_action_that_has_not_failed_is_not_redriven(call):
    response = call("redrive", action_id=call.schedule()["id"])
    assert (response.status, response.code) == (409, "action-conflict")


def test_attempts_are_listed_with_their_outcomes(call, worker, clock):
    made = call.schedule(body={"type": "remark", "payload": {}, "in": 0})
    worker.claim(made["id"], nonce="dies")
    clock.wait_until(clock.now() + timedelta(minutes=6))
    claimed = worker.claim(made["id"], nonce="takes over")
    running = call("get", action_id=made["id"]).json
    assert [item["outcome"] for item in running["attempts"]] == ["lost", "running"]
    assert [item["number"] for item in running["attempts"]] == [1, 1]
    assert running["recoveries"] == 1
    worker.settle(claimed, Ending.EXECUTED, Status.EXECUTED, kept_until=clock.now())
    done = call("get", action_id=made["id"]).json
    assert done["executed_at"] == "2026-03-01T12:06:00Z"
    assert done["attempts"][1] == {
        "number": 1,
        "queued_at": "2026-03-01T12:06:00Z",
        "started_at": "2026-03-01T12:06:00Z",
        "finished_at": "2026-03-01T12:06:00Z",
        "outcome": "executed",
        "message": None,
        "instance": "worker-1",
    }


def test_the_deployment_sets_the_prefix(call_over, store):
    call = call_over(store, prefix="/jobs/v2")
    assert call("health", path="/jobs/v2/health").status == 200
    assert call("health", path="/jobs/v2/health/").status == 200
    assert call("get").status == 404
