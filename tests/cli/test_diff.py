"""``duetime app diff``: jobs and runs that a deploy would change, against an app, an API, and tzdata."""

import json
import shutil
import sys
from pathlib import Path
from zoneinfo import TZPATH

import pytest

from duetime.cli import main

OLD = """
from duetime import App, Calendar, cron, daily, interval

app = App(default_tz="Europe/Paris")

@app.job(cron("30 2 * * *"), name="db-backup")
def back_up() -> None: ...

@app.job(daily("09:00", days="mon-fri"), name="report-daily")
def report() -> None: ...

@app.job(interval(hours=6), name="cache-warm")
def warm() -> None: ...

@app.job(daily("10:00"), name="gone-job")
def gone() -> None: ...
"""
NEW = (
    OLD.replace("30 2 * * *", "30 3 * * *")
    .replace(', days="mon-fri")', ', calendar=Calendar(exclude=["2027-05-03"])), overlap="allow"')
    .replace("gone-job", "new-job")
)
WEEK = ("--from", "2027-04-26", "--for", "14d")


@pytest.fixture
def diff(tmp_path, monkeypatch, capsys):
    """Return a function that compares two apps, and returns the status, the output and the errors."""
    (tmp_path / "diff_old.py").write_text(OLD)
    (tmp_path / "diff_new.py").write_text(NEW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def compare(*words, app="diff_new:app"):
        status = main(["app", "diff", "--app", app, *words])
        return (status, *capsys.readouterr())

    yield compare
    for name in ("diff_old", "diff_new"):
        sys.modules.pop(name, None)


def test_it_counts_the_runs_that_are_gained_lost_and_moved(diff):
    status, output, _ = diff("--against", "diff_old:app", *WEEK, "--json")
    jobs = {job["name"]: job for job in json.loads(output)["jobs"]}
    assert status == 0
    assert {name: job["kind"] for name, job in jobs.items()} == {
        "db-backup": "changed",
        "gone-job": "removed",
        "new-job": "added",
        "report-daily": "changed",
    }
    backup, report = jobs["db-backup"], jobs["report-daily"]
    assert backup["moved"][0] == {"from": "2027-04-26T00:30:00Z", "to": "2027-04-26T01:30:00Z"}
    assert (len(backup["moved"]), backup["gained"], backup["lost"]) == (14, [], [])
    assert report["gained"] == [f"2027-05-{day:02}T07:00:00Z" for day in (1, 2, 8, 9)]
    assert report["lost"] == ["2027-05-03T07:00:00Z"]
    assert [change["field"] for change in report["changes"]] == ["cadences", "overlap"]
    assert (len(jobs["gone-job"]["lost"]), len(jobs["new-job"]["gained"])) == (14, 14)


def test_a_run_that_the_clocks_move_is_in_the_difference(diff):
    _, output, _ = diff("--against", "diff_old:app", "--from", "2027-03-28", "--for", "1d", "--json")
    moved = next(job for job in json.loads(output)["jobs"] if job["name"] == "db-backup")["moved"]
    assert moved == [{"from": "2027-03-28T01:00:00Z", "to": "2027-03-28T01:30:00Z"}]


def test_text_and_markdown_show_the_same(diff):
    _, text, _ = diff("--against", "diff_old:app", *WEEK)
    _, markdown, _ = diff("--against", "diff_old:app", *WEEK, "--as", "markdown")
    assert "~ db-backup: changed, 14 moved\n" in text
    assert "~ report-daily: changed, 4 gained, 1 lost\n" in text
    assert "moved: Mon 2027-04-26 02:30+0200 to 03:30+0200" in text
    assert "| `db-backup` | changed | 0 | 0 | 14 |" in markdown
    assert "| `report-daily` | changed | 4 | 1 | 0 |" in markdown
    assert "- overlap: `skip` → `allow`" in markdown


def test_an_app_does_not_differ_from_itself(diff):
    assert diff("--against", "diff_new:app", *WEEK)[1].endswith("no job differs\n")
    assert diff("--against", "diff_new:app", *WEEK, "--as", "markdown")[1].endswith("No job differs.\n")


def zones(folder, **replaced):
    """Return a folder of zones, some with the contents of others."""
    source = next(Path(path) for path in TZPATH if Path(path, "Europe/Paris").is_file())
    for name in ("Europe/Paris", "UTC", "Asia/Tokyo"):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / replaced.get(name.replace("/", "_"), name), target)
    return str(folder)


def test_two_releases_of_the_time_zone_database_are_compared(diff, tmp_path):
    old, new = zones(tmp_path / "old"), zones(tmp_path / "new", Europe_Paris="Asia/Tokyo")
    _, output, _ = diff("--tzdata", old, new, *WEEK, "--json")
    jobs = {job["name"]: job for job in json.loads(output)["jobs"]}
    assert {*jobs} == {"db-backup", "new-job", "report-daily"}
    assert "2027-04-26T01:30:00Z" in [pair["from"] for pair in jobs["db-backup"]["moved"]]
    assert diff("--tzdata", old, old, *WEEK)[1].endswith("no job differs\n")


def test_the_jobs_of_a_deployment_are_compared(diff, url, tmp_path):
    (tmp_path / "diff_shop.py").write_text(
        """
from duetime import App, Payload

app = App()

class Remark(Payload):
    text: str = ""

@app.job("daily 02:30 tz=Europe/Paris", name="billing-nightly", title="Nightly bills")
def bill() -> None: ...

@app.job("daily 04:00", name="billing-rebuild", description="rebuilds all bills", payload=Remark())
def rebuild(payload: Remark) -> None: ...
"""
    )
    _, output, errors = diff("--against", url, *WEEK, app="diff_shop:app")
    assert errors == ""
    assert (
        "~ billing-rebuild: changed, 14 gained\n    cadences: manual\n              daily 04:00\n" in output
    )
    assert "billing-nightly" not in output
    sys.modules.pop("diff_shop")


def test_the_jobs_of_other_workers_are_not_compared(diff, url, tmp_path):
    (tmp_path / "diff_other.py").write_text(
        """
from duetime import App

app = App(worker="reports")

@app.job("daily 02:00", name="report-daily")
def report() -> None: ...
"""
    )
    _, output, errors = diff("--against", url, *WEEK, app="diff_other:app")
    assert errors == ""
    assert output.count("\n+ ") == 1
    assert "\n- " not in output
    sys.modules.pop("diff_other")


def test_an_app_that_cannot_be_imported_is_named(diff):
    status, output, errors = diff("--against", "nowhere:app")
    assert (status, output) == (1, "")
    assert "nowhere" in errors


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--tzdata", ".", "."), "has no zones; name a directory such as /usr/share/zoneinfo"),
        (("--tzdata", ".", ".", "--against", "diff_old:app"), "leave --against out"),
        (("--against", "diff_old:app", "--for", "0d"), "--for takes a span above zero"),
    ],
)
def test_bad_usage_is_explained(diff, words, problem):
    status, output, errors = diff(*words)
    assert (status, output) == (2, "")
    assert problem in errors
