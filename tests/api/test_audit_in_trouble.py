"""A trail that cannot be reached stops each change, and an entry whose end was lost has no status."""

import pytest

from duetime.errors import BackendUnavailable
from tests.api.office import at
from tests.api.trail import CHANGES, OWN, STAFF, scheduled
from tests.api.trail import ask as ask  # noqa: PLC0414 - fixtures
from tests.api.trail import office as office  # noqa: PLC0414
from tests.api.trail import trail as trail  # noqa: PLC0414


def test_a_trail_that_cannot_be_reached_stops_each_change_that_can_be_named(office, ask, trail, monkeypatch):
    made = scheduled(ask).json["id"]
    ask("POST", "/background-jobs", body=OWN)
    before = office.ask("GET", "/background-jobs/own-report", claims=STAFF).json

    def broken(_entry):
        raise BackendUnavailable("DynamoDB", "timed out")

    for name in ("begin", "end"):
        monkeypatch.setattr(type(office.access.trail), name, lambda _trail, entry: broken(entry))
    for method, path in CHANGES:
        if path != "/scheduling":
            there = path.replace("<action_id>", made).replace("<name>", "own-report")
            answer = ask(method, at(there), body={"name": "another-report", "type": "remark", "cadences": []})
            assert (answer.status, answer.headers.get("Retry-After")) == (503, "5"), (method, path)
    assert office.ask("GET", f"/scheduling/{made}", claims=STAFF).json["status"] == "pending"
    assert office.ask("GET", "/background-jobs/own-report", claims=STAFF).json == before
    assert office.ask("GET", "/background-jobs/another-report", claims=STAFF).status == 404
    assert office.ask("GET", "/grants", claims=STAFF).json == {"items": []}


def test_a_change_whose_end_could_not_be_kept_has_no_status_though_it_was_made(
    office, ask, trail, monkeypatch
):
    made = scheduled(ask).json["id"]

    def broken(_trail, _entry):
        raise BackendUnavailable("DynamoDB", "timed out")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(type(office.trail), "end", broken)
        assert ask("DELETE", f"/scheduling/{made}").status == 200
    cancelled = trail()[0]
    assert (cancelled["operation"], cancelled["status"], cancelled["result"]) == ("cancel", None, None)


def test_a_change_that_its_process_did_not_survive_has_no_status(office, ask, trail, monkeypatch):
    made = scheduled(ask).json["id"]

    class Killed(BaseException):
        pass

    def dies(*_said, **_more):
        raise Killed

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(office.cloud.store, "cancel", dies)
        with pytest.raises(Killed):
            ask("DELETE", f"/scheduling/{made}")
    assert (trail()[0]["operation"], trail()[0]["status"]) == ("cancel", None)
