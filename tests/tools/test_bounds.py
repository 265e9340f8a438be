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

    def add(self, *names):
        for name in names:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()
        self.git("add", *names)

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
    assert history.problems() == []


@pytest.mark.parametrize(
    "message",
    [
        "Dearer",
        "Dearer\n\nGrows: the suite",
        "Dearer: Grows: most because y",
        "Dearer\n\nGrows: the suite because it has more",
    ],
)
def test_a_commit_that_raises_a_bound_needs_a_reason(history, message):
    history.commit(message, most=101)
    assert history.problems() == [
        "raises most in bounds.toml; its message needs `Grows: <bound> because <reason>`"
    ]


def test_a_reason_lets_a_bound_grow(history):
    history.commit("Dearer\n\nGrows: other and most because the suite has a new engine", most=101)
    assert history.problems() == []


def test_a_bound_that_is_removed_has_grown(history):
    history.commit("Without a bound")
    assert len(history.problems()) == 1


def test_a_bound_that_is_new_has_grown(history):
    history.commit("A second bound", **{"most": 100, "floors.all": 9, "files.flat": 3})
    assert history.problems() == [
        f"raises {name} in bounds.toml; its message needs `Grows: <bound> because <reason>`"
        for name in ("floors.all", "files.flat")
    ]


BOUNDS = {"most": 100, "files.aws": 1, "resources.examples.shop": 7}
ROOMS = ("src/duetime/aws/tables.py", "examples/shop.py")


def test_the_bounds_of_a_room_come_and_go_with_it(history):
    history.add(*ROOMS)
    history.commit("Two rooms", **BOUNDS)
    history.git("rm", "--quiet", *ROOMS)
    history.commit("No room", most=100)
    assert history.problems() == []


def test_a_room_that_stands_neither_loses_nor_gets_its_bounds(history):
    history.add(*ROOMS)
    history.git("commit", "--quiet", "-m", "Two rooms")
    history.commit("Their bounds", **BOUNDS)
    history.commit("No bounds", most=100)
    assert history.problems() == 2 * [
        f"raises {name} in bounds.toml; its message needs `Grows: <bound> because <reason>`"
        for name in ("files.aws", "resources.examples.shop")
    ]


def test_the_work_tree_may_not_raise_one(history):
    history.write(most=200)
    assert history.problems() == [
        "in bounds.toml grows; commit it with a line `Grows: <bound> because <reason>`"
    ]


def test_a_later_commit_does_not_excuse_an_earlier_one(history):
    history.commit("Dearer", most=101)
    history.commit("Cheaper again", most=50)
    assert len(history.problems()) == 1


def test_each_file_of_the_project_has_bounds():
    assert all(numbers((ROOT / name).read_text()) for name in FILES)
