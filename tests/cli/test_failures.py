"""Every failure is one line on standard error that names the fix, and an exit status."""

import socket

import pytest

UNKNOWN_ID = "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("schedule", "os.system"),
            "no handler is registered for the type 'os.system'; known are: doomed, remark",
        ),
        (("schedule", "remark", "--payload", '{"txet": "x"}'), "txet: Extra inputs are not permitted"),
        (("schedule", "remark", "--at", "2027-06-01T09:00:00"), "has no offset"),
        (("schedule", "remark", "--at", "2027-03-28T02:30", "--tz", "Europe/Paris"), "does not exist in"),
        (("schedule", "remark", "--at", "2300-01-01T00:00Z"), "1970 to 2199"),
        (("schedule", "remark", "--at", "soon"), "no ISO 8601 time"),
        (("schedule", "remark", "--in", "999999d"), "1970 to 2199"),
        (("schedule", "remark", "--in", "5s", "--tz", "UTC"), "counts from now"),
        (("schedule", "remark", "--correlation-id", "a#b"), "separates the parts of a key"),
        (("schedule", "remark", "--correlation-id", ""), "correlation_id '' is empty"),
        (("schedule", "remark", "--tenant", "a#b"), "names no tenant"),
        (("actions", "show", UNKNOWN_ID), f"there is no action '{UNKNOWN_ID}'"),
        (("actions", "show", "../health"), "there is no"),
        (("actions", "cancel", "x"), "there is no action 'x'"),
        (("actions", "reschedule", UNKNOWN_ID, "--in", "5s"), "there is no action"),
        (("dead-letters", "redrive", UNKNOWN_ID), "there is no action"),
        (("actions", "list", "--cursor", "x"), "start again without one"),
    ],
)
def test_a_rejection_by_the_api_is_printed_on_one_line(duetime, words, expected):
    status, printed, line = duetime(*words)
    assert (status, printed) == (1, "")
    assert line.startswith("duetime: ")
    assert line.count("\n") == 1
    assert expected in line


def test_a_settled_action_is_not_cancelled(duetime):
    made = duetime.json("schedule", "remark", "--watch")
    status, _, line = duetime("actions", "cancel", made["id"])
    assert status == 1
    assert "it is executed, and only a pending or running one can be" in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("schedule",), "TYPE"),
        (("schedule", "remark", "--payload", "{"), "--payload is not JSON"),
        (("schedule", "remark", "--payload", "[]"), "must be a JSON object"),
        (("schedule", "remark", "--payload", '{"a": NaN}'), "NaN is not a JSON value"),
        (("schedule", "remark", "--payload", '{"a": -Infinity}'), "-Infinity is not a JSON value"),
        (("schedule", "remark", "--payload", '{"a":' * 10_000), "nested too deeply"),
        (("schedule", "remark", "--payload", '{"a": %s}' % ("9" * 5_000)), "--payload is not JSON"),
        (("schedule", "remark", "--in", "5"), "write one such as 3s, 5m, 2h30m or 1d"),
        (("schedule", "remark", "--in", "5s", "--at", "2027-06-01T09:00:00Z"), "not allowed with"),
        (("schedule", "remark", "--tenant", "two words"), "printable ASCII"),
        (
            ("actions",),
            "'duetime actions' has no option '--url'; write a command's options after the command",
        ),
        (("actions", "explode"), "'duetime actions' has no command 'explode'"),
        (("actions", "show", ""), "`duetime actions list` shows the ids"),
        (("actions", "list", "--limit", "x"), "--limit: 'x' is not a whole number from 1 to 100"),
        (("actions", "list", "--limit", "101"), "--limit: '101' is not a whole number from 1 to 100"),
        (("actions", "reschedule", UNKNOWN_ID), "one of the arguments --at --in is required"),
    ],
)
def test_bad_usage_ends_with_2(duetime, words, expected):
    status, printed, line = duetime(*words)
    assert (status, printed) == (2, "")
    assert line.startswith("duetime: ")
    assert line.count("\n") == 1
    assert expected in line


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "file:///etc/passwd", "http://", "http://a b", "http://é"]
)
def test_a_malformed_url_is_bad_usage(duetime, url):
    status, _, line = duetime("actions", "list", url=url)
    assert status == 2
    assert line == f"duetime: {url!r} is not the URL of a scheduler; use one such as http://127.0.0.1:8080\n"


def test_a_rejected_connection_suggests_starting_a_scheduler(duetime):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    status, printed, line = duetime("actions", "list", url=url)
    assert (status, printed) == (1, "")
    assert line == (
        f"duetime: no scheduler responds at {url} (Connection refused):"
        " start one with `duetime local --app module:name`, or set --url\n"
    )


@pytest.fixture
def silent():
    """A server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_time_out_is_reported_with_the_address_and_the_option(duetime, silent):
    status, printed, line = duetime("actions", "list", "--timeout", "0.05", url=silent)
    assert (status, printed) == (1, "")
    assert line == (
        f"duetime: time-out: {silent} did not respond within 0.05 seconds:"
        " wait longer with --timeout 0.1, or set DUETIME_TIMEOUT=0.1\n"
    )


def test_the_environment_sets_the_time_out_and_a_change_may_have_been_made(duetime, silent, monkeypatch):
    monkeypatch.setenv("DUETIME_TIMEOUT", "0.05")
    status, _, line = duetime("schedule", "remark", url=silent)
    assert status == 1
    assert "within 0.05 seconds; the change may have been made, so look before you repeat it:" in line


@pytest.mark.parametrize("written", ["0", "-1", "soon", "nan", "1e9"])
def test_a_time_out_is_a_positive_number(duetime, monkeypatch, written):
    status, _, line = duetime("actions", "list", f"--timeout={written}")
    assert status == 2
    assert "is not a number of seconds up to 86400; write one such as 60" in line
    monkeypatch.setenv("DUETIME_TIMEOUT", written)
    status, _, line = duetime("actions", "list")
    assert status == 2
    assert "DUETIME_TIMEOUT: " in line


def test_a_time_out_of_the_gateway_is_no_foreign_server(duetime, serve):
    url = serve(lambda *_: (504, "application/json", '{"message": "Endpoint request timed out"}'))
    status, _, line = duetime("actions", "list", url=url)
    assert status == 1
    assert line.startswith(f"duetime: time-out: the gateway at {url} did not wait for the response (504)")


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://127.0.0.1:x"])
def test_an_unreachable_address_fails_with_the_reason(duetime, url):
    status, _, line = duetime("actions", "list", url=url)
    assert status == 1
    assert line.startswith(f"duetime: no scheduler responds at {url} (")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((200, "text/html", "<html>"), "answers 200, which is not a response of duetime: check --url"),
        ((200, "application/json", '{"hello": 1}'), "answers 200, which is not a response of duetime"),
        ((200, "application/json", "[]"), "answers 200, which is not a response of duetime"),
        ((204, "text/plain", ""), "answers 204, which is not a response of duetime"),
        ((401, "application/json", '{"message": "Unauthorized"}'), "answers 401 'Unauthorized'"),
        ((502, "application/json", '{"message": "Internal server error"}'), "answers 502"),
        ((404, "text/plain", "no"), "answers 404"),
        (
            (503, "application/problem+json", '{"title": "A service did not answer", "detail": "repeat it"}'),
            "A service did not answer: repeat it",
        ),
    ],
)
def test_a_response_of_another_server_fails_with_its_status(duetime, serve, answer, expected):
    status, _, line = duetime("actions", "list", url=serve(lambda *_: answer))
    assert status == 1
    assert expected in line
    assert line.count("\n") == 1
