"""Answers of the API are kept by no cache, and are never taken for another type than they say."""

import pytest

from duetime.api.response_headers import with_headers
from tests.api.conftest import Client


@pytest.fixture
def ask(call):
    return Client(with_headers(call.handler, ""))


def test_an_answer_is_not_to_be_kept(ask):
    answer = ask("schedule", body={"type": "remark", "payload": {}, "in": 60})
    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Location"]


@pytest.mark.parametrize("changes", [{"claims": {}}, {"body": "{"}, {"path": "/api/v1/nowhere"}])
def test_nor_is_a_refusal(ask, changes):
    answer = ask("schedule", **changes)
    assert answer.status >= 400
    assert answer.headers["Cache-Control"] == "no-store"
