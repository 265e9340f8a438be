"""Log lines of an attempt, as the API's function reads them from CloudWatch Logs."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.run_logs import CloudWatchRunLogs
from duetime.errors import BackendMisconfigured
from duetime.memory.store import MemoryStore
from duetime.ports.run_logs import MOST_LINES, LogLine
from duetime_contract.specimens import fresh

START = datetime(2027, 6, 1, 12, 0, 0, 250_500, tzinfo=UTC)
END = START + timedelta(seconds=2)
AT = datetime(2027, 6, 1, 12, 0, 1, tzinfo=UTC)
ACTION = fresh(MemoryStore())


class FakeLogs:
    """CloudWatch Logs with these pages, the last of which has no token."""

    def __init__(self, *pages):
        self.pages, self.requests = list(pages), []

    def filter_log_events(self, **request):
        self.requests.append(request)
        page = self.pages.pop(0)
        if isinstance(page, Exception):
            raise page
        return {"events": page, **({"nextToken": str(len(self.requests))} if self.pages else {})}


def event(message="charging", at=AT, **fields):
    line = {"level": "INFO", "message": message, "action": ACTION.id, "tenant": ACTION.tenant_id, **fields}
    return {"timestamp": int(at.timestamp() * 1000), "message": json.dumps(line)}


@pytest.fixture
def read(monkeypatch):
    def of(*pages):
        fake = FakeLogs(*pages)
        monkeypatch.setattr(clients, "logs", lambda: fake)
        return CloudWatchRunLogs("duetime-").lines(ACTION, "default", START, END), fake.requests

    return of


def refused(code):
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "FilterLogEvents")


def test_the_lines_of_one_action_of_one_tenant_are_searched_in_the_workers_log_group(read):
    page, [request] = read([event(xray_trace_id="1-a-b", exception="OSError: no")])
    assert request == {
        "logGroupName": "/aws/lambda/duetime-work-default",
        "startTime": 1811851200250,
        "endTime": 1811851202251,
        "filterPattern": f'{{ $.action = "{ACTION.id}" && $.tenant = "acme" }}',
        "limit": MOST_LINES + 1,
    }
    assert page.lines == [LogLine(AT, "INFO", "charging", "OSError: no", "1-a-b")]
    assert page.is_complete


@pytest.mark.parametrize(
    "other",
    [
        event(tenant="globex"),
        event(action="another"),
        {"timestamp": 1, "message": f"{ACTION.id} acme"},
        {"timestamp": 1, "message": "[]"},
    ],
)
def test_a_line_of_another_tenant_or_action_is_left_out_whatever_was_matched(read, other):
    assert [line.message for line in read([other, event()])[0].lines] == ["charging"]


def test_pages_are_followed_and_their_lines_are_in_the_order_of_time(read):
    page, requests = read([event("b", END)], [], [event("a"), event("failed", reason="no")])
    assert [line.message for line in page.lines] == ["a", "failed: no", "b"]
    assert [request.get("nextToken") for request in requests] == [None, "1", "2"]
    assert page.is_complete


def test_a_search_without_an_end_stops_and_states_that_it_is_incomplete(read):
    page, requests = read(*([] for _ in range(20)))
    assert (len(requests), page.is_complete) == (6, False)


def test_of_many_lines_the_first_are_returned(read):
    page, _ = read([event(str(number)) for number in range(MOST_LINES + 1)])
    assert [line.message for line in page.lines] == [str(number) for number in range(MOST_LINES)]
    assert not page.is_complete


def test_a_worker_without_a_log_has_no_lines(read):
    page, _ = read(refused("ResourceNotFoundException"))
    assert (page.lines, page.is_complete) == ([], True)


def test_a_missing_right_is_named(read):
    with pytest.raises(BackendMisconfigured, match="CloudWatch Logs"):
        read(refused("AccessDeniedException"))
