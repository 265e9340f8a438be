"""Drafts of jobs over HTTP: what a registration would do, without doing it."""

import pytest

from tests.api.test_job_registration import REPORT
from tests.api.test_job_registration import tenant as tenant  # noqa: PLC0414 - a fixture

FIELDS = {name: value for name, value in REPORT.items() if name != "name"}


def test_a_draft_of_a_new_job_shows_its_runs_and_its_price_and_registers_nothing(tenant):
    shown = tenant("POST", "/draft", body=REPORT)
    draft = shown.json
    assert shown.status == 200
    assert (draft["problems"], draft["is_new"], draft["version"], draft["changes"]) == ([], True, 1, [])
    (cadence,) = draft["cadences"]
    assert cadence["words"] == "every week on Monday at 06:00, Europe/Paris time"
    assert cadence["next_runs"][0]["at"] == "2026-03-02T05:00:00Z"
    assert draft["runs_per_day"] == pytest.approx(1 / 7, rel=0.02)
    assert 0 < draft["dollars_per_month"] < 0.01
    assert tenant("GET", "/acme-report").status == 404


def test_a_draft_shows_what_changes_of_the_clocks_do(tenant):
    draft = tenant("POST", "/draft", body=REPORT | {"cadences": ["daily 02:30 tz=Europe/Paris"]}).json
    (cadence,) = draft["cadences"]
    assert [change["mark"] for change in cadence["changes"]][:2] == ["moved", "once"]
    assert all(change["note"] for change in cadence["changes"])


def test_a_draft_shows_a_note_on_a_classic_mistake(tenant):
    draft = tenant("POST", "/draft", body=REPORT | {"cadences": ["* 2 * * *"]}).json
    assert "0 2 * * *" in " ".join(draft["cadences"][0]["notes"])


def test_a_draft_shows_the_other_jobs_of_its_minutes(tenant):
    tenant("POST", body=REPORT)
    body = REPORT | {"name": "acme-other", "cadences": ["daily 05:00:30 tz=UTC"]}
    draft = tenant("POST", "/draft", body=body).json
    assert draft["load"][0] == {"at": "2026-03-02T05:00:00Z", "runs": 1, "jobs": ["acme-report"]}
    assert (draft["load_jobs"], draft["load_is_complete"]) == (1, True)
    moved = tenant("POST", "/draft", body=body | {"cadences": ["daily 05:01 tz=UTC"]}).json
    assert moved["load"] == []


def test_a_job_is_no_load_beside_its_own_draft(tenant):
    tenant("POST", body=REPORT)
    assert tenant("POST", "/draft", body=REPORT | {"replace": True}).json["load"] == []


@pytest.mark.parametrize(
    ("changes", "version", "changes_plan", "field"),
    [
        ({"title": "Report"}, 1, False, "title"),
        ({"cadences": ["every 1h"]}, 2, True, "cadences"),
        ({"payload": {"text": "daily"}}, 2, True, "payload"),
    ],
)
def test_a_draft_shows_what_differs_from_the_job(tenant, changes, version, changes_plan, field):
    tenant("POST", body=REPORT)
    draft = tenant("POST", "/draft", body=REPORT | changes | {"replace": True}).json
    assert (draft["version"], draft["changes_plan"]) == (version, changes_plan)
    assert [change["field"] for change in draft["changes"]] == [field]
    replaced = tenant("PUT", "/acme-report", body=FIELDS | changes).json
    assert replaced["version"] == version


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"type": "no-such"}, "no handler is registered for the type 'no-such'"),
        ({"name": "report"}, "kebab-case"),
        ({"payload": {"number": "many"}}, "number"),
        ({"deadline": "8 am"}, 'use a wall time such as "06:00"'),
        ({"name": "billing-hourly"}, "a job that code declares"),
    ],
)
def test_a_draft_lists_why_it_would_be_rejected(tenant, changes, problem):
    draft = tenant("POST", "/draft", body=REPORT | changes)
    assert draft.status == 200
    assert problem in "; ".join(draft.json["problems"])
    assert draft.json["cadences"][0]["next_runs"]


def test_a_draft_under_a_taken_name_is_rejected_unless_it_replaces(tenant):
    tenant("POST", body=REPORT)
    assert "set replace" in tenant("POST", "/draft", body=REPORT).json["problems"][0]
    assert tenant("POST", "/draft", body=REPORT | {"replace": True}).json["problems"] == []


def test_a_cadence_that_cannot_be_read_has_its_place(tenant):
    response = tenant("POST", "/draft", body=REPORT | {"cadences": ["dayly 06:00"]})
    assert response.status == 400
    assert response.json["start"] == 0


def test_a_draft_that_callers_alone_start_has_no_price(tenant):
    draft = tenant("POST", "/draft", body=REPORT | {"cadences": []}).json
    assert (draft["runs_per_day"], draft["dollars_per_month"], draft["load"]) == (None, None, [])
