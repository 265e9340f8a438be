"""Pages of the console may read answers, refusals too; no other origin's may."""

import pytest

from duetime.api.response_headers import with_headers
from tests.api.conftest import Client

CONSOLE = "https://console.example.com"


@pytest.fixture
def from_console(call):
    return Client(with_headers(call.handler, CONSOLE))


def test_an_answer_may_be_read_by_pages_of_the_console(from_console):
    answer = from_console("schedule", body={"type": "remark", "payload": {}, "in": 60})
    assert answer.status == 201
    assert answer.headers["Access-Control-Allow-Origin"] == CONSOLE
    assert "Location" in answer.headers["Access-Control-Expose-Headers"]
    assert answer.headers["Vary"] == "Origin"


@pytest.mark.parametrize("changes", [{"claims": {}}, {"body": "{"}, {"path": "/api/v1/nowhere"}])
def test_a_refusal_may_be_read_too(from_console, changes):
    answer = from_console("schedule", **changes)
    assert answer.status >= 400
    assert answer.code
    assert answer.headers["Access-Control-Allow-Origin"] == CONSOLE


def test_the_origin_that_is_told_is_never_the_one_that_asks(from_console):
    answer = from_console("schedule", headers={"Origin": "https://evil.example"})
    assert answer.headers["Access-Control-Allow-Origin"] == CONSOLE


def test_without_a_console_no_page_may_read_anything(call):
    response = Client(with_headers(call.handler, ""))("health")
    assert not [name for name in response.headers if name.startswith("Access-Control")]
