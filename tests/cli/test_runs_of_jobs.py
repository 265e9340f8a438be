"""The commands that show the runs and occurrences of a job, against a scheduler that really runs."""

import shlex

import pytest


@pytest.fixture
def failed(duetime):
    """A failed run of a job."""
    run = duetime.json("jobs", "trigger", "billing-rebuild", "--payload", "{}")
    while duetime.json("actions", "show", run["id"])["status"] != "failed":
        pass
    return run["id"]


def test_a_triggered_run_is_shown_with_its_job_and_trigger(duetime, failed):
    _, printed, _ = duetime("actions", "show", failed)
    assert "  job             billing-rebuild" in printed
    assert "  trigger         manual" in printed
    assert "  nominal time    2" in printed
    assert "  failed          Fatal: no bank" in printed
    assert "correlation id" not in printed


def test_the_printed_command_shows_the_triggered_run(duetime):
    status, printed, _ = duetime("jobs", "trigger", "billing-nightly")
    first, second = printed.splitlines()
    assert status == 0
    run = first.removeprefix("triggered billing-nightly: ")
    assert second == f"look at it: duetime actions show {run} --url {duetime.url}"
    assert duetime.json("actions", "show", run)["trigger"] == "manual"


def test_the_occurrences_of_a_job_are_shown_with_reasons(duetime):
    duetime("jobs", "skip-next", "billing-nightly")
    _, printed, _ = duetime("jobs", "show", "billing-nightly", "--from", "2020-01-01T00:00Z")
    head, line = printed.splitlines()[-2:]
    assert head.split() == ["NOMINAL", "TIME", "LOCAL", "ACCOUNT", "RUN", "WHY"]
    assert "02:30:00 Europe/Paris  skipped  billing-nightly.000001." in line
    assert line.endswith("requested: skipped by developer")
    _, printed, _ = duetime("jobs", "show", "billing-nightly", "--until", "2020-01-01T00:00Z")
    assert printed.splitlines()[-1] == "no occurrence in this window"


def test_occurrences_are_printed_as_json(duetime):
    job = duetime.json("jobs", "show", "billing-nightly", "--from", "2020-01-01")
    assert job["name"] == "billing-nightly"
    assert job["occurrences"]["items"]


def test_history_is_listed_with_statuses_and_reasons(duetime, failed):
    _, printed, _ = duetime("jobs", "history", "billing-rebuild", "--status", "failed")
    head, line = printed.splitlines()
    assert head.split() == ["NOMINAL", "TIME", "STATUS", "TRIGGER", "ATTEMPTS", "TOOK", "ID", "WHY"]
    assert failed in line
    assert line.endswith('Fatal: no bank; payload {"text": ""}')
    assert duetime("jobs", "history", "billing-rebuild", "--status", "executed") == (0, "no runs\n", "")


def test_history_leaves_out_planned_runs_unless_the_window_includes_them(duetime):
    assert duetime("jobs", "history", "billing-nightly") == (0, "no runs\n", "")
    planned = duetime.json("jobs", "history", "billing-nightly", "--until", "3d")["items"]
    assert planned
    assert duetime.json("jobs", "history", "billing-nightly", "--status", "pending")["items"] == planned


def test_a_window_may_be_given_as_spans_from_now(duetime, failed):
    found = duetime.json("jobs", "history", "billing-rebuild", "--from", "-1h")
    assert [run["id"] for run in found["items"]] == [failed]
    occurrences = duetime.json("jobs", "show", "billing-nightly", "--from", "-2d", "--until", "0s")[
        "occurrences"
    ]
    assert occurrences["next_from"] is None


def test_runs_of_one_status_are_found_behind_others(duetime, failed):
    duetime("jobs", "trigger", "billing-rebuild", "--payload", "{}")
    duetime("jobs", "trigger", "billing-rebuild", "--payload", "{}")
    found = duetime.json("jobs", "history", "billing-rebuild", "--status", "failed", "--limit", "1")
    assert len(found["items"]) == 1


def test_the_command_for_the_next_page_repeats_the_window(duetime, failed):
    window = ("--from", "2020-01-01T00:00Z", "--until", "2100-01-01T00:00Z")
    other = duetime.json("jobs", "trigger", "billing-rebuild", "--payload", "{}")["id"]
    _, printed, _ = duetime("jobs", "history", "billing-rebuild", *window, "--limit", "1")
    assert "--from 2020-01-01T00:00:00Z --until 2100-01-01T00:00:00Z" in printed
    assert {other in printed, failed in printed} == {True, False}
    before = duetime("jobs", "history", "billing-rebuild", "--until", "2020-01-01T00:00Z")
    assert before == (0, "no runs\n", "")


def test_the_next_page_of_a_history_is_a_command(duetime, failed):
    other = duetime.json("jobs", "trigger", "billing-rebuild", "--payload", "{}")["id"]
    _, printed, _ = duetime("jobs", "history", "billing-rebuild", "--limit", "1")
    *_, more = printed.splitlines()
    _, following, _ = duetime(*shlex.split(more.removeprefix("more: duetime ")))
    assert {failed in printed, failed in following} == {True, False}
    assert {other in printed, other in following} == {True, False}
