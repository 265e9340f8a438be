"""``duetime cost``: an estimate as a table and as JSON, and bad usage."""

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
    _, printed, _ = cost("--actions-per-day", "10_000_000")
    assert cell(printed, "tables: writes", 1) > 900
    assert cell(printed, "tables: writes", 2) < 1


def test_the_alternatives_are_listed(cost):
    _, printed, _ = cost()
    _, _, below = printed.partition("instead")
    assert [re.split(r"\s{2,}", row)[0] for row in below.splitlines()[1:]] == [
        "EventBridge Scheduler, bare",
        "Step Functions, a wait each",
        "Lambda durable functions",
        "SQS hops and a table",
        "duetime, fair queues",
        "duetime, provisioned capacity",
    ]


def test_lines_without_cost_are_left_out_of_the_table(cost):
    _, printed, _ = cost("--mails-per-day", "0")
    assert "mails" not in printed
    _, printed, _ = cost("--mails-per-day", "1e3")
    assert cell(printed, "mails", 1) == 3


def test_json_has_every_line_and_its_source(cost):
    status, printed, _ = cost("--json", "--far-share", "0.5", "--events", "all")
    made = json.loads(printed)
    assert status == 0
    assert made["workload"]["far_share"] == 0.5
    assert made["workload"]["events"] == "all"
    assert sum(row["dollars"] for row in made["lines"]) == pytest.approx(made["dollars"])
    assert made["growing_dollars"] + made["fixed_dollars"] == pytest.approx(made["dollars"])
    assert {"name", "quantity", "unit", "dollars", "note", "price"} <= set(made["lines"][0])
    assert len(made["alternatives"]) == 6


def test_an_idle_workload_has_no_price_per_million(cost):
    _, printed, _ = cost("--actions-per-day", "0", "--jobs", "0")
    assert "per million" not in printed
    _, printed, _ = cost("--actions-per-day", "0", "--jobs", "0", "--json")
    assert json.loads(printed)["per_million"] is None


@pytest.mark.parametrize(
    ("words", "expected"),
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
    assert cell(printed, "metrics", 3) == 4
