"""What is watched is drawn again until it is interrupted; colours and fitted tables are for terminals alone."""

import sys
from datetime import UTC, datetime

import pytest

from duetime.cli.failures import CommandFailed
from duetime.cli.screen import keep_drawing
from duetime.cli.tables import coloured, table
from duetime.testing import TurnedClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class ShortWatch(TurnedClock):
    """Time is turned, until somebody interrupts."""

    def __init__(self, looks):
        super().__init__(NOON)
        self.looks = looks

    def wait_until(self, instant):
        super().wait_until(instant)
        self.looks -= 1
        if not self.looks:
            raise KeyboardInterrupt


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "10")


def test_it_is_drawn_again_until_interrupted_which_is_no_failure(capsys):
    drawings = iter(["one\n", "two\n"])
    assert keep_drawing(lambda: print(next(drawings), end=""), ShortWatch(2)) == 0  # noqa: T201 - as commands do
    assert capsys.readouterr().out.split("\033[H")[1:] == ["one\033[K\n\033[J", "two\033[K\n\033[J"]


def test_no_more_is_drawn_than_fits(capsys, monkeypatch):
    monkeypatch.setenv("LINES", "4")
    monkeypatch.setenv("COLUMNS", "80")
    keep_drawing(lambda: print("1\n2\n3\n4\n5"), ShortWatch(1))  # noqa: T201
    printed = capsys.readouterr().out
    assert "3\033[K" in printed
    assert "4\033[K" not in printed


def test_a_failure_while_it_is_watched_is_drawn_and_may_pass(capsys):
    looks = iter([None, CommandFailed("no answer"), None])

    def draw():
        if (failure := next(looks)) is not None:
            raise failure
        print("well")  # noqa: T201

    keep_drawing(draw, ShortWatch(3))
    _, *drawn = capsys.readouterr().out.split("\033[H")
    assert [each.split("\033")[0] for each in drawn] == ["well", "duetime: no answer", "well"]


def test_a_failure_at_first_ends_it():
    def draw():
        raise CommandFailed("no answer")

    with pytest.raises(CommandFailed):
        keep_drawing(draw, ShortWatch(1))


COMMANDS = [
    ("actions", "list"),
    ("actions", "show", "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"),
    ("jobs", "list"),
    ("jobs", "show", "billing-nightly"),
    ("dead-letters", "list"),
    ("notifications", "list"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_is_watched_without_a_terminal_or_as_json(duetime, words):
    status, _, told = duetime(*words, "--watch")
    assert (status, told) == (2, "duetime: --watch draws in a terminal, and there is none; leave it out\n")
    assert duetime(*words, "--watch", "--json")[0] == 2


def test_a_triggered_run_is_watched_until_it_is_settled(duetime):
    status, printed, _ = duetime("jobs", "trigger", "billing-nightly", "--watch")
    assert status == 0
    assert printed.splitlines()[-1].startswith("executed    attempt 1 began ")


def test_a_triggered_run_that_fails_is_a_failure(duetime):
    status, printed, told = duetime("jobs", "trigger", "billing-rebuild", "--payload", "{}", "--watch")
    assert status == 1
    assert printed.splitlines()[-1] == "failed      Fatal: no bank"
    assert "is failed, not executed" in told
    status, printed, _ = duetime("jobs", "trigger", "billing-nightly", "--watch", "--json")
    assert (status, '"status": "executed"' in printed) == (0, True)


def test_in_a_terminal_a_table_fits_its_width_and_loses_nothing(terminal):
    drawn = table(["ID", "STATUS", "REASON"], [["a-1", "failed", "x" * 100]])
    assert "\033[31mfailed\033[0m" in drawn
    assert drawn.count("x") == 100
    assert len(drawn.splitlines()) > 2


def test_what_a_terminal_would_obey_is_not_drawn(terminal):
    assert "[bold]" in table(["A", "B"], [["[bold]x", "\033[1mb"]])
    assert "\033[1mb" not in table(["A", "B"], [["[bold]x", "\033[1mb"]])


def test_no_color_means_plain_aligned_text(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("failed") == "failed"
    assert table(["A", "B"], [["long", "x"]]) == "A     B\nlong  x"


def test_without_rich_a_terminal_gets_the_plain_table_in_colours(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "duetime.cli.rich_tables", None)
    assert table(["A"], [["failed"]]) == "A\n\033[31mfailed\033[0m"
