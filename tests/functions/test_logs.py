"""What a Lambda's process writes: a JSON object a line, whatever it is given."""

import json
import logging

import pytest

from duetime.lambdas.logs import write_json_logs


@pytest.fixture
def written(capsys):
    """Calls something, and returns the lines that were written meanwhile, as objects."""

    def written_by(log):
        root = logging.getLogger("duetime")
        handlers, propagate, level = root.handlers, root.propagate, root.level
        write_json_logs()
        try:
            log()
        finally:
            root.handlers, root.propagate = handlers, propagate
            root.setLevel(level)
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return written_by


WORK = logging.getLogger("duetime.work")


def test_a_line_tells_when_how_grave_and_what_and_the_action_if_one_is_given(written):
    [line] = written(lambda: WORK.info("ran in %s ms", 5, extra={"late_ms": 3.5, "action": "a-1"}))
    assert list(line)[:4] == ["timestamp", "level", "message", "action"]
    assert (line["level"], line["message"], line["action"]) == ("INFO", "ran in 5 ms", "a-1")
    assert line["late_ms"] == 3.5


def test_an_exception_is_one_line_too(written):
    def fails():
        try:
            {}["ledger"]
        except KeyError:
            WORK.exception("it failed")

    [line] = written(fails)
    assert line["exception_name"] == "KeyError"
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("KeyError: 'ledger'")


@pytest.mark.parametrize("text", ["two\nlines", "Bücher 🚀", "\x00"], ids=["lines", "letters", "null"])
def test_no_text_breaks_the_line(written, text):
    [line] = written(lambda: WORK.info("%s", text))
    assert line["message"] == text
