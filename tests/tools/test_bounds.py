"""Bounds only fall, unless a commit states why one grows."""

import subprocess

import pytest

from tools.bounds import FILES, numbers, problems_of
from tools.commands import ROOT

NAME = "bounds.toml"


class History:
    """A repository with one file of bounds."""

    def __init__(self, root):
        self.root = root
        self.git("init", "--quiet")

    def git(self, *words):
        author = ("-c", "user.name=Ada", "-c", "user.email=ada@acme.example")
        subprocess.run(["git", *author, *words], cwd=self.root, check=True)  # noqa: S603, S607 - any git

    def write(self, **bounds):
        text = "".join(f"{name} = {number}\n" for name, number in bounds.items())
        (self.root / NAME).write_text(f"# At most.\n{text}")

    def commit(self, message, **bounds):
        self.write(**bounds)
        self.git("add", NAME)
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def problems(self):
        return [problem.partition(" ")[2] for problem in problems_of(NAME, self.root)]


@pytest.fixture
def history(tmp_path):
    made = History(tmp_path)
    made.commit("Begin", most=100)
    return made


def test_a_bound_may_begin_and_fall(history):
    history.commit("Cheaper", most=90)
    history.commit("A second bound", most=90, files=10)
    assert history.problems() == []


@pytest.mark.parametrize("message", ["Dearer", "Dearer\n\nGrows: the suite", "Dearer: Grows: x because y"])
def test_a_commit_that_raises_a_bound_needs_a_reason(history, message):
    history.commit(message, most=101)
    assert history.problems() == [
        "raises most in bounds.toml; its message needs `Grows: <what> because <reason>`"
    ]


def test_a_reason_lets_a_bound_grow(history):
    history.commit("Dearer\n\nGrows: the suite because it has a new engine", most=101)
    assert history.problems() == []


def test_a_bound_that_is_removed_has_grown(history):
    history.commit("Without a bound")
    assert len(history.problems()) == 1


def test_the_bounds_of_a_room_may_go_with_it_and_those_of_the_whole_may_not(history):
    history.commit(
        "Two rooms", **{"files.aws": 3, "files.sqlite": 2, "files.all": 5, "most": 100, "console.lines": 9}
    )
    history.commit("One room", **{"files.aws": 3, "files.all": 3, "most": 100, "console.lines": 9})
    assert history.problems() == []
    history.commit("No room", most=100)
    assert history.problems() == [
        f"raises {name} in bounds.toml; its message needs `Grows: <what> because <reason>`"
        for name in ("files.all", "console.lines")
    ]


def test_the_work_tree_may_not_raise_one(history):
    history.write(most=200)
    assert history.problems() == [
        "in bounds.toml grows; commit it with a line `Grows: <what> because <reason>`"
    ]


def test_a_later_commit_does_not_excuse_an_earlier_one(history):
    history.commit("Dearer", most=101)
    history.commit("Cheaper again", most=50)
    assert len(history.problems()) == 1


def test_each_file_of_the_project_has_bounds():
    assert all(numbers((ROOT / name).read_text()) for name in FILES)
