"""The pages on performance and on other schedulers show what the bench stored."""

import json

import pytest

from bench import page
from bench.__main__ import MEASUREMENTS
from bench.result import Result, at_most


@pytest.mark.parametrize("path", page.PAGES, ids=lambda path: path.name)
def test_each_block_is_what_was_measured_last(path):
    assert page.renewed(path.read_text()) == path.read_text(), "run `python -m bench --page`"


def test_every_measurement_has_a_block_on_a_page():
    assert sorted(page.shown()) == sorted(MEASUREMENTS.keys() - {"lazy", "stampede"})


def test_every_missed_budget_is_on_the_page():
    text = page.PAGES[0].read_text()
    missed = [line for stored in json.loads(page.MEASURED.read_text()).values() for line in stored["missed"]]
    assert all(f"\n{line}\n" in text for line in missed)


def test_a_block_shows_what_was_stored_and_the_budget_that_it_misses(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MEASURED", tmp_path / "measured.json")
    text = "```text\nmissed\n```\n```console\n$ python -m bench lives\nformer\n```\n"
    assert "not measured yet" in page.renewed(text)
    page.store([Result(bench="lives", name="a life", measured=6, unit="units", budget=at_most(5))])
    shown = page.renewed(text)
    assert "former" not in shown
    assert "missed\nlives: a life: 6 units; the budget is <= 5\n" in shown
    assert page.renewed(shown) == shown
