"""The priority of an action over HTTP."""

import pytest

from duetime.settings import Settings

REMARK = {"type": "remark", "payload": {"text": "hello"}, "in": 60}


@pytest.fixture
def settings():
    return Settings(high_priority=True)


def test_a_high_action_is_scheduled_and_shown(call):
    high, normal = call.schedule(body={**REMARK, "priority": "high"}), call.schedule(body=REMARK)
    assert (high["is_high"], normal["is_high"]) == (True, False)


def test_another_word_is_rejected(call):
    response = call("schedule", body={**REMARK, "priority": "urgent"})
    assert (response.status, response.code) == (422, "invalid-request")
    assert response.json["errors"][0]["where"] == "priority"


class TestWithoutTheSetting:
    @pytest.fixture
    def settings(self):
        return Settings()

    def test_a_high_action_is_rejected_with_what_to_enable(self, call):
        response = call("schedule", body={**REMARK, "priority": "high"})
        assert (response.status, response.code) == (422, "invalid-argument")
        assert "set high_priority=true" in response.json["detail"]
        assert response.json["errors"][0]["where"] == "priority"
        assert call("query", query={}).json["items"] == []
