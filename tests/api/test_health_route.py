"""Health asks every part, and names those that do not answer."""

import pytest

from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.memory.notes import MemoryBookmarks


class Ill(MemoryBookmarks):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def read(self, _name):
        raise self.error


def test_health_is_told_to_anybody(call):
    answer = call("health")
    assert answer.status == 200
    assert answer.json == {"status": "ok", "parts": {"actions table": "ok", "jobs table": "ok"}}


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (BackendUnavailable("DynamoDB", "secret"), "unavailable"),
        (BackendMisconfigured("DynamoDB", "secret", "cure"), "misconfigured"),
    ],
    ids=["unavailable", "misconfigured"],
)
def test_a_part_that_does_not_answer_is_named(call_over, store, error, state):
    answer = call_over(store, Ill(error))("health")
    assert (answer.status, answer.code) == (503, "unhealthy")
    assert answer.json["parts"] == {"actions table": "ok", "jobs table": state}
    assert answer.json["detail"] == f"the jobs table is {state}"
    assert answer.headers["Retry-After"] == "5"
    assert "secret" not in answer.text
