"""The counts of the project's size and structure, which only fall."""

import pytest

from tools import house

ROOMS = {"model": set(), "aws": {"model", "aws"}, "cli": {"aws", "model"}}
CIRCLES = {
    "a": {"b"},
    "b": {"c", "leaf"},
    "c": {"a"},
    "d": {"e"},
    "e": {"d", "a"},
    "top": {"a"},
    "leaf": set(),
}


def test_a_room_stands_one_floor_above_the_highest_that_it_imports():
    assert house.floors(ROOMS) == {"model": 1, "aws": 2, "cli": 3}


def test_a_circle_is_a_set_of_modules_that_import_each_other():
    assert house.circles(CIRCLES) == {frozenset("abc"), frozenset("de")}


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file of bounds, and what is counted."""
    path, counted = tmp_path / "house.toml", {"statements.aws": 100, "statements.all": 100}
    path.write_text("statements.aws = 100\nstatements.all = 100\n")
    monkeypatch.setattr(house, "counts", lambda: counted)
    return path, counted


def test_nothing_exceeds_its_number(file, capsys):
    path, counted = file
    counted["statements.all"] = 101
    before = path.read_text()
    assert house.main(path) == 1
    assert "statements.all is 101, at most 100" in capsys.readouterr().out
    assert path.read_text() == before


def test_a_number_falls_by_itself_and_a_new_room_gets_one(file):
    path, counted = file
    counted |= {"statements.aws": 90, "statements.sqlite": 5, "statements.all": 95}
    assert house.main(path) == 0
    assert house.numbers(path.read_text()) == counted


def test_a_room_that_is_gone_has_no_number(file):
    path, counted = file
    del counted["statements.aws"]
    assert house.main(path) == 0
    assert house.numbers(path.read_text()) == {"statements.all": 100}
