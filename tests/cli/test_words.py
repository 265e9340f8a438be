"""Durations, instants and tables as the command line parses and prints them."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from duetime.cli.arguments import instant
from duetime.cli.tables import both, coloured, duration, local, plain_lines, relative, table

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3s", timedelta(seconds=3)),
        ("0.5s", timedelta(seconds=0.5)),
        ("5m", timedelta(minutes=5)),
        ("2h30m", timedelta(hours=2.5)),
        ("1d", timedelta(days=1)),
        ("1d2h3m4s", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("90m", timedelta(minutes=90)),
        ("0s", timedelta(0)),
    ],
)
def test_a_duration_is_parsed(written, expected):
    assert duration(written) == expected


@pytest.mark.parametrize(
    "written",
    ["", "5", "s", "-5s", "+5s", "5 s", "5S", "5ms", "30m2h", "1h1h", "1.5h", "٣s", "9" * 20 + "s", "1e3s"],
)
def test_any_other_text_is_no_duration(written):
    with pytest.raises(ValueError, match="write one such as 3s, 5m, 2h30m or 1d"):
        duration(written)


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=1.26), "in 1.3 s"),
        (timedelta(seconds=2.99), "in 3 s"),
        (timedelta(seconds=0.7), "in 700 ms"),
        (timedelta(seconds=-90), "90 s ago"),
        (timedelta(minutes=-2), "2 min ago"),
        (timedelta(hours=3), "in 3 h"),
        (timedelta(days=-40), "40 d ago"),
    ],
)
def test_an_instant_is_shown_relative_to_now(ahead, expected):
    assert relative(NOON + ahead, NOON) == expected


def test_an_instant_is_shown_to_the_second_and_with_its_distance():
    assert both("2026-03-01T12:00:03.200000Z", NOON) == "2026-03-01T12:00:03Z (in 3 s)"
    assert both(None, NOON) == "-"


@pytest.fixture
def in_paris(monkeypatch):
    """A machine whose clock is in Paris."""
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_local_time_is_in_this_machines_zone_with_its_offset(in_paris):
    assert local("2026-07-01T12:00:00Z", NOON) == "Wed 2026-07-01 14:00:00 +02:00 (in 122 d)"
    assert local(None, NOON) == "-"


def test_a_time_without_an_offset_is_in_this_machines_zone(in_paris):
    assert instant("2026-07-01T14:00") == "2026-07-01T12:00:00Z"
    assert instant("2026-07-01") == "2026-06-30T22:00:00Z"
    assert instant("2026-07-01T14:00Z") == "2026-07-01T14:00:00Z"


def test_a_message_keeps_only_its_indented_lines():
    assert plain_lines("bad\n    61 *\n    ^^") == "bad\n    61 *\n    ^^"
    assert plain_lines("one\ntwo\x1b[31m") == "one two [31m"


def test_columns_are_as_wide_as_their_widest_cell_and_end_without_blanks():
    assert table(["A", "LONG"], [["1", "x"], ["333", ""]]) == "A    LONG\n1    x\n333"


def test_a_cell_stays_on_its_line():
    assert table(["A"], [["one\ntwo\x1b[31m"]]).splitlines() == ["A", "one two [31m"]


def test_colour_is_for_terminals(monkeypatch):
    assert coloured("failed") == "failed"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert coloured("failed") == "\033[31mfailed\033[0m"
    assert coloured("remark") == "remark"
