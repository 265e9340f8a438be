"""``duetime actions show --attempt`` and ``log``."""

import json

import pytest

LOG = {
    "attempt": 2,
    "items": [
        {"at": "2027-06-01T12:00:01.25Z", "level": "INFO", "message": "charging\x1b[31m", "exception": None},
        {
            "at": "2027-06-01T12:00:02Z",
            "level": "ERROR",
            "message": "declined",
            "exception": "A\nOSError: no",
        },
    ],
    "is_complete": False,
    "trace_url": "https://eu-west-1.console.aws.amazon.com/x",
}


@pytest.fixture
def planned(duetime):
    return duetime.json("schedule", "remark", "--in", "1h")


def test_the_tracebacks_of_an_action_are_printed_with_their_attempts(duetime):
    duetime("schedule", "doomed", "--watch")
    made = duetime.json("actions", "list")["items"][0]
    status, printed, _ = duetime("actions", "show", made["id"], "--attempt", "1")
    assert status == 0
    assert "\n\nattempt 1, 20" in printed
    assert "\n\nTraceback (most recent call last):\n" in printed
    assert "was stolen" in printed
    assert "\x1b" not in printed
    assert "was stolen" in duetime("actions", "show", made["id"])[1]
    [found] = duetime.json("actions", "show", made["id"], "--attempt", "1")["tracebacks"]
    assert (found["number"], "was stolen" in found["text"]) == (1, True)


def test_an_action_without_a_failure_has_no_traceback(duetime, planned):
    printed = duetime("actions", "show", planned["id"], "--attempt", "1")[1]
    assert printed.endswith("\n\nthe attempt has no traceback\n")


def test_an_action_that_succeeded_is_shown_without_one(duetime):
    duetime("schedule", "remark", "--watch")
    made = duetime.json("actions", "list")["items"][0]
    assert "Traceback" not in duetime("actions", "show", made["id"])[1]


def test_the_log_of_an_attempt_is_printed(duetime, serve):
    requests = []

    def answer(method, path, query, headers, body):
        requests.append((method, path, query))
        return 200, "application/json", json.dumps(LOG)

    status, printed, _ = duetime("actions", "log", "a-1", "--attempt", "2", url=serve(answer))
    assert (status, requests) == (0, [("GET", "/api/v1/actions/a-1/log", {"attempt": "2"})])
    assert printed.splitlines() == [
        "attempt 2, trace https://eu-west-1.console.aws.amazon.com/x",
        "2027-06-01T12:00:01.25Z  INFO     charging [31m",
        "2027-06-01T12:00:02Z  ERROR    declined",
        "    A",
        "    OSError: no",
        "more lines exist; the log group of its worker has them",
    ]


def test_an_action_whose_run_has_not_begun_has_no_log(duetime, planned):
    assert duetime("actions", "log", planned["id"])[1] == "no run has begun\n"
