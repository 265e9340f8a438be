"""The page on cost shows what the command prints."""

import re

import pytest

from duetime.cost.estimate import estimate
from duetime.cost.prices import usual_prices
from duetime.cost.workload import Workload
from tests.docs.cost_page import PAGE, made


def test_the_tables_equal_the_commands_output():
    text = PAGE.read_text()
    assert text == made(text), "python -m tests.docs.cost_page"


def test_the_page_shows_three_sizes_of_deployment():
    text = PAGE.read_text()
    for actions in ("1,000", "100,000", "10,000,000"):
        assert f"\n{actions} actions and 120 runs of jobs a day" in text


def test_the_page_states_whether_each_goal_is_met():
    page = PAGE.read_text()
    goals = re.findall(r"^\| .*: `--.*` \| ([\d.]+) \| ([\d.]+)(, missed)? \|$", page, re.MULTILINE)
    assert [float(goal) for goal, _, _ in goals] == [5.0, 6.5, 3.5, 5.0, 3.0, 3.0]
    assert all(bool(missed) is (float(dollars) > float(goal)) for goal, dollars, missed in goals)


@pytest.mark.parametrize(("row", "far_share"), [("near", 0), ("far", 1)])
def test_the_goals_are_of_both_paths(row, far_share):
    work = Workload(actions_per_day=10_000_000, far_share=far_share, handler_ms=0)
    stated = re.search(rf"^\| .*\b{row}: .* ([0-9.]+)(?:, missed)? \|$", PAGE.read_text(), re.MULTILINE)
    assert float(stated[1]) == round(estimate(work, usual_prices()).per_million, 2)
