"""``duetime app simulate``: its output, and that it runs no job."""

import json
import sys

import pytest

from duetime.cli import main

APP = """
from duetime import App, Run, cron, daily, interval, on_event

app = App(default_tz="Europe/Paris")

@app.job(cron("30 2 * * *"), daily("03:00"), name="db-backup")
def back_up(run: Run) -> None:
    raise SystemExit("nothing is run")

@app.job(interval(hours=12), name="cache-warm")
def warm(run: Run) -> None: ...

@app.job(on_event("orders", "Placed"), name="orders-ship")
def ship(run: Run) -> None: ...
"""
EVERY_SECOND = """
@app.job(cron("* * * * * *"), name="tick-tock")
def tick(run: Run) -> None: ...
"""
SPAN = ("--from", "2027-03-27T00:00Z", "--until", "2027-03-29T00:00Z")


@pytest.fixture
def simulate(tmp_path, monkeypatch, capsys):
    """Return a function that writes a module, simulates its app, and returns the status and the output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def of(code, *options):
        (tmp_path / "simulated_app.py").write_text(code)
        sys.modules.pop("simulated_app", None)
        status = main(["app", "simulate", "--app", "simulated_app:app", *options])
        return status, *capsys.readouterr()

    yield of
    sys.modules.pop("simulated_app", None)


def test_each_job_and_each_clock_change_has_a_line(simulate):
    status, printed, errors = simulate(APP, *SPAN)

    moved = "moved: 02:30 did not exist, the clocks went forward to 03:00"
    assert (status, errors) == (0, "")
    assert printed.splitlines() == [
        "from 2027-03-27T00:00:00Z until 2027-03-29T00:00:00Z",
        "",
        "JOB          RUNS  FIRST                 LAST                  CLOCKS",
        "cache-warm   4     2027-03-27T12:00:00Z  2027-03-29T00:00:00Z  -",
        "db-backup    3     2027-03-27T01:30:00Z  2027-03-28T01:00:00Z  1",
        "orders-ship  0     -                     -                     -",
        "",
        "changes of the clocks:",
        f"2027-03-28T03:00:00+02:00  db-backup  {moved}",
    ]


def test_two_cadences_with_one_due_time_give_one_run(simulate):
    _, printed, _ = simulate(APP, *SPAN, "--runs")

    assert [line for line in printed.splitlines() if line.endswith("db-backup")] == [
        "2027-03-27T01:30:00Z  db-backup",
        "2027-03-27T02:00:00Z  db-backup",
        "2027-03-28T01:00:00Z  db-backup",
    ]


def test_json_has_the_same_jobs_and_with_runs_each_run(simulate):
    _, printed, _ = simulate(APP, *SPAN, "--json", "--runs")
    found = json.loads(printed)

    assert [(job["name"], job["runs"]) for job in found["jobs"]] == [
        ("cache-warm", 4),
        ("db-backup", 3),
        ("orders-ship", 0),
    ]
    assert [change["mark"] for change in found["jobs"][1]["changes"]] == ["moved"]
    assert len(found["runs"]) == 7
    assert found["most_at_once"] is None


def test_jobs_that_run_at_the_same_time_are_listed(simulate):
    both = APP + EVERY_SECOND
    _, printed, _ = simulate(both, "--from", "2027-03-27T11:59Z", "--until", "2027-03-28T12:00Z")

    assert "most at once: 2 jobs, first at 2027-03-27T23:59:00Z: cache-warm, tick-tock" in printed


def test_the_count_of_runs_stops_at_a_limit_and_shows_it(simulate):
    _, printed, _ = simulate(APP + EVERY_SECOND)

    assert "100,000 and more" in printed


def test_an_end_before_the_start_is_bad_usage(simulate):
    status, _, errors = simulate(APP, "--from", "2027-03-29", "--until", "2027-03-27")

    assert status == 2
    assert "is not after" in errors
