"""Many jobs at a look: the last runs of each, and what will run."""

from datetime import timedelta

import pytest

from duetime.testing import TurnedClock
from tests.api.conftest import NOW
from tests.api.deployment import CLAIMS, Deployment


def of(page, name):
    (found,) = (item for item in page["items"] if item["name"] == name)
    return found


def test_runs_are_included_on_request(ask):
    for query in ({}, {"runs": "0"}):
        assert {item["recent_runs"] for item in ask("GET", query=query or None).json["items"]} == {None}
    assert of(ask("GET", query={"runs": "3"}).json, "billing-nightly")["recent_runs"] == []


def test_the_last_runs_of_each_job_come_newest_first_without_future_ones(ask, run_until, clock):
    run_until(clock.now() + timedelta(hours=4, minutes=1))
    page = ask("GET", query={"runs": "3"}).json
    runs = of(page, "billing-hourly")["recent_runs"]
    assert [(run["nominal_at"][11:16], run["status"]) for run in runs] == [
        ("16:00", "executed"),
        ("15:00", "executed"),
        ("14:00", "executed"),
    ]
    assert runs[0].keys() == {
        "id", "status", "trigger", "nominal_at", "started_at", "finished_at", "attempts",
        "is_retrying",
    }  # fmt: skip
    assert {(run["trigger"], run["attempts"]) for run in runs} == {("cadence", 1)}
    assert all(run["started_at"] <= run["finished_at"] for run in runs)
    assert of(page, "billing-nightly")["recent_runs"] == []


def test_a_run_that_waits_has_neither_begun_nor_ended(ask):
    run = ask("POST", "/billing-nightly/trigger").json
    (result,) = of(ask("GET", query={"runs": "20"}).json, "billing-nightly")["recent_runs"]
    assert (result["id"], result["status"], result["trigger"]) == (run["id"], "pending", "manual")
    assert (result["started_at"], result["finished_at"], result["attempts"]) == (None, None, 0)


def test_runs_of_a_page_cost_a_bounded_number_of_queries():
    deployment = Deployment(TurnedClock(NOW), roles={"clerks": "jobs:manage"})
    claims = CLAIMS | {"cognito:groups": "clerks"}
    for number in range(60):
        body = {"name": f"own-job{number:02d}", "type": "remark"}
        assert deployment.ask("POST", "/jobs", claims=claims, body=body).status == 201
    queries, seen, cursor = [], [], {}
    deployment.store.hooks["of_job"] = lambda method, *arguments, **more: (
        queries.append(arguments),
        method(*arguments, **more),
    )[1]
    while cursor is not None:
        query = {"runs": "20", "limit": "100", **cursor}
        page = deployment.ask("GET", "/jobs", claims=claims, query=query).json
        assert len(queries) == len(page["items"]) <= 25
        seen += [job["name"] for job in page["items"]]
        queries.clear()
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
    assert len(seen) == len(set(seen)) >= 60


@pytest.mark.parametrize("runs", ["-1", "21", "many", ""])
def test_an_invalid_number_of_runs_is_rejected(ask, runs):
    assert ask("GET", query={"runs": runs}).code == "invalid-request"


def test_coming_runs_of_all_jobs_cover_a_day(ask):
    page = ask("GET", "/coming").json
    assert (page["requested_at"], page["until"]) == ("2026-03-01T12:00:00Z", "2026-03-02T12:00:00Z")
    assert [item["name"] for item in page["items"]] == [item["name"] for item in ask("GET").json["items"]]
    assert of(page, "billing-nightly") == {
        "name": "billing-nightly",
        "title": "Nightly bills",
        "tenant_id": "system",
        "times": ["2026-03-02T01:30:00Z", "2026-03-02T06:00:00Z"],
        "count": 2,
        "more": False,
    }
    hourly = of(page, "billing-hourly")
    assert (hourly["count"], hourly["times"][-1]) == (24, "2026-03-02T12:00:00Z")
    assert of(page, "billing-rebuild")["times"] == []


def test_further_runs_are_counted_up_to_a_stated_limit(ask):
    query = {"until": "2026-03-08T12:00:00Z", "most": "2"}
    page = ask("GET", "/coming", query=query).json
    hourly, sweep = of(page, "billing-hourly"), of(page, "duetime-sweep")
    assert (len(hourly["times"]), hourly["count"], hourly["more"]) == (2, 168, False)
    assert (len(sweep["times"]), sweep["count"], sweep["more"]) == (2, 1_000, True)


def test_coming_runs_exclude_paused_ones(ask):
    ask("POST", "/billing-hourly/pause", body={"until": "2026-03-02T09:30:00Z"})
    ask("POST", "/billing-nightly/pause")
    page = ask("GET", "/coming").json
    assert [item[11:16] for item in of(page, "billing-hourly")["times"]] == ["10:00", "11:00", "12:00"]
    assert (of(page, "billing-nightly")["times"], of(page, "billing-nightly")["count"]) == ([], 0)


def test_coming_runs_come_in_pages(ask):
    seen, query = [], {"limit": "2"}
    while True:
        page = ask("GET", "/coming", query=query).json
        seen += [item["name"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == [item["name"] for item in ask("GET").json["items"]]


@pytest.mark.parametrize(
    "query",
    [
        {"until": "2026-03-08T12:00:01Z"},
        {"until": "2026-03-01T12:00:00Z"},
        {"until": "2026-02-01T12:00:00Z"},
        {"most": "0"},
        {"most": "201"},
        {"limit": "101"},
        {"from": "2026-03-01T12:00:00Z"},
    ],
)
def test_an_invalid_request_for_coming_runs_is_rejected(ask, query):
    assert ask("GET", "/coming", query=query).code == "invalid-request"


def test_a_cursor_of_another_list_is_rejected(ask):
    assert ask("GET", "/coming", query={"cursor": "made-up"}).code == "invalid-cursor"


def test_a_tenant_sees_only_its_own_jobs_and_none_from_code():
    deployment = Deployment(TurnedClock(NOW), roles={"clerks": "jobs:manage"})
    names = {}
    for tenant in ("acme", "globex"):
        claims = CLAIMS | {"custom:tenant_id": tenant, "cognito:groups": "clerks"}
        body = {"name": f"{tenant}-report", "type": "remark", "cadences": ["every 1h"], "payload": {}}
        assert deployment.ask("POST", "/jobs", claims=claims, body=body).status == 201
        deployment.ask("POST", f"/jobs/{tenant}-report/trigger", claims=claims, body=None)
        names[tenant] = claims
    for tenant, claims in names.items():
        for path, query in (("/jobs/coming", {}), ("/jobs", {"runs": "5"})):
            page = deployment.ask("GET", path, claims=claims, query=query).json
            assert [item["name"] for item in page["items"]] == [f"{tenant}-report"]
    runs = deployment.ask("GET", "/jobs", claims=names["acme"], query={"runs": "5"}).json["items"][0][
        "recent_runs"
    ]
    assert [run["trigger"] for run in runs] == ["manual"]


def test_a_removed_job_has_no_next_run():
    deployment = Deployment(TurnedClock(NOW), roles={"clerks": "jobs:manage"})
    body = {"name": "own-report", "type": "remark", "cadences": ["every 1h"], "payload": {}}
    assert deployment.ask("POST", "/jobs", "clerks", body=body).status == 201
    assert len(deployment.ask("GET", "/jobs/coming", "clerks").json["items"]) == 1
    assert deployment.ask("DELETE", "/jobs/own-report", "clerks", body=None).status == 204
    assert deployment.ask("GET", "/jobs/coming", "clerks").json["items"] == []
