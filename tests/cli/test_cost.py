"""``duetime cost``: an estimate as a table and as JSON, and what it refuses."""

import json
import re
from importlib import resources

import pytest

from duetime.cli import main


@pytest.fixture
def cost(capsys):
    def call(*words):
        try:
            status = main(["cost", *words])
        except SystemExit as ended:
            status = ended.code
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


def cell(told, line, number):
    """A number of a line: 0 for the units, then what grows, what is fixed, and both."""
    [row] = [each for each in told.splitlines() if each.startswith(line)]
    return float(re.split(r"\s{2,}", row)[number + 1].replace(",", ""))


def test_it_needs_no_option(cost):
    status, told, errors = cost()
    assert (status, errors) == (0, "")
    assert "100,000 actions and 120 runs of jobs a day" in told
    assert "Prices: prices.toml, us-east-1, as of 20" in told
    assert "per million actions and runs" in told


def test_what_grows_and_what_is_fixed_are_told_beside_each_other(cost):
    _, told, _ = cost("--actions-per-day", "10_000_000")
    assert cell(told, "tables: writes", 1) > 900
    assert cell(told, "tables: writes", 2) < 1


def test_the_alternatives_are_told_with_what_they_lack(cost):
    _, told, _ = cost()
    _, _, below = told.partition("instead")
    assert [re.split(r"\s{2,}", row)[0] for row in below.splitlines()[1:]] == [
        "EventBridge Scheduler, bare",
        "Step Functions, a wait each",
        "SQS hops and a table",
    ]


def test_lines_that_cost_nothing_are_left_out_of_the_table(cost):
    _, told, _ = cost("--mails-per-day", "0")
    assert "mails" not in told
    _, told, _ = cost("--mails-per-day", "1e3")
    assert cell(told, "mails", 1) == 3


def test_json_has_every_line_and_its_source(cost):
    status, told, _ = cost("--json", "--far-share", "0.5", "--events", "all")
    made = json.loads(told)
    assert status == 0
    assert made["workload"]["far_share"] == 0.5
    assert made["workload"]["events"] == "all"
    assert sum(each["dollars"] for each in made["lines"]) == pytest.approx(made["dollars"])
    assert made["growing_dollars"] + made["fixed_dollars"] == pytest.approx(made["dollars"])
    assert {"name", "quantity", "unit", "dollars", "note", "price"} <= set(made["lines"][0])
    assert len(made["alternatives"]) == 3


def test_without_any_work_there_is_nothing_per_million(cost):
    _, told, _ = cost("--actions-per-day", "0", "--jobs", "0")
    assert "per million" not in told
    _, told, _ = cost("--actions-per-day", "0", "--jobs", "0", "--json")
    assert json.loads(told)["per_million"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--far-share", "2"], "--far-share is 2; allowed is a number from 0 to 1"),
        (["--actions-per-day", "-1"], "--actions-per-day is -1; allowed is a number from 0 to"),
        (["--jobs", "nan"], "--jobs is nan"),
        (["--jobs", "many"], "--jobs: invalid"),
        (["--events", "some"], "--events: invalid choice"),
        (["--prices", "/nowhere.toml"], "price list /nowhere.toml: No such file or directory"),
        (["--actions"], "--actions"),
    ],
)
def test_bad_usage_is_told_in_one_line(cost, words, told):
    status, printed, errors = cost(*words)
    assert (status, printed) == (2, "")
    assert told in errors
    assert errors.count("\n") == 1


def test_a_price_list_of_ones_own_is_named(cost, tmp_path):
    text = resources.files("duetime.cost").joinpath("prices.toml").read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace("dollars = 3.00", "dollars = 4.00"))
    status, told, _ = cost("--prices", str(mine))
    assert status == 0
    assert f"Prices: {mine}" in told
    assert cell(told, "dashboards", 3) == 4
