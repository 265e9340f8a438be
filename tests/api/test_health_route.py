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


def test_health_needs_no_sign_in(call):
    response = call("health")
    assert response.status == 200
    assert response.json == {"status": "ok", "parts": {"actions table": "ok", "jobs table": "ok"}}


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (BackendUnavailable("DynamoDB", "secret"), "unavailable"),
        (BackendMisconfigured("DynamoDB", "secret", "cure"), "misconfigured"),
    ],
    ids=["unavailable", "misconfigured"],
)
def test_a_part_that_does_not_respond_is_named(call_over, store, error, state):
    response = call_over(store, Ill(error))("health")
    assert (response.status, response.code) == (503, "unhealthy")
    assert response.json["parts"] == {"actions table": "ok", "jobs table": state}
    assert response.json["detail"] == f"the jobs table is {state}"
    assert response.headers["Retry-After"] == "5"
    assert "secret" not in response.text
