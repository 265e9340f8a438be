"""``duetime access audit runs``: the last recount of all nominal times."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime.model.recount import BEGUN, BOOKMARK, REPORT, Finding, RecountProblem, RecountReport

NIGHT = datetime(2026, 3, 1, 1, tzinfo=UTC)
CLEAN = RecountReport(
    began_at=NIGHT,
    ended_at=NIGHT + timedelta(seconds=4),
    since=NIGHT - timedelta(days=2),
    until=NIGHT - timedelta(hours=1),
    jobs=3,
    left_out=1,
    times={"executed": 40, "missed": 2},
)
FOUND = replace(
    CLEAN.plus(
        [
            Finding(problem=RecountProblem.NO_ROW, tenant_id="acme", job="books-close", version=2, at=NIGHT),
            Finding(problem=RecountProblem.NO_END, tenant_id="acme", at=NIGHT, action_id="0199"),
        ],
        {},
    ),
    found=7,
)


@pytest.fixture
def store(bookmarks):
    def store(**marks):
        bookmarks.write(BOOKMARK, {name: report.to_json() for name, report in marks.items()})

    return store


def test_before_the_first_recount_it_prints_how_to_run_one(duetime):
    status, printed, _ = duetime("access", "audit", "runs")
    assert (status, printed) == (
        0,
        "no recount has ended yet; `duetime jobs trigger duetime-recount` runs one now\n",
    )


def test_a_clean_recount_prints_its_counts(duetime, store):
    store(**{REPORT: CLEAN})
    status, printed, notes = duetime("access", "audit", "runs")
    assert (status, notes) == (0, "")
    lines = printed.splitlines()
    assert lines[0].endswith("nominal times from 2026-02-27T01:00:00Z to 2026-03-01T00:00:00Z")
    assert lines[1:] == [
        "3 jobs, 1 of paused tenants left out",
        "nominal times: 40 executed, 2 missed",
        "one-shots (a sample): none",
        "nothing found",
    ]


def test_findings_are_listed_with_their_meaning_and_the_status_1(duetime, store):
    store(**{REPORT: FOUND})
    status, printed, _ = duetime("access", "audit", "runs")
    assert status == 1
    assert "7 findings, 5 of them not listed" in printed
    row, one_shot = printed.splitlines()[-2:]
    assert row.split()[:3] == ["no_row", "books-close", "acme"]
    assert row.endswith("it has neither a row nor a reason")
    assert one_shot.split()[:3] == ["no_end", "0199", "acme"]


def test_a_job_that_could_not_be_read_is_named_with_the_status_1(duetime, store):
    store(**{REPORT: replace(CLEAN, unread=("acme/books-close",))})
    status, printed, _ = duetime("access", "audit", "runs")
    assert status == 1
    assert "not read: acme/books-close" in printed


def test_the_json_is_the_apis_with_a_recount_that_goes_on(duetime, store):
    store(**{REPORT: FOUND, BEGUN: replace(CLEAN, began_at=NIGHT + timedelta(days=1))})
    status, printed, _ = duetime("access", "audit", "runs", "--json")
    state = json.loads(printed)
    assert status == 1
    assert state["begun_at"] == "2026-03-02T01:00:00Z"
    assert state["last"]["times"]["executed"] == 40
    assert [found["problem"] for found in state["last"]["findings"]] == ["no_row", "no_end"]


@pytest.mark.parametrize("options", [["--job", "books-close"], ["--action", "0199"], ["--system"]])
def test_options_of_the_trail_are_bad_usage(duetime, options):
    status, _, errors = duetime("access", "audit", "runs", *options)
    assert status == 2
    assert f"omit {options[0]}" in errors
