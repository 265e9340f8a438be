"""Definitions of jobs over HTTP: their list, their differences, and roll-backs."""

from datetime import timedelta

import pytest

from tests.api.test_job_registration import ADA, REPORT
from tests.api.test_job_registration import tenant as tenant  # noqa: PLC0414 - a fixture

WEEKLY, DAILY = REPORT["cadences"], ["daily 06:00 tz=Europe/Paris"]
FIELDS = {name: value for name, value in REPORT.items() if name != "name"}


@pytest.fixture
def edited(tenant, clock):
    """Register a job, edit its title, and replace its cadence, an hour apart."""
    tenant("POST", body=REPORT)
    for changes in ({"title": "Report"}, {"title": "Report", "cadences": DAILY}):
        clock.wait_until(clock.now() + timedelta(hours=1))
        assert tenant("PUT", "/acme-report", body=FIELDS | changes).status == 200
    return tenant


def test_each_definition_has_its_author_its_time_and_its_changes(edited):
    found = edited("GET", "/acme-report/definitions").json["items"]
    assert [(stored["id"], stored["version"], stored["since"], stored["until"]) for stored in found] == [
        ("2", 2, "2026-03-01T14:00:00Z", None),
        ("1", 1, "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z"),
        ("1.1", 1, "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z"),
    ]
    assert {stored["by"] for stored in found} == {"ada@acme.example"}
    assert [stored["changes"] for stored in found] == [
        [{"field": "cadences", "before": WEEKLY, "after": DAILY}],
        [{"field": "title", "before": "", "after": "Report"}],
        [],
    ]
    assert found[0]["definition"]["payload"]["text"] == "weekly"


def test_a_definition_is_compared_with_another_one(edited):
    shown = edited("GET", "/acme-report/definitions/2", query={"against": "1.1"}).json
    assert [change["field"] for change in shown["changes"]] == ["cadences", "title"]
    assert edited("GET", "/acme-report/definitions/1.1").json["changes"] == []
    missing = edited("GET", "/acme-report/definitions/2", query={"against": "9"})
    assert (missing.status, missing.code) == (404, "definition-not-found")


def test_a_job_is_rolled_back_in_a_new_version(edited):
    rolled = edited("POST", "/acme-report/roll-back", body={"definition": "1.1"})
    assert rolled.status == 200
    assert (rolled.json["version"], rolled.json["title"]) == (3, "")
    assert [cadence["text"] for cadence in rolled.json["cadences"]] == WEEKLY
    assert rolled.json["next_due_at"] == "2026-03-02T05:00:00Z"
    ids = [stored["id"] for stored in edited("GET", "/acme-report/definitions").json["items"]]
    assert ids == ["3", "2", "1", "1.1"]


def test_a_roll_back_of_an_edit_leaves_the_plan_alone(tenant):
    tenant("POST", body=REPORT)
    tenant("PUT", "/acme-report", body=FIELDS | {"overlap": "queue_one"})
    rolled = tenant("POST", "/acme-report/roll-back", body={"definition": "1.1"}).json
    assert (rolled["version"], rolled["overlap"]) == (1, "skip")


def test_a_roll_back_to_what_is_in_force_is_rejected(edited):
    response = edited("POST", "/acme-report/roll-back", body={"definition": "2"})
    assert (response.status, response.code) == (409, "job-conflict")
    assert "choose another" in response.json["detail"]


def test_a_roll_back_to_an_unknown_definition_is_rejected(edited):
    response = edited("POST", "/acme-report/roll-back", body={"definition": "7"})
    assert (response.status, response.code) == (404, "definition-not-found")
    assert "duetime jobs versions acme-report" in response.json["detail"]


def test_a_roll_back_is_refused_if_the_job_has_changed_since_it_was_read(edited):
    seen = edited("GET", "/acme-report").headers["ETag"]
    edited("PUT", "/acme-report", body=FIELDS | {"title": "Newer"})
    late = edited("POST", "/acme-report/roll-back", body={"definition": "1"}, headers={"If-Match": seen})
    assert (late.status, late.code) == (412, "precondition-failed")
    assert edited("GET", "/acme-report").json["title"] == "Newer"


def test_a_job_of_code_is_rolled_back_by_a_deploy(ask):
    response = ask("POST", "/billing-hourly/roll-back", body={"definition": "1"})
    assert (response.status, response.code) == (409, "job-conflict")
    assert "deploy the former code" in response.json["detail"]
    assert [stored["id"] for stored in ask("GET", "/billing-hourly/definitions").json["items"]] == ["1"]


def test_definitions_are_their_tenants_own(edited):
    theirs = {**ADA, "custom:tenant_id": "globex"}
    for method, path, body in (
        ("GET", "definitions", None),
        ("GET", "definitions/1", None),
        ("POST", "roll-back", {"definition": "1"}),
    ):
        response = edited(method, f"/acme-report/{path}", body=body, claims=theirs)
        assert (response.status, response.code) == (404, "job-not-found")
