"""``--watch`` redraws until interrupted. Only terminals get colours and folded tables."""

import re
import sys
from datetime import UTC, datetime

import pytest

from duetime.cli import main
from duetime.cli.output import keep_drawing
from duetime.cli.tables import coloured, table
from duetime.errors import OperationFailed
from duetime.testing import TurnedClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class ShortWatch(TurnedClock):
    """A clock that interrupts the watch after some drawings."""

    def __init__(self, drawings, before_wait=lambda: None):
        super().__init__(NOON)
        self.drawings, self.before_wait = drawings, before_wait

    def wait_until(self, instant):
        self.before_wait()
        super().wait_until(instant)
        self.drawings -= 1
        if not self.drawings:
            raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def size(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "10")


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)


def lines(printed):
    """Return the printed lines without control sequences, empty ones left out."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed).replace("\r", "\n")
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_output_is_redrawn_in_place_until_an_interrupt_which_exits_with_0(capsys):
    drawings = iter(["one\n", "two\n"])
    assert keep_drawing(lambda: print(next(drawings), end=""), ShortWatch(2)) == 0  # noqa: T201 - as commands do
    printed = capsys.readouterr().out
    assert list(dict.fromkeys(lines(printed))) == ["one", "two"]
    assert "\x1b[2K" in printed.partition("one")[2].partition("two")[0]


def test_a_drawing_is_cropped_to_the_height_of_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("LINES", "4")
    drawn = []
    clock = ShortWatch(2, before_wait=lambda: drawn.append(lines(capsys.readouterr().out)))
    keep_drawing(lambda: print("\n".join("abcdef")), clock)  # noqa: T201
    assert [set(drawing) for drawing in drawn] == [set("abcd"), set("abcd")]


def test_a_failure_during_the_watch_is_drawn_and_the_watch_continues(capsys):
    results = iter([None, OperationFailed("no answer"), None])

    def draw():
        if (failure := next(results)) is not None:
            raise failure
        print("well")  # noqa: T201

    keep_drawing(draw, ShortWatch(3))
    drawn = lines(capsys.readouterr().out)
    assert [line for number, line in enumerate(drawn) if line != drawn[number - 1]] == [
        "duetime: no answer",
        "well",
    ]
    assert drawn[0] == "well"


def test_a_failure_of_the_first_drawing_ends_the_watch():
    def draw():
        raise OperationFailed("no answer")

    with pytest.raises(OperationFailed, match="no answer"):
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
def test_watch_needs_a_terminal_and_excludes_json(duetime, words):
    status, _, errors = duetime(*words, "--watch")
    assert (status, errors) == (2, "duetime: --watch draws in a terminal, and there is none; leave it out\n")
    assert duetime(*words, "--watch", "--json")[0] == 2


def test_a_triggered_run_is_watched_until_it_is_settled(duetime):
    status, printed, _ = duetime("jobs", "trigger", "billing-nightly", "--watch")
    assert status == 0
    assert printed.splitlines()[-1].startswith("executed    attempt 1 began ")


def test_watching_a_triggered_run_that_fails_exits_with_1(duetime):
    status, printed, errors = duetime("jobs", "trigger", "billing-rebuild", "--payload", "{}", "--watch")
    assert status == 1
    assert printed.splitlines()[-1] == "failed      Fatal: no bank"
    assert "is failed, not executed" in errors
    status, printed, _ = duetime("jobs", "trigger", "billing-nightly", "--watch", "--json")
    assert (status, '"status": "executed"' in printed) == (0, True)


def test_in_a_terminal_a_table_is_folded_to_its_width(terminal):
    drawn = table(["ID", "STATUS", "REASON"], [["a-1", "failed", "x" * 100]])
    assert "\033[31mfailed\033[0m" in drawn
    assert drawn.count("x") == 100
    assert len(drawn.splitlines()) > 2


def test_a_table_contains_no_control_characters_or_markup(terminal):
    assert "[bold]" in table(["A", "B"], [["[bold]x", "\033[1mb"]])
    assert "\033[1mb" not in table(["A", "B"], [["[bold]x", "\033[1mb"]])


def test_no_color_means_plain_aligned_text(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("failed") == "failed"
    assert table(["A", "B"], [["long", "x"]]) == "A     B\nlong  x"


def test_without_rich_a_command_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["preview", "daily 02:30"]) == 1
    printed, message = capsys.readouterr()
    assert printed == ""
    assert 'pip install "duetime[cli]"' in message
    assert len(message.splitlines()) == 1


def test_without_rich_the_help_is_printed(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "usage: duetime" in capsys.readouterr().out
