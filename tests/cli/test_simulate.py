"""``duetime simulate``: what it tells of an app's jobs, and that it runs none."""

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
    """Writes a module, and gives the status, what is printed, and what is told of failures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def of(code, *options):
        (tmp_path / "simulated_app.py").write_text(code)
        sys.modules.pop("simulated_app", None)
        status = main(["simulate", "--app", "simulated_app:app", *options])
        return status, *capsys.readouterr()

    yield of
    sys.modules.pop("simulated_app", None)


def test_each_job_has_a_line_and_each_change_of_the_clocks_too(simulate):
    status, printed, told = simulate(APP, *SPAN)

    moved = "moved: 02:30 did not exist, the clocks went forward to 03:00"
    assert (status, told) == (0, "")
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


def test_two_cadences_that_meet_are_one_run(simulate):
    _, printed, _ = simulate(APP, *SPAN, "--runs")

    assert [line for line in printed.splitlines() if line.endswith("db-backup")] == [
        "2027-03-27T01:30:00Z  db-backup",
        "2027-03-27T02:00:00Z  db-backup",
        "2027-03-28T01:00:00Z  db-backup",
    ]


def test_json_says_the_same_and_with_runs_each_of_them(simulate):
    _, printed, _ = simulate(APP, *SPAN, "--json", "--runs")
    found = json.loads(printed)

    assert [(each["name"], each["runs"]) for each in found["jobs"]] == [
        ("cache-warm", 4),
        ("db-backup", 3),
        ("orders-ship", 0),
    ]
    assert [each["mark"] for each in found["jobs"][1]["changes"]] == ["moved"]
    assert len(found["runs"]) == 7
    assert found["most_at_once"] is None


def test_jobs_that_meet_are_named(simulate):
    both = APP + EVERY_SECOND
    _, printed, _ = simulate(both, "--from", "2027-03-27T11:59Z", "--until", "2027-03-28T12:00Z")

    assert "most at once: 2 jobs, first at 2027-03-27T23:59:00Z: cache-warm, tick-tock" in printed


def test_what_is_too_much_to_count_is_cut_and_says_so(simulate):
    _, printed, _ = simulate(APP + EVERY_SECOND)

    assert "100,000 and more" in printed


def test_an_end_before_the_start_is_bad_usage(simulate):
    status, _, told = simulate(APP, "--from", "2027-03-29", "--until", "2027-03-27")

    assert status == 2
    assert "is not after" in told
