"""A client changes only what it has seen, if it says so: ETag and If-Match."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.api.deployment import CLAIMS, NAME, Deployment

STAFF = CLAIMS | {"cognito:groups": "admins"}
JOB = "/jobs/own-report"
OWN = {"name": "own-report", "type": "remark", "payload": {}, "cadences": ["daily 02:30"]}
REPLACED = {"type": "remark", "payload": {}, "cadences": ["daily 03:30"]}
ON_ACTIONS = [("PUT", "/reschedule", {"in": 90}), ("DELETE", "", None)]
ON_JOBS = [
    ("POST", "/pause", None),
    ("POST", "/resume", None),
    ("POST", "/trigger", None),
    ("PUT", "/settings", {"attempts": 2}),
    ("PUT", "", REPLACED),
    ("DELETE", "", None),
]


@pytest.fixture
def ask(clock):
    deployment = Deployment(clock)

    def send(method, path, body=None, etag=None):
        headers = {} if etag is None else {"If-Match": etag}
        return deployment.ask(method, path, claims=STAFF, body=body, headers=headers)

    send.deployment = deployment
    return send


@pytest.fixture
def action(ask):
    made = ask("POST", "/actions", {"type": "remark", "payload": {}, "in": 60})
    return f"/actions/{made.json['id']}"


@pytest.fixture
def job(ask):
    assert ask("POST", "/jobs", OWN).status == 201
    return JOB


def etag(ask, path):
    first, again = ask("GET", path), ask("GET", path)
    assert first.headers["ETag"] == again.headers["ETag"]
    return first.headers["ETag"]


@pytest.mark.parametrize(("method", "path", "body"), ON_ACTIONS)
def test_an_action_is_changed_only_if_its_etag_matches(ask, action, method, path, body):
    seen = etag(ask, action)
    assert ask("PUT", f"{action}/reschedule", {"in": 120}).status == 200
    refused = ask(method, action + path, body, seen)
    assert (refused.status, refused.code) == (412, "precondition-failed")
    assert ask("GET", action).json["due_at"] == "2026-03-01T12:02:00Z"
    assert ask(method, action + path, body, f'"other", {etag(ask, action)}').status == 200


@pytest.mark.parametrize(("method", "path", "body"), ON_JOBS)
def test_a_job_is_changed_only_if_its_etag_matches(ask, job, method, path, body):
    if path == "/resume":
        ask("POST", f"{job}/pause")
    seen = etag(ask, job)
    assert ask("PUT", f"{job}/settings", {"attempts": 7}).status == 200
    before = ask("GET", job).text
    refused = ask(method, job + path, body, seen)
    assert (refused.status, refused.code) == (412, "precondition-failed")
    assert ask("GET", job).text == before
    assert ask(method, job + path, body, etag(ask, job)).status < 300


@pytest.mark.parametrize(
    ("method", "path", "body"), [on_job for on_job in ON_JOBS if on_job[1] != "/trigger"]
)
def test_a_job_that_changes_after_the_comparison_is_not_changed(ask, method, path, body):
    job = JOB
    ask("POST", "/jobs", OWN)
    if path == "/resume":
        ask("POST", f"{job}/pause")
    seen, raced = etag(ask, job), []

    def overtake(change, old, new, **more):
        if not raced:
            raced.append(True)
            assert change(old, replace(old, version=old.version + 1))
        return change(old, new, **more)

    ask.deployment.jobs.hooks["change"] = overtake
    assert ask(method, job + path, body, seen).status == 412
    assert raced


def test_the_etag_of_a_job_is_the_same_after_its_maintenance_and_its_runs(ask, job):
    seen, store = etag(ask, job), ask.deployment.cloud.job_ports.jobs
    [stored] = store.list(CLAIMS["custom:tenant_id"], limit=9, cursor=None)
    later = stored.maintain_at + timedelta(days=1)
    assert store.change(stored, replace(stored, maintain_at=later, wakes=stored.wakes.stale()))
    assert ask("POST", f"{job}/trigger").status < 300
    assert etag(ask, job) == seen
    assert ask("POST", f"{job}/pause").status < 300
    assert etag(ask, job) != seen
    assert ask("POST", f"{job}/resume").status < 300
    assert etag(ask, job) == seen


@pytest.mark.parametrize("fields", [None, "*", " * "])
def test_without_if_match_a_change_applies_to_any_version(ask, action, fields):
    assert ask("DELETE", action, etag=fields).status == 200


@pytest.mark.parametrize("fields", ["", "x", 'W/"0"', '"\ud800"'])
def test_an_unknown_etag_matches_nothing(ask, action, fields):
    assert ask("DELETE", action, etag=fields).status == 412


def test_a_missing_target_is_not_found_whatever_the_etag(ask):
    assert ask("DELETE", f"/actions/{NAME}", etag='"0"').code == "action-not-found"
    assert ask("DELETE", JOB, etag='"0"').code == "job-not-found"
