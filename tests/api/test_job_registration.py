"""Jobs that a tenant registers over HTTP."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.memory.notes import MemoryBookmarks
from tests.api.conftest import Client, empty_access, jobs_app
from tests.cases import for_each

ADA = {"custom:tenant_id": "acme", "sub": "1", "email": "ada@acme.example"}
REPORT = {
    "name": "acme-report",
    "type": "remark",
    "payload": {"text": "weekly"},
    "cadences": ["weekly mon 06:00 tz=Europe/Paris"],
}


@pytest.fixture
def tenant(ask):
    """Calls routes of jobs as one of acme who is no operator."""
    return lambda method, path="", **changes: ask(method, path, **{"claims": ADA, **changes})


def test_the_response_to_a_registration_has_the_job_and_its_location(tenant):
    response = tenant("POST", body=REPORT)
    job = response.json
    assert response.status == 201
    assert response.headers["Location"] == "/prod/api/v1/jobs/acme-report"
    assert (job["origin"], job["tenant_id"], job["registered_by"]) == ("runtime", "acme", "ada@acme.example")
    assert job["next_due_at"] == "2026-03-02T05:00:00Z"
    assert job["payload"]["text"] == "weekly"
    assert job["run_id"] is None
    found = tenant("GET", "/acme-report").json
    assert found == {name: value for name, value in job.items() if name != "run_id"}


def test_a_registration_stores_every_field(tenant):
    fields = {
        "retry": {"attempts": 4, "backoff": [1, 2], "jitter": 0, "give_up_after": 3600},
        "overlap": "queue_one",
        "catch_up": 2,
        "precision": "minute",
        "title": "Report",
        "category": "reports",
        "description": "what was said in a week",
        "failure_threshold": 7,
    }
    job = tenant("POST", body=REPORT | fields).json
    assert {name: job[name] for name in fields} == fields


def test_a_job_is_registered_after_another_one_of_the_tenant(tenant):
    refused = tenant("POST", body=REPORT | {"name": "acme-late", "after": "acme-report"})
    assert refused.status == 422
    assert "after is 'acme-report', and there is no such job" in refused.text
    assert tenant("POST", body=REPORT).json["after"] is None
    job = tenant("POST", body=REPORT | {"name": "acme-late", "after": "acme-report"}).json
    assert (job["after"], job["after_timeout"]) == ("acme-report", 43_200)
    listed = {entry["name"]: entry["after"] for entry in tenant("GET").json["items"]}
    assert listed == {"acme-late": "acme-report", "acme-report": None}
    body = {"after": "acme-report", "after_timeout": 3_600, "name": "acme-latest"}
    assert tenant("POST", body=REPORT | body).json["after_timeout"] == 3_600


def test_a_deadline_is_registered_and_shown_with_its_state(tenant, run_until, cloud):
    late = {"deadline": "08:00", "every_success_within": 8 * 86_400}
    job = tenant("POST", body=REPORT | late).json
    assert {name: job[name] for name in late} | {"within": job["within"]} == late | {"within": None}
    assert job["next_runs"][0]["deadline_at"] == "2026-03-02T07:00:00Z"
    window = {"from": "2026-03-02T00:00:00Z", "until": "2026-03-10T00:00:00Z"}
    states = []
    for hour in (4, 12):
        run_until(datetime(2026, 3, 2, hour, tzinfo=UTC))
        found = tenant("GET", "/acme-report/occurrences", query=window).json["items"]
        states.append([(entry["deadline_at"], entry["deadline"]) for entry in found])
    coming = ("2026-03-09T07:00:00Z", "open")
    assert states == [[("2026-03-02T07:00:00Z", state), coming] for state in ("open", "met")]
    assert "duetime-deadline" in {row.type for row in cloud.store.rows()}


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"deadline": "8 am"}, 'use a wall time such as "06:00"'),
        ({"within": 0}, "within is 0:00:00; allowed is a second to 7 days"),
        ({"deadline": "08:00", "within": 60}, "deadline and within are both given"),
        ({"cadences": [], "within": 60}, "no cadence has times"),
        ({"every_success_within": 86_400}, "use more than that"),
    ],
)
def test_a_deadline_that_cannot_be_meant_is_rejected(tenant, fields, problem):
    response = tenant("POST", body=REPORT | fields)
    assert (response.status, response.code) == (422, "bad-declaration")
    assert problem.replace("\\", "") in response.json["detail"]


def test_a_registered_job_runs(tenant, run_until, cloud, clock):
    tenant("POST", body=REPORT | {"cadences": ["every 1h"]})
    run_until(clock.now().replace(hour=13, minute=1))
    runs = tenant("GET", "/acme-report/runs", query={"status": "executed"}).json["items"]
    assert [(run["tenant_id"], run["type"], run["cadence"]) for run in runs] == [
        ("acme", "remark", runs[0]["cadence"])
    ]


def test_a_job_can_be_registered_and_triggered_in_one_call(tenant, cloud):
    job = tenant("POST", body=REPORT | {"trigger": True}).json
    runs = {row.id: row for row in cloud.store.rows()}
    assert runs[job["run_id"]].trigger == "manual"
    assert runs[job["run_id"]].tenant_id == "acme"


def test_the_same_idempotency_key_again_changes_nothing_and_triggers_nothing(tenant, cloud):
    fields = REPORT | {"idempotency_key": "k-1", "trigger": True}
    first = tenant("POST", body=fields)
    again = tenant("POST", body=fields | {"title": "another"})
    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert again.headers["Location"] == first.headers["Location"]
    assert [row.id for row in cloud.store.rows() if row.trigger == "manual"] == [first.json["run_id"]]


def test_a_key_holds_for_its_time_to_live(tenant, clock):
    fields = REPORT | {"idempotency_key": "k-1", "idempotency_ttl": 3600, "trigger": True}
    first = tenant("POST", body=fields).json
    clock.wait_until(clock.now() + timedelta(minutes=59))
    assert tenant("POST", body=fields).json["run_id"] == first["run_id"]
    clock.wait_until(clock.now() + timedelta(minutes=1))
    assert tenant("POST", body=fields).code == "job-name-taken"
    replaced = {name: value for name, value in fields.items() if name not in {"name", "trigger"}}
    assert tenant("PUT", "/acme-report", body=replaced).status == 200


def test_a_repeated_call_triggers_the_run_that_the_first_call_did_not(tenant):
    key = {"idempotency_key": "k-1"}
    tenant("POST", body=REPORT | key)
    again = tenant("POST", body=REPORT | key | {"trigger": True})
    assert again.status == 200
    assert again.json["run_id"].startswith("acme-report.000001.")


def test_a_taken_name_is_rejected(tenant):
    tenant("POST", body=REPORT)
    again = tenant("POST", body=REPORT)
    assert (again.status, again.code) == (409, "job-name-taken")
    of_code = tenant("POST", body=REPORT | {"name": "billing-nightly"})
    assert (of_code.status, of_code.code) == (409, "job-name-taken")
    assert "code declares" in of_code.json["detail"]


def test_a_job_is_replaced(tenant):
    tenant("POST", body=REPORT)
    fields = {name: value for name, value in REPORT.items() if name != "name"}
    response = tenant("PUT", "/acme-report", body=fields | {"cadences": ["daily 07:00"]})
    assert response.status == 200
    assert (response.json["version"], response.json["next_due_at"]) == (2, "2026-03-02T07:00:00Z")
    new = tenant("PUT", "/acme-other", body=fields)
    assert (new.status, new.json["name"]) == (201, "acme-other")


def test_a_removed_job_retains_its_history(tenant):
    run = tenant("POST", body=REPORT | {"trigger": True}).json["run_id"]
    response = tenant("DELETE", "/acme-report")
    assert (response.status, response.text) == (204, None)
    assert tenant("GET", "/acme-report").code == "job-not-found"
    assert tenant("GET").json["items"] == []
    assert run in [item["id"] for item in tenant("GET", "/acme-report/runs").json["items"]]
    ahead = tenant("GET", "/acme-report/occurrences", query={"until": "2026-03-09T06:00:00Z"}).json["items"]
    assert {(item["account"], item["reason"]) for item in ahead} == {("skipped", "disabled")}
    assert tenant("DELETE", "/acme-report").code == "job-not-found"
    assert tenant("POST", body=REPORT).status == 201


def test_a_job_without_cadences_runs_when_it_is_triggered(tenant):
    job = tenant("POST", body={"name": "acme-once", "type": "remark"}).json
    assert [item["text"] for item in job["cadences"]] == ["manual"]
    assert tenant("POST", "/acme-once/trigger").code == "invalid-payload"
    assert tenant("POST", "/acme-once/trigger", body={"payload": {}}).status == 202


def test_no_registered_job_runs_the_handler_of_a_job_with_cadences(ask, tenant):
    fields = {"name": "acme-nightly", "type": "billing-nightly", "cadences": ["daily 03:00"]}
    refused = ask("POST", body=fields)
    assert (refused.status, refused.code) == (422, "bad-declaration")
    assert "billing-nightly is a job with cadences" in refused.json["detail"]
    refused = tenant("POST", body=fields | {"name": "acme-other"})
    assert (refused.status, refused.code) == (422, "unknown-type")
    assert "billing" not in refused.json["detail"].partition("known are")[2]


REFUSED = {
    "no name": ({"name": ...}, 422, "invalid-request", "name is required"),
    "no type": ({"type": ...}, 422, "invalid-request", "type is required"),
    "one word": ({"name": "report"}, 422, "invalid-argument", "two or more kebab-case segments"),
    "name with #": ({"name": "acme#report-x"}, 422, "invalid-argument", "kebab-case"),
    "name too long": ({"name": "acme-" + "x" * 70}, 422, "invalid-argument", "at most 64"),
    "reserved": ({"name": "duetime-report"}, 422, "bad-declaration", "reserved for the system's own"),
    "unknown handler": ({"type": "remarks"}, 422, "unknown-type", "known are: apply-plan-change, remark"),
    "what Python could import": ({"type": "os.system"}, 422, "unknown-type", "no handler"),
    "a job that takes a payload": ({"type": "billing-rebuild"}, 422, "unknown-type", "no handler"),
    "no payload": ({"payload": ...}, 422, "invalid-payload", "there is none"),
    "payload fails its model": ({"payload": {"txet": "x"}}, 422, "invalid-payload", "txet"),
    "payload is a list": ({"payload": []}, 422, "invalid-request", "payload must be a JSON object"),
    "payload too large": ({"payload": {"text": "x" * 3_000}}, 422, "bad-declaration", "at most 2,048"),
    "mistyped cadence": ({"cadences": ["61 * * * *"]}, 400, "invalid-cron", "    61 * * * *\n    ^^"),
    "unknown cadence": ({"cadences": ["dayly 09:00"]}, 400, "invalid-cadence", "there is no cadence 'dayly'"),
    "never fires": ({"cadences": ["0 0 30 2 *"]}, 400, "never-fires", "\n"),
    "unknown zone": ({"cadences": ["daily 09:00 tz=Mars/Olympus"]}, 400, "unknown-zone", "^"),
    "ambiguous days": ({"cadences": ["0 0 1 * 1"]}, 400, "ambiguous-days", "day_rule"),
    "cadence is a number": ({"cadences": [5]}, 422, "invalid-request", "cadences.0 must be text"),
    "cadences is a text": ({"cadences": "daily 09:00"}, 422, "invalid-request", "cadences must be"),
    "a very long cadence": ({"cadences": ["0 9 * * *" + " " * 5_000]}, 422, "invalid-request", "2000 char"),
    "one cadence twice": ({"cadences": ["daily 09:00"] * 2}, 422, "bad-declaration", "occurs twice"),
    "event of its own runs": (
        {"cadences": ["on_event duetime run.failed"]},
        422,
        "bad-declaration",
        "could start it by its own runs",
    ),
    "pattern that EventBridge rejects": (
        {"cadences": ['on_event shop Ordered match={"total":[{"numeric":["<"]}]}']},
        422,
        "bad-declaration",
        "detail.total.numeric",
    ),
    "job with cadences": ({"type": "billing-nightly"}, 422, "unknown-type", "no handler"),
    "event of all tenants": (
        {"cadences": ["on_event shop Ordered"]},
        422,
        "bad-declaration",
        "'shop' is not in the setting event_sources",
    ),
    "event of a tenant that it names": (
        {"cadences": ["on_event shop Ordered tenant=source"]},
        422,
        "bad-declaration",
        "tenant is given; remove it",
    ),
    "overlap": ({"overlap": "sometimes"}, 422, "invalid-request", "overlap must be 'skip'"),
    "precision": ({"precision": "hour"}, 422, "invalid-request", "precision must be 'second'"),
    "minute for seconds": (
        {"cadences": ["every 10s"], "precision": "minute"},
        422,
        "bad-declaration",
        "whole minutes",
    ),
    "catch up": ({"catch_up": 101}, 422, "bad-declaration", "0 to 100"),
    "catch up is a truth": ({"catch_up": True}, 422, "invalid-request", "catch_up must be"),
    "threshold": ({"failure_threshold": 0}, 422, "bad-declaration", "from 1"),
    "attempts": ({"retry": {"attempts": 0}}, 422, "bad-declaration", "1 to 100"),
    "backoff": ({"retry": {"backoff": []}}, 422, "bad-declaration", "1 to 20"),
    "long backoff": ({"retry": {"backoff": 9e9}}, 422, "bad-declaration", "90 days"),
    "jitter": ({"retry": {"jitter": 2}}, 422, "bad-declaration", "0 to 1"),
    "end of retries": ({"retry": {"give_up_after": 9e9}}, 422, "bad-declaration", "90 days"),
    "retry member": (
        {"retry": {"tries": 2}},
        422,
        "invalid-request",
        "tries is not known here; known are attempts,",
    ),
    "title": ({"title": "t" * 101}, 422, "bad-declaration", "at most 100"),
    "key's time too short": (
        {"idempotency_key": "k-1", "idempotency_ttl": 59},
        422,
        "invalid-request",
        "idempotency_ttl must be greater than or equal to 60",
    ),
    "key's time as text": (
        {"idempotency_key": "k-1", "idempotency_ttl": "60"},
        422,
        "invalid-request",
        "idempotency_ttl must be a number",
    ),
    "time of no key": ({"idempotency_ttl": 60}, 422, "invalid-argument", "without a key"),
    "key": ({"idempotency_key": ""}, 422, "bad-declaration", "1 to 128"),
    "trigger": ({"trigger": "yes"}, 422, "invalid-request", "trigger must be"),
    "unknown member": ({"schedule": "daily"}, 422, "invalid-request", "schedule is not known here"),
    "trigger without payload": (
        {"cadences": [], "payload": ..., "trigger": True},
        422,
        "invalid-payload",
        "there is none",
    ),
}


@for_each("case", REFUSED.values())
def test_an_invalid_registration_is_rejected_before_anything_is_written(tenant, cloud, case):
    changes, status, code, result = case
    rows = cloud.store.rows()
    fields = {name: value for name, value in (REPORT | changes).items() if value is not ...}
    response = tenant("POST", body=fields)
    assert (response.status, response.code) == (status, code), response.text
    assert result in response.json["detail"]
    if status == 422:
        named = {re.split(r"\W", flaw["where"])[0] for flaw in response.json["errors"]}
        assert named <= set(changes), response.text
    assert len(response.text) < 5_000
    assert cloud.store.rows() == rows
    assert tenant("GET").json["items"] == []


class TestOverABackEndOfMinutes:
    @pytest.fixture
    def call_cloud(self, cloud, clock, settings):
        ports = replace(cloud.job_ports, precision="minute")
        api = ApiContext(cloud.store, ports, jobs_app(), clock, settings)
        return Client(make_api(api, Health(MemoryBookmarks()), empty_access()))

    def test_a_job_with_precision_of_seconds_is_rejected(self, tenant):
        response = tenant("POST", body=REPORT)
        assert (response.status, response.code) == (422, "bad-declaration")
        assert "honour minutes only; use precision='minute'" in response.json["detail"]
        assert tenant("POST", body=REPORT | {"precision": "minute"}).status == 201


def test_the_error_of_a_cadence_marks_the_position(tenant):
    response = tenant("POST", body=REPORT | {"cadences": ["61 * * * *"]}).json
    assert (response["text"], response["start"], response["width"]) == ("61 * * * *", 0, 2)
    assert response["problem"].startswith("minute: 61")
    assert response["remedy"] == "use 0-59"


def test_a_too_large_body_is_rejected(tenant):
    deep = '{"name":"acme-x","type":"remark","payload":{"rest":' + "[" * 10_000 + "]" * 10_000 + "}}"
    assert tenant("POST", body=deep).code == "malformed-body"
    assert tenant("POST", body="x" * 1_100_000).code == "body-too-large"
    assert tenant("POST", body=None).code == "invalid-request"
    assert tenant("POST", body="[]").code == "invalid-request"
