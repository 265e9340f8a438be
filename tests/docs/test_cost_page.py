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


@pytest.mark.parametrize(("path", "far_share"), [("near", 0), ("far", 1)])
def test_the_page_states_the_costs_of_both_paths(path, far_share):
    work = Workload(actions_per_day=10_000_000, far_share=far_share, handler_ms=0)
    stated = re.search(rf"the {path} path (?:costs )?([0-9.]+)", PAGE.read_text())
    assert float(stated[1]) == round(estimate(work, usual_prices()).per_million, 2)
