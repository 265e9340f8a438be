"""What a Lambda's process writes: a JSON object a line, whatever it is given."""

import json
import logging

import pytest

from duetime.lambdas.logs import JsonLines, write_json_logs


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


def test_a_line_tells_when_how_grave_what_and_where(written):
    [line] = written(lambda: WORK.info("ran in %s ms", 5))
    assert list(line) == ["timestamp", "level", "message", "location"]
    assert (line["level"], line["message"]) == ("INFO", "ran in 5 ms")
    assert line["timestamp"].endswith("+00:00")
    assert line["location"].startswith("duetime.work:")


def test_what_is_given_beside_stands_in_the_line_the_action_first_and_nothing_that_is_none(written):
    given = {"late_ms": 3.5, "action": "a-1", "reason": None, "types": {"letter"}}
    [line] = written(lambda: WORK.warning("late", extra=given))
    assert list(line) == ["timestamp", "level", "message", "action", "location", "late_ms", "types"]
    assert (line["action"], line["late_ms"], line["types"]) == ("a-1", 3.5, "{'letter'}")


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


@pytest.mark.parametrize(
    "text", ["two\nlines", "Bücher 🚀", "\ud800 half", "\x00"], ids=["lines", "letters", "half", "null"]
)
def test_no_text_breaks_the_line(text):
    record = logging.makeLogRecord({"msg": text, "levelname": "INFO", "name": "duetime"})
    line = JsonLines().format(record)
    line.encode()
    assert "\n" not in line
    assert json.loads(line)["message"] == text


def test_what_is_below_the_level_is_not_written(written):
    assert written(lambda: WORK.debug("a detail")) == []
