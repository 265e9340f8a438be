"""Jobs over HTTP: looked at, paused, resumed, triggered, skipped and tuned."""

import json
from datetime import timedelta

import pytest

from duetime.cli import main

SUMMARY_MEMBERS = {
    "name", "type", "title", "category", "tenant_id", "origin", "version", "cadences", "after", "enabled",
    "paused", "running", "next_due_at", "last_run", "consecutive_failures", "recent_runs",
    "runs_per_day", "dollars_per_month",
}  # fmt: skip
JOB_MEMBERS = SUMMARY_MEMBERS | {
    "description", "payload", "redacted", "retry", "overlap", "catch_up", "precision", "failure_threshold",
    "deadline", "within", "every_success_within", "after_timeout",
    "worker", "since", "disabled_at", "registered_by", "waiting", "tally", "tuning", "next_runs",
}  # fmt: skip
ME = "ada@acme.example"


def test_an_operator_lists_codes_jobs_by_name(ask):
    page = ask("GET").json
    assert [entry["name"] for entry in page["items"]] == [
        "billing-hourly",
        "billing-nightly",
        "billing-rebuild",
        "duetime-catch-up",
        "duetime-recount",
        "duetime-sweep",
    ]
    nightly = page["items"][1]
    assert nightly.keys() == SUMMARY_MEMBERS
    assert nightly["title"] == "Nightly bills"
    assert (nightly["origin"], nightly["tenant_id"], nightly["enabled"]) == ("code", "system", True)
    assert nightly["next_due_at"] == "2026-03-02T01:30:00Z"
    assert page["next_cursor"] is None


def test_jobs_are_listed_in_pages(ask):
    seen, query = [], {"limit": "2"}
    while True:
        page = ask("GET", query=query).json
        seen.append([entry["name"] for entry in page["items"]])
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert [name for names in seen for name in names] == [entry["name"] for entry in ask("GET").json["items"]]
    assert max(map(len, seen)) == 2


def test_a_job_is_returned_in_full_with_its_next_runs(ask):
    response = ask("GET", "/billing-nightly")
    job = response.json
    assert response.status == 200
    assert job.keys() == JOB_MEMBERS
    assert [entry["paused"] for entry in job["cadences"]] == [None, None]
    assert job["cadences"][0]["text"] == "daily 02:30 tz=Europe/Paris"
    assert "02:30" in job["cadences"][0]["words"]
    assert [entry["at"] for entry in job["next_runs"]] == [
        "2026-03-02T01:30:00Z",
        "2026-03-02T06:00:00Z",
        "2026-03-03T01:30:00Z",
    ]
    assert job["next_runs"][1]["cadences"] == [job["cadences"][1]["name"]]
    assert (job["payload"], job["tuning"], job["last_run"]) == (None, [], None)


def test_payload_and_retry_policy_are_shown_as_declared(ask):
    job = ask("GET", "/billing-hourly").json
    assert job["payload"]["text"] == "hourly"
    assert job["retry"] == {"attempts": 5, "backoff": [10.0], "jitter": 0.1, "give_up_after": None}


def test_a_job_shows_its_ended_run(ask, run_until, clock):
    run_until(clock.now() + timedelta(hours=2, minutes=1))
    job = ask("GET", "/billing-hourly").json
    assert job["last_run"]["status"] == "executed"
    assert job["last_run"]["id"].startswith("billing-hourly.000001.2026030")
    assert job["tally"]["executed"] == 2


def test_a_job_is_paused_and_resumed(ask):
    response = ask(
        "POST", "/billing-nightly/pause", body={"reason": "the bank moves", "until": "2026-03-04T00:00:00Z"}
    )
    assert (response.status, response.text) == (204, None)
    job = ask("GET", "/billing-nightly").json
    assert job["paused"] == {
        "since": "2026-03-01T12:00:00Z",
        "by": ME,
        "reason": "the bank moves",
        "until": "2026-03-04T00:00:00Z",
        "parts": [],
    }
    ask("POST", "/billing-nightly/pause", body={"reason": "a holiday", "until": "2026-03-02T00:00:00Z"})
    parts = ask("GET", "/billing-nightly").json["paused"]["parts"]
    assert [part["reason"] for part in parts] == ["the bank moves", "a holiday"]
    assert job["next_due_at"] == "2026-03-04T01:30:00Z"
    assert ask("POST", "/billing-nightly/resume").status == 204
    assert ask("GET", "/billing-nightly").json["paused"] is None


def test_a_job_that_is_paused_for_good_is_not_due(ask):
    assert ask("POST", "/billing-nightly/pause").status == 204
    job = ask("GET", "/billing-nightly").json
    assert (job["next_due_at"], job["next_runs"]) == (None, [])


def test_one_cadence_is_paused_and_resumed(ask):
    name = ask("GET", "/billing-nightly").json["cadences"][0]["name"]
    assert ask("POST", "/billing-nightly/pause", body={"cadence": name}).status == 204
    job = ask("GET", "/billing-nightly").json
    assert job["paused"] is None
    assert [bool(entry["paused"]) for entry in job["cadences"]] == [True, False]
    assert job["next_due_at"] == "2026-03-02T06:00:00Z"
    assert ask("POST", "/billing-nightly/resume", body={"cadence": name}).status == 204
    assert ask("GET", "/billing-nightly").json["next_due_at"] == "2026-03-02T01:30:00Z"


def test_the_response_to_a_trigger_has_the_location_of_the_run(ask, cloud):
    response = ask("POST", "/billing-nightly/trigger")
    run = response.json
    assert response.status == 202
    assert response.headers["Location"] == f"/prod/api/v1/actions/{run['id']}"
    assert (run["job"], run["trigger"], run["status"]) == ("billing-nightly", "manual", "pending")
    assert run["created_by"] == ME


def test_a_triggered_run_is_given_the_payload_that_was_sent(ask, cloud):
    sent = ask("POST", "/billing-rebuild/trigger", body={"payload": {"text": "all"}}).json
    own = ask("POST", "/billing-hourly/trigger").json
    written = {row.id: row.payload for row in cloud.store.rows()}
    assert '"text":"all"' in written[sent["id"]]
    assert '"text":"hourly"' in written[own["id"]]


def test_the_next_run_is_skipped_and_the_one_after_it_is_next(ask):
    skipped = ask("POST", "/billing-hourly/skip-next")
    assert skipped.status == 200
    assert (skipped.json["status"], skipped.json["skip_reason"]) == ("skipped", "requested")
    assert skipped.json["note"] == f"skipped by {ME}"
    following = ask("GET", "/billing-hourly").json["next_runs"]
    assert skipped.json["nominal_at"] not in [entry["at"] for entry in following]
    assert len(following) == 3


def test_each_skip_skips_the_first_of_the_next_runs(ask):
    for _ in range(6):
        following = ask("GET", "/billing-nightly").json["next_runs"]
        skipped = ask("POST", "/billing-nightly/skip-next").json
        assert skipped["nominal_at"] == following[0]["at"]
        assert ask("GET", "/billing-nightly").json["next_runs"][:2] == following[1:]


def test_a_skip_of_a_system_pass_is_rejected_with_the_reason(ask):
    refused = ask("POST", "/duetime-sweep/skip-next")
    assert (refused.status, refused.code) == (409, "job-conflict")
    assert "the clock runs it" in refused.json["detail"]


def test_retries_are_set_on_top_of_the_declared_policy(ask):
    response = ask("PUT", "/billing-hourly/settings", body={"attempts": 9, "backoff": 30})
    assert response.status == 200
    assert response.json["tuning"] == [{"cadence": None, "attempts": 9, "backoff": [30.0], "jitter": None}]
    assert response.json["retry"]["attempts"] == 5
    assert ask("PUT", "/billing-hourly/settings", body={"backoff": [1, 2.5]}).json["tuning"][0] == {
        "cadence": None,
        "attempts": None,
        "backoff": [1.0, 2.5],
        "jitter": None,
    }
    assert ask("PUT", "/billing-hourly/settings", body={}).json["tuning"] == []


def test_history_comes_newest_first_and_in_pages(ask, run_until, clock):
    run_until(clock.now() + timedelta(hours=3, minutes=1))
    first = ask("GET", "/billing-hourly/runs", query={"limit": "2", "until": "2026-03-01T15:00:00Z"}).json
    seen = list(first["items"])
    while first["next_cursor"]:
        query = {"limit": "2", "until": "2026-03-01T15:00:00Z", "cursor": first["next_cursor"]}
        first = ask("GET", "/billing-hourly/runs", query=query).json
        seen += first["items"]
    assert [(entry["nominal_at"][11:16], entry["status"]) for entry in seen] == [
        ("15:00", "executed"),
        ("14:00", "executed"),
        ("13:00", "executed"),
    ]
    assert {entry["trigger"] for entry in seen} == {"cadence"}
    assert len({entry["cadence"] for entry in seen}) == 1


def test_history_has_the_payloads_of_triggered_runs(ask, run_until, clock):
    run_until(clock.now() + timedelta(hours=1, minutes=1))
    ask("POST", "/billing-hourly/trigger", body={"payload": {"text": "sent"}})
    ask("POST", "/billing-hourly/trigger")
    items = ask("GET", "/billing-hourly/runs", query={"until": "2026-03-01T13:30:00Z"}).json["items"]
    texts = sorted((item["trigger"], item["payload"] and item["payload"]["text"]) for item in items)
    assert texts == [("cadence", None), ("manual", "hourly"), ("manual", "sent")]


def test_history_is_filtered_by_status_and_time(ask, run_until, clock):
    run_until(clock.now() + timedelta(hours=2, minutes=1))
    pending = ask("GET", "/billing-hourly/runs", query={"status": "pending"}).json["items"]
    assert {entry["status"] for entry in pending} == {"pending"}
    window = {"from": "2026-03-01T13:00:00Z", "until": "2026-03-01T14:00:00Z"}
    items = ask("GET", "/billing-hourly/runs", query=window).json["items"]
    assert [item["nominal_at"] for item in items] == ["2026-03-01T14:00:00Z"]
    backwards = {"from": window["until"], "until": window["from"]}
    refused = ask("GET", "/billing-hourly/runs", query=backwards)
    assert (refused.status, refused.code) == (422, "invalid-argument")


def test_occurrences_are_explained_a_day_back_and_a_day_ahead(ask, run_until, clock):
    run_until(clock.now() + timedelta(hours=2, minutes=1))
    page = ask("GET", "/billing-hourly/occurrences").json
    accounts = [(entry["at"][11:16], entry["account"]) for entry in page["items"]]
    assert accounts[:3] == [("13:00", "executed"), ("14:00", "executed"), ("15:00", "pending")]
    assert page["items"][0]["action_id"] == "billing-hourly.000001.20260301T130000Z"
    assert page["next_from"] is None
    last = page["items"][-1]
    assert (last["account"], last["until"] or last["at"]) == ("upcoming", "2026-03-02T14:00:00Z")


def test_occurrences_continue_at_their_cursor(ask):
    query = {"from": "2026-03-01T12:00:00Z", "until": "2026-03-09T00:00:00Z", "limit": "1"}
    ask("POST", "/billing-hourly/trigger")
    page = ask("GET", "/billing-hourly/occurrences", query=query).json
    assert len(page["items"]) == 1
    following = ask("GET", "/billing-hourly/occurrences", query=query | {"from": page["next_from"]}).json
    assert following["items"][0]["at"] > page["items"][0]["at"]


def test_a_preview_of_a_cadence_shows_clock_changes(ask):
    query = {"cadence": "daily 02:30 tz=Europe/Paris", "from": "2026-03-28T00:00:00Z", "count": "2"}
    preview = ask("GET", "/preview", query=query).json
    assert (preview["cadence"], preview["tz"]) == ("daily 02:30 tz=Europe/Paris", "Europe/Paris")
    first, second = preview["occurrences"]
    assert (first["at"], first["local"], first["mark"]) == (
        "2026-03-28T01:30:00Z",
        "2026-03-28T02:30:00",
        None,
    )
    assert (second["at"], second["mark"]) == ("2026-03-29T01:00:00Z", "moved")
    assert "did not exist" in second["note"]


def test_a_preview_ends_at_the_given_end(ask):
    query = {"cadence": "every 1h", "until": "2026-03-01T15:00:00Z"}
    preview = ask("GET", "/preview", query=query).json
    assert [entry["at"][11:16] for entry in preview["occurrences"]] == ["13:00", "14:00", "15:00"]
    assert not preview["is_cut"]
    assert ask("GET", "/preview", query=query | {"count": "2"}).json["is_cut"]


def test_a_preview_shows_clock_changes_within_a_year_of_its_times(ask):
    query = {"cadence": "30 2 * * * tz=Europe/Paris", "from": "2026-03-01T00:00:00Z", "count": "1"}
    result = ask("GET", "/preview", query=query).json["changes"]
    assert [(entry["at"], entry["local"], entry["mark"]) for entry in result] == [
        ("2026-03-29T01:00:00Z", "2026-03-29T03:00:00", "moved"),
        ("2026-10-25T00:30:00Z", "2026-10-25T02:30:00", "once"),
        ("2027-03-28T01:00:00Z", "2027-03-28T03:00:00", "moved"),
    ]
    assert all(entry["note"] for entry in result)
    query |= {"until": "2026-03-03T00:00:00Z"}
    assert ask("GET", "/preview", query=query).json["changes"] == []


@pytest.mark.parametrize(("start", "number"), [("1970-01-01T00:00:00Z", 0), ("2199-12-31T20:00:00Z", 2)])
def test_a_preview_at_the_ends_of_time_shows_clock_changes(ask, start, number):
    query = {"cadence": "30 2 * * * tz=Europe/Paris", "from": start, "count": "2"}
    assert len(ask("GET", "/preview", query=query).json["changes"]) == number


@pytest.mark.parametrize(
    "cadence",
    [
        "30 2 * * * tz=Europe/Paris",
        "*/7 * * * *",
        "0 0 31 * *",
        "0 0 15W * *",
        "0 12 * * ? *",
        "daily 02:30",
        "manual",
    ],
)
def test_a_preview_equals_that_of_the_command_line(ask, capsys, cadence):
    start = "2026-03-01T00:00:01Z"
    result = ask("GET", "/preview", query={"cadence": cadence, "from": start}).json
    assert main(["preview", cadence, "--from", start, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    for name in ("notes", "disagreements", "second_opinion"):
        assert result[name] == printed[name]
    for name in ("occurrences", "changes"):
        shown = [(entry["at"], entry["mark"], entry["note"]) for entry in result[name]]
        assert shown == [(entry["at"], entry["mark"], entry["note"]) for entry in printed[name]]


@pytest.mark.parametrize(("cadence", "number"), [("manual", 0), ("interval 7m", 10), ("0 9 * * *", 10)])
def test_every_kind_of_cadence_is_previewed(ask, cadence, number):
    assert len(ask("GET", "/preview", query={"cadence": cadence}).json["occurrences"]) == number


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "", "GET, POST"),
        ("POST", "/billing-nightly", "DELETE, GET, PUT"),
        ("GET", "/billing-nightly/pause", "POST"),
        ("POST", "/billing-nightly/settings", "PUT"),
        ("DELETE", "/billing-nightly/runs", "GET"),
    ],
)
def test_the_error_of_a_wrong_method_names_the_right_one(ask, method, path, allowed):
    response = ask(method, path)
    assert (response.status, response.code) == (405, "wrong-method")
    assert response.headers["Allow"] == allowed
