"""``duetime app cost``: an estimate as a table and as JSON, and bad usage."""

import json
import re
import sys
from importlib import resources

import pytest

from duetime.cli import main


@pytest.fixture
def cost(capsys):
    def call(*words):
        try:
            status = main(["app", "cost", *words])
        except SystemExit as ended:
            status = ended.code
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


def cell(printed, line, number):
    """Return a number of a row: 0 the units, 1 the growing cost, 2 the fixed cost, 3 the sum."""
    [row] = [row for row in printed.splitlines() if row.startswith(line)]
    return float(re.split(r"\s{2,}", row)[number + 1].replace(",", ""))


def test_an_estimate_needs_no_option(cost):
    status, printed, errors = cost()
    assert (status, errors) == (0, "")
    assert "100,000 actions and 120 runs of jobs a day" in printed
    assert "Prices: prices.toml, us-east-1, as of 20" in printed
    assert "per million actions and runs" in printed


def test_growing_and_fixed_costs_are_separate_columns(cost):
    _, printed, _ = cost("actions_per_day=10_000_000")
    assert cell(printed, "tables: writes", 1) > 900
    assert cell(printed, "tables: writes", 2) < 1


def test_the_alternatives_are_listed(cost):
    _, printed, _ = cost()
    _, _, below = printed.partition("instead")
    assert [re.split(r"\s{2,}", row)[0] for row in below.splitlines()[1:]] == [
        "EventBridge Scheduler, bare",
        "QStash, pay as you go",
        "Step Functions, a wait each",
        "Lambda durable functions",
        "SQS hops and a table",
        "duetime, provisioned capacity",
    ]


def test_lines_without_cost_are_left_out_of_the_table(cost):
    _, printed, _ = cost("mails_per_day=0")
    assert "mails" not in printed
    _, printed, _ = cost("mails_per_day=1e3")
    assert cell(printed, "mails", 1) == 3


def test_json_has_every_line_and_its_source(cost):
    status, printed, _ = cost("--json", "far_share=0.5", "events=all")
    made = json.loads(printed)
    assert status == 0
    assert made["workload"]["far_share"] == 0.5
    assert made["workload"]["events"] == "all"
    assert sum(row["dollars"] for row in made["lines"]) == pytest.approx(made["dollars"])
    assert made["growing_dollars"] + made["fixed_dollars"] == pytest.approx(made["dollars"])
    assert {"name", "quantity", "unit", "dollars", "note", "price"} <= set(made["lines"][0])
    assert len(made["alternatives"]) == 6


def test_an_idle_workload_has_no_price_per_million(cost):
    _, printed, _ = cost("actions_per_day=0", "jobs=0")
    assert "per million" not in printed
    _, printed, _ = cost("actions_per_day=0", "jobs=0", "--json")
    assert json.loads(printed)["per_million"] is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["far_share=2"], "far_share is 2; allowed is a number from 0 to 1"),
        (["actions_per_day=-1"], "actions_per_day is -1; allowed is a number from 0 to"),
        (["jobs=nan"], "jobs is nan"),
        (["jobs=many"], "jobs is 'many'; use a number"),
        (["events=some"], "events is 'some'; allowed is standard, all, off"),
        (["--prices", "/nowhere.toml"], "price list /nowhere.toml: No such file or directory"),
        (["actions=1"], "'actions' is no value of a workload; did you mean 'actions_per_day'?"),
    ],
)
def test_bad_usage_is_printed_on_one_line(cost, words, expected):
    status, printed, errors = cost(*words)
    assert (status, printed) == (2, "")
    assert expected in errors
    assert errors.count("\n") == 1


def test_a_custom_price_list_is_used_and_named(cost, tmp_path):
    text = resources.files("duetime.cost").joinpath("prices.toml").read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace("dollars = 0.30\nper = 1\n", "dollars = 0.40\nper = 1\n"))
    status, printed, _ = cost("--prices", str(mine))
    assert status == 0
    assert f"Prices: {mine}" in printed
    assert cell(printed, "metrics", 3) == 1.6


APP = """
from duetime import App, Run, cron, daily, on_event

app = App(default_tz="UTC")

@app.job(cron("30 2 * * *"), daily("03:00"), name="db-backup")
def back_up(run: Run) -> None: ...

@app.job(cron("* * * * * *"), name="tick-tock")
def tick(run: Run) -> None: ...

@app.job(on_event("orders", "Placed"), name="orders-ship")
def ship(run: Run) -> None: ...
"""


@pytest.fixture
def app(tmp_path, monkeypatch):
    """An app with a job of two cadences, one of every second, and one that only events start."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "costed_app.py").write_text(APP)
    yield "costed_app:app"
    sys.modules.pop("costed_app", None)


def test_the_jobs_of_an_app_are_read_from_their_cadences(cost, app):
    status, printed, errors = cost("--app", app)
    assert (status, errors) == (0, "")
    assert "100,000 actions and 86,402 runs of jobs a day" in printed
    jobs = printed.split("\n\n")[1].splitlines()
    assert jobs[0].split() == ["job", "runs", "a", "day"]
    assert [row.split()[:2] for row in jobs[1:]] == [
        ["db-backup", "2"],
        ["orders-ship", "0"],
        ["tick-tock", "86,400"],
    ]
    assert "runs that events start are not counted" in jobs[2]


def test_the_runs_of_an_apps_jobs_are_in_the_json_and_in_the_price(cost, app):
    made = json.loads(cost("--app", app, "--json")[1])
    assert made["runs_per_day"] == {"db-backup": 2, "orders-ship": 0, "tick-tock": 86_400}
    assert made["workload"]["jobs"] == 3
    same = json.loads(cost("jobs=3", f"runs_per_day={86_402 / 3}", "--json")[1])
    assert made["dollars"] == pytest.approx(same["dollars"])
    assert "runs_per_day" not in same


@pytest.mark.parametrize("option", ["jobs=0", "runs_per_day=0"])
def test_an_app_and_a_number_of_jobs_contradict_each_other(cost, app, option):
    status, _, errors = cost("--app", app, option)
    assert (status, errors) == (
        2,
        "duetime: --app reads the jobs; leave out jobs and runs_per_day, or --app\n",
    )
