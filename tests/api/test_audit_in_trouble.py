"""A trail that cannot be reached stops each change, and an entry whose end was lost has no status."""

import pytest

from tests.api.deployment import at, unavailable
from tests.api.trail import CHANGES, OWN, STAFF, scheduled
from tests.api.trail import ask as ask  # noqa: PLC0414 - fixtures
from tests.api.trail import deployment as deployment  # noqa: PLC0414
from tests.api.trail import trail as trail  # noqa: PLC0414

PAUSE = {"scope": "type", "name": "remark", "reason": "SES is down"}


def test_an_unavailable_trail_stops_every_change_of_a_known_target(deployment, ask, trail):
    made = scheduled(ask).json["id"]
    ask("POST", "/jobs", body=OWN)
    before = deployment.ask("GET", "/jobs/own-report", claims=STAFF).json

    deployment.trail.hooks |= {"begin": unavailable, "end": unavailable}
    for method, path in CHANGES:
        if path != "/actions":
            there = path.replace("<action_id>", made).replace("<name>", "own-report")
            body = PAUSE if path == "/pauses" else {"type": "remark", "cadences": []}
            response = ask(method, at(there), body={"name": "another-report", **body})
            assert (response.status, response.headers.get("Retry-After")) == (503, "5"), (method, path)
    assert deployment.ask("GET", f"/actions/{made}", claims=STAFF).json["status"] == "pending"
    assert deployment.ask("GET", "/jobs/own-report", claims=STAFF).json == before
    assert deployment.ask("GET", "/jobs/another-report", claims=STAFF).status == 404
    assert deployment.ask("GET", "/grants", claims=STAFF).json == {"items": []}


def test_an_entry_whose_end_was_not_stored_has_no_status(deployment, ask, trail):
    made = scheduled(ask).json["id"]

    deployment.trail.hooks["end"] = unavailable
    assert ask("DELETE", f"/actions/{made}").status == 200
    cancelled = trail()[0]
    assert (cancelled["operation"], cancelled["status"], cancelled["result"]) == ("cancel", None, None)


def test_an_entry_of_a_killed_process_has_no_status(deployment, ask, trail):
    made = scheduled(ask).json["id"]

    class Killed(BaseException):
        pass

    def kill(*_arguments, **_more):
        raise Killed

    deployment.store.hooks["cancel"] = kill
    with pytest.raises(Killed):
        ask("DELETE", f"/actions/{made}")
    assert (trail()[0]["operation"], trail()[0]["status"]) == ("cancel", None)
