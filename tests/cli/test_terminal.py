"""In a terminal, long lists go through the pager, and long work shows its progress. A pipe gets neither."""

import json
import os
import pty
import subprocess
import sys
import threading

import pytest

from duetime.cli.output import ProgressBar

LINES = 60


@pytest.fixture
def listed(serve):
    """The address of a scheduler with so many jobs of the trail that no small terminal holds them."""
    entry = {
        "requested_at": "2026-03-01T12:00:00Z",
        "by": "ada",
        "operation": "cancel",
        "target": "action:1",
        "status": 200,
        "request_fields": None,
    }
    page = json.dumps({"items": [entry] * LINES, "next_cursor": None})
    return serve(lambda *_: (200, "application/json", page))


def in_terminal(words, **environment):
    """Run the command line with a terminal as its standard output, and return what appears there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "duetime", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "LINES": "24", "COLUMNS": "120", **environment},  # noqa: TID251 - a real process
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65_536):
            shown += part
    except OSError:  # the terminal's last user has ended
        pass
    os.close(ours)
    assert process.wait() == 0
    return shown.decode()


@pytest.fixture
def pager(tmp_path):
    """A pager that shows a heading, and its input."""
    script = tmp_path / "pager"
    script.write_text("#!/bin/sh\necho paged by $1\ncat\n")
    script.chmod(0o755)
    return f"{script} me"


def test_a_long_list_goes_through_the_pager(listed, pager):
    shown = in_terminal(["access", "audit", "--url", listed], PAGER=pager)
    assert shown.startswith("paged by me")
    assert shown.count("action:1") == LINES


@pytest.mark.parametrize("broken", ["", "no-such-program-here", "'unbalanced"])
def test_without_a_pager_that_works_the_list_is_printed(listed, broken):
    shown = in_terminal(["access", "audit", "--url", listed], PAGER=broken)
    assert shown.count("action:1") == LINES


def test_a_list_that_fits_is_not_paged(listed, pager):
    shown = in_terminal(["access", "audit", "--url", listed], PAGER=pager, LINES="100")
    assert "paged" not in shown
    assert shown.count("action:1") == LINES


def test_a_pipe_is_never_paged(listed, pager, duetime, monkeypatch):
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setenv("LINES", "24")
    status, printed, errors = duetime("access", "audit", url=listed)
    assert (status, errors) == (0, "")
    assert "paged" not in printed


def test_without_a_terminal_a_bar_prints_only_its_notes(capsys):
    with ProgressBar("watch", 2, delay=0) as bar:
        bar.done(1)
        bar.note("1 not done yet")
    assert capsys.readouterr() == ("", "1 not done yet\n")


class _Terminal:
    """Standard error that is a terminal, and keeps what is written; `drawn` is set once it has some words."""

    encoding = "utf-8"

    def __init__(self, *words):
        self.written, self._words, self.drawn = "", words, threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        self.written += text
        if all(word in self.written for word in self._words):
            self.drawn.set()

    def flush(self):
        pass


def test_in_a_terminal_the_bar_has_label_count_and_note(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := _Terminal("3/4", "1 not done yet"))
    with ProgressBar("watch", 4, delay=0) as bar:
        bar.done(3)
        bar.note("1 not done yet")
        assert terminal.drawn.wait(30)
    assert capsys.readouterr().out == ""


def test_what_is_quick_shows_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := _Terminal())
    with ProgressBar("watch", 4) as bar:
        bar.done(4)
    assert terminal.written == ""
