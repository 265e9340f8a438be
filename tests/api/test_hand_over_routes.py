"""Holders of tokens end handed-over actions over HTTP, with no other right."""

import json
import re
import shlex
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from duetime.model.hand_over import HandedOver
from duetime.model.hand_over_token import token_of
from duetime.ports.actions import DamagedRow
from tests.api.conftest import OPERATOR, sample_event

GUIDE = Path(__file__).parents[2] / "docs/guides/hand-over.md"

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def handed_over(call, worker, store, clock):
    """An action of acme that was handed over, with its token."""
    action = call.schedule(claims=OPERATOR)
    clock.wait_until(datetime.fromisoformat(action["due_at"]))
    claimed = worker.claim(action["id"])
    store.hand_over(claimed, HandedOver(HOUR, 5 * MINUTE).by(claimed, clock.now()))
    return action["id"], token_of(claimed)


@pytest.fixture
def post(call):
    def post(token, verb, body=None, **headers):
        event = sample_event("cancel", httpMethod="POST", path=f"/api/v1/handovers/{token}/{verb}", body=body)
        event["headers"] |= headers
        event["requestContext"].pop("authorizer", None)
        event["headers"].pop("Authorization", None)
        return call.send(event)

    return post


@pytest.fixture
def audit(call):
    def audit(action_id):
        claims = {**OPERATOR, "cognito:groups": "admins"}
        event = sample_event("list-audit-entries", claims=claims, query={"action": action_id})
        return [
            entry
            for entry in call.send(event).json["items"]
            if entry["operation"] in {"complete", "fail", "heartbeat"}
        ]

    return audit


@pytest.mark.parametrize("command", re.findall(r"^curl .+$", GUIDE.read_text(), re.MULTILINE))
def test_the_curl_commands_of_the_guide_are_accepted(post, handed_over, command):
    [_, url, option, body] = shlex.split(command)
    media_type = {"--json": "application/json", "-d": "application/x-www-form-urlencoded"}[option]
    response = post(handed_over[1], url.rpartition("/")[2], json.loads(body), **{"Content-Type": media_type})
    assert response.status == 200


def test_a_completion_needs_the_token_alone_and_is_in_the_trail(call, post, handed_over, audit):
    action, token = handed_over
    done = post(token, "complete", {"result": {"pages": 3}})
    assert (done.status, done.json) == (200, {"id": action, "status": "executed"})
    shown = call("get", action_id=action, claims=OPERATOR).json
    assert (shown["status"], shown["result"]) == ("executed", {"pages": 3})
    (entry,) = audit(action)
    assert (entry["operation"], entry["by"], entry["status"]) == ("complete", "token-holder", 200)
    assert entry["target"] == f"action:{action}"
    assert token not in str(entry)


def test_a_second_completion_is_a_conflict(post, handed_over):
    _, token = handed_over
    post(token, "complete")
    again = post(token, "complete")
    assert (again.status, again.code) == (409, "hand-over-ended")
    assert post(token, "fail", {"reason": "late"}).code == "hand-over-ended"
    assert post(token, "heartbeat").code == "hand-over-ended"


def test_a_completion_after_the_time_out_is_a_conflict(post, handed_over, clock, store):
    _, token = handed_over
    clock.wait_until(clock.now() + 5 * MINUTE)
    before = store.rows()
    assert post(token, "complete").code == "hand-over-ended"
    assert store.rows() == before


def test_a_failure_is_stored_with_its_reason(call, post, handed_over):
    action, token = handed_over
    assert post(token, "fail", {"reason": "out of memory", "retry": False}).json["status"] == "failed"
    assert call("get", action_id=action, claims=OPERATOR).json["failure_reason"] == "out of memory"


def test_a_heartbeat_stores_the_progress_and_is_not_in_the_trail(call, post, handed_over, audit, clock):
    action, token = handed_over
    clock.wait_until(clock.now() + MINUTE)
    beat = post(token, "heartbeat", {"progress": 0.4, "note": "12,000 of 30,000"})
    assert (beat.status, beat.json["cancel_requested"]) == (200, False)
    shown = call("get", action_id=action, claims=OPERATOR).json
    assert (shown["is_handed_over"], shown["progress"], shown["progress_note"]) == (
        True,
        0.4,
        "12,000 of 30,000",
    )
    assert audit(action) == []


def test_a_heartbeat_reads_the_row_once(post, handed_over, store, monkeypatch):
    reads, read = [], store.get_rows
    monkeypatch.setattr(
        store, "get_rows", lambda refs, **options: (reads.append(refs), read(refs, **options))[1]
    )
    assert post(handed_over[1], "heartbeat").status == 200
    assert len(reads) == 1


def test_a_damaged_row_is_named(post, handed_over, store, monkeypatch):
    action, token = handed_over

    def damaged_rows(refs, *, damaged):
        damaged.extend(DamagedRow(ref, "its fence is no number") for ref in refs)
        return []

    monkeypatch.setattr(store, "get_rows", damaged_rows)
    for verb, body in (("complete", None), ("fail", {"reason": "x"}), ("heartbeat", None)):
        refused = post(token, verb, body)
        assert (refused.status, refused.code) == (409, "unreadable-row")
        assert action in refused.json["detail"]


@pytest.mark.parametrize("token", ["x", "A" * 700, "%00", "eA"])
def test_a_forged_token_finds_nothing_and_leaves_no_trace(post, handed_over, token, store, audit):
    before = store.rows()
    for verb, body in (("complete", None), ("fail", {"reason": "x"}), ("heartbeat", None)):
        assert post(token, verb, body).status == 404
    assert store.rows() == before
    assert audit(handed_over[0]) == []


def test_a_token_of_a_run_that_is_not_handed_over_yet_comes_again(call, post, worker, clock):
    action = call.schedule(claims=OPERATOR)
    clock.wait_until(datetime.fromisoformat(action["due_at"]))
    early = post(token_of(worker.claim(action["id"])), "complete")
    assert (early.status, early.code, early.headers["Retry-After"]) == (409, "not-handed-over", "1")


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (("complete", {"result": "x" * 2_049}), "result"),
        (("complete", {"outcome": 1}), "outcome"),
        (("fail", {"reason": ""}), "reason"),
        (("fail", {"reason": "no", "retry": -5}), "retry"),
        (("fail", {"reason": "no", "retry": 1e12}), "retry"),
        (("fail", {}), "reason"),
        (("heartbeat", {"progress": 2}), "progress"),
        (("heartbeat", {"progress": 0.5, "note": "x" * 201}), "note"),
        (("heartbeat", {"note": "half"}), "note"),
    ],
)
def test_bad_input_is_refused_with_its_field(post, handed_over, made, field, store):
    before = store.rows()
    refused = post(handed_over[1], *made)
    assert refused.status == 422
    assert [flaw["where"] for flaw in refused.json["errors"]] == [field]
    assert store.rows() == before


def test_a_large_body_is_refused_unread(post, handed_over):
    refused = post(handed_over[1], "complete", {"result": "x" * 20_000})
    assert (refused.status, refused.code) == (413, "body-too-large")


@pytest.fixture
def end(call):
    """Ends an action by its id, as a user with roles of the deployment."""

    def end(action_id, verb, body=None, *, claims=OPERATOR, if_match=None):
        path = f"/api/v1/actions/{action_id}/{verb}"
        event = sample_event("cancel", httpMethod="POST", path=path, body=body, claims=claims)
        if if_match is not None:
            event["headers"]["If-Match"] = if_match
            event["multiValueHeaders"]["If-Match"] = [if_match]
        return call.send(event)

    return end


def etag(call, action_id):
    return call("get", action_id=action_id, claims=OPERATOR).headers["ETag"]


def test_a_manager_completes_a_handed_over_action_and_the_trail_names_the_user(
    call, end, post, handed_over, audit
):
    action, token = handed_over
    done = end(action, "complete", {"result": {"signed": "ada"}}, if_match=etag(call, action))
    assert (done.status, done.json) == (200, {"id": action, "status": "executed"})
    assert call("get", action_id=action, claims=OPERATOR).json["result"] == {"signed": "ada"}
    (entry,) = audit(action)
    assert (entry["operation"], entry["by"], entry["status"]) == ("complete", OPERATOR["email"], 200)
    assert post(token, "complete").code == "hand-over-ended"


def test_a_manager_fails_an_attempt_of_a_handed_over_action(call, end, post, handed_over, audit):
    action, token = handed_over
    assert end(action, "fail", {"reason": "lost", "retry": False}).json["status"] == "failed"
    assert call("get", action_id=action, claims=OPERATOR).json["failure_reason"] == "lost"
    assert [entry["by"] for entry in audit(action)] == [OPERATOR["email"]]
    assert post(token, "heartbeat").code == "hand-over-ended"


@pytest.fixture
def handed_over_later(handed_over, store, worker, clock):
    """A function that hands the same action over again, after the time-out of its first run."""

    def later():
        clock.wait_until(clock.now() + HOUR)
        claimed = worker.claim(handed_over[0], nonce="m")
        store.hand_over(claimed, HandedOver(HOUR).by(claimed, clock.now()))

    return later


def test_a_manager_ends_only_the_hand_over_that_was_shown(call, end, handed_over, handed_over_later, store):
    action, _ = handed_over
    shown = etag(call, action)
    handed_over_later()
    before = store.rows()
    for verb, body in (("complete", None), ("fail", {"reason": "x"})):
        rejected = end(action, verb, body, if_match=shown)
        assert (rejected.status, rejected.code) == (412, "precondition-failed")
    assert store.rows() == before
    assert end(action, "complete", if_match=etag(call, action)).json["status"] == "executed"


@pytest.mark.parametrize("verb", ["complete", "fail"])
def test_a_manager_of_another_tenant_does_not_find_it(end, handed_over, store, verb):
    action, _ = handed_over
    before, body = store.rows(), {"reason": "x"} if verb == "fail" else None
    assert end(action, verb, body, claims={**OPERATOR, "custom:tenant_id": "globex"}).status == 404
    assert store.rows() == before


@pytest.mark.parametrize("verb", ["complete", "fail"])
def test_an_action_whose_run_goes_on_is_not_ended(call, end, worker, clock, verb):
    action = call.schedule(claims=OPERATOR)
    body = {"reason": "x"} if verb == "fail" else None
    assert end(action["id"], verb, body).code == "hand-over-ended"
    clock.wait_until(datetime.fromisoformat(action["due_at"]))
    worker.claim(action["id"])
    before = worker.store.rows()
    assert end(action["id"], verb, body).code == "not-handed-over"
    assert worker.store.rows() == before


def test_an_action_shows_when_its_last_heartbeat_came(call, post, handed_over, clock):
    action, token = handed_over
    assert call("get", action_id=action, claims=OPERATOR).json["heartbeat_at"] is None
    clock.wait_until(clock.now() + MINUTE)
    at = clock.now()
    post(token, "heartbeat")
    shown = call("get", action_id=action, claims=OPERATOR).json["heartbeat_at"]
    assert datetime.fromisoformat(shown) == at
    post(token, "complete")
    assert call("get", action_id=action, claims=OPERATOR).json["heartbeat_at"] is None
