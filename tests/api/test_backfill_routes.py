"""Backfills over HTTP: preview, begin, progress, pause, resume and cancel, with permissions and the trail."""

from datetime import timedelta

import pytest

from duetime import instant
from tests.api.conftest import NOW

HOURLY = "/billing-hourly/backfills"
HOUR = timedelta(hours=1)
READER = {"custom:tenant_id": "acme", "cognito:groups": "viewers"}


def text(at):
    return instant.text(at)


@pytest.fixture
def span():
    return {"from": text(NOW - 6 * HOUR), "until": text(NOW - HOUR)}


def test_a_preview_names_the_times_and_begins_nothing(ask, span):
    shown = ask("GET", f"{HOURLY}/preview", query=span)
    assert shown.status == 200
    assert (shown.json["total"], len(shown.json["items"]), shown.json["left_out"]) == (5, 5, [])
    assert ask("GET", HOURLY).json == {"items": []}


def test_a_backfill_is_begun_shown_paused_resumed_and_cancelled(ask, span):
    begun = ask("POST", HOURLY, body={**span, "at_once": 2, "order": "newest"})
    assert (begun.status, begun.json["state"], begun.json["total"]) == (201, "running", 5)
    assert (begun.json["at_once"], begun.json["order"], len(begun.json["open"])) == (2, "newest", 2)
    assert begun.headers["Location"].endswith(f"{HOURLY}/{begun.json['id']}")
    one = f"{HOURLY}/{begun.json['id']}"
    assert ask("GET", one).json == begun.json
    assert ask("GET", HOURLY).json["items"] == [begun.json]
    paused = ask("PATCH", one, body={"state": "paused"}).json
    assert (paused["state"], paused["remaining"]) == ("paused", 3)
    assert ask("PATCH", one, body={"state": "running"}).json["state"] == "running"
    assert ask("PATCH", one, body={"state": "completed"}).status == 422
    assert ask("PATCH", one, body={"state": "cancelled"}).json["state"] == "cancelled"
    cancelled = ask("GET", one).json
    assert (cancelled["cancelled"], cancelled["open"]) == (2, [])
    again = ask("PATCH", one, body={"state": "running"})
    assert (again.status, again.code) == (409, "backfill-conflict")


def test_the_same_request_again_returns_the_same_backfill(ask, span):
    first = ask("POST", HOURLY, body=span).json["id"]
    assert ask("POST", HOURLY, body=span).json["id"] == first


def test_its_runs_are_in_the_history(ask, span):
    ask("POST", HOURLY, body=span)
    runs = ask("GET", "/billing-hourly/runs", query={"limit": "50"}).json["items"]
    assert sum(run["trigger"] == "backfill" for run in runs) == 4


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"from": text(NOW)}, "invalid-argument", "from"),
        ({"until": text(NOW + HOUR)}, "invalid-argument", "until"),
        ({"from": text(NOW - 20_000 * HOUR)}, "invalid-argument", "from"),
        ({"from": "yesterday"}, "invalid-argument", "from"),
        ({"at_once": 0}, "invalid-request", "at_once"),
        ({"at_once": 101}, "invalid-request", "at_once"),
        ({"order": "first"}, "invalid-request", "order"),
        ({"again": "yes"}, "invalid-request", "again"),
    ],
)
def test_a_wrong_request_is_rejected_with_its_field(ask, span, change, code, field):
    refused = ask("POST", HOURLY, body=span | change)
    assert (refused.status, refused.code) == (422, code), refused.text
    assert [flaw["where"] for flaw in refused.json["errors"]] == [field]
    assert ask("GET", HOURLY).json == {"items": []}


def test_a_job_without_times_and_an_overlap_are_conflicts(ask, span):
    refused = ask("POST", "/billing-rebuild/backfills", body=span)
    assert (refused.status, refused.code) == (409, "job-conflict")
    ask("POST", HOURLY, body=span)
    overlap = ask("POST", HOURLY, body={**span, "from": text(NOW - 8 * HOUR)})
    assert (overlap.status, overlap.code) == (409, "backfill-conflict")
    assert ask("GET", f"{HOURLY}/0badcafe").code == "backfill-not-found"
    assert ask("GET", f"{HOURLY}/../x").status == 404
