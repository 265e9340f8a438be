"""Rejected changes cannot fill the trail: the first of a caller have entries, the others are counted."""

import json

import pytest

from duetime.api.rejected_changes import SAMPLE
from duetime.errors import BackendUnavailable
from tests.api.deployment import CLAIMS, NAME, unavailable
from tests.api.trail import OWN, STAFF, scheduled
from tests.api.trail import deployment as deployment  # noqa: PLC0414 - fixtures
from tests.api.trail import trail as trail  # noqa: PLC0414


@pytest.fixture
def ask(deployment):
    """Send a request without moving the clock: all are in one hour."""
    return lambda method, path, **changes: deployment.ask(
        method, path, **{"claims": STAFF, "body": None, **changes}
    )


def counts(trail):
    return [item for item in trail() if item["target"].startswith("rejected:")]


def writes(deployment, *names):
    """Count the calls of the trail's methods."""
    seen = []
    for name in names:
        deployment.trail.hooks[name] = lambda method, entry, name=name: (seen.append(name), method(entry))
    return seen


@pytest.mark.parametrize(
    ("status", "inputs"),
    [
        (403, {"method": "DELETE", "path": f"/actions/{NAME}", "claims": CLAIMS}),
        (404, {"method": "DELETE", "path": f"/actions/{NAME}"}),
        (422, {"method": "POST", "path": "/actions", "body": {"type": "é" * 9_000}}),
        (415, {"method": "POST", "path": "/actions", "body": "x", "headers": {"Content-Type": "text/plain"}}),
    ],
)
def test_a_thousand_rejected_changes_are_ten_entries_and_a_count(deployment, ask, trail, status, inputs):
    for _ in range(1_000):
        assert ask(**inputs).status == status
    entries = trail()
    assert len(entries) == SAMPLE + 1
    (count,) = counts(trail)
    assert (count["by"], count["subject"], count["status"]) == ("ada@acme.example", "s-1", status)
    assert 500 <= count["result"]["count"] <= 1_000 - SAMPLE
    assert count["result"]["statuses"] == {str(status): count["result"]["count"]}
    assert all(len(json.dumps(entry)) < 9_000 for entry in entries)


def test_a_flood_without_permission_causes_few_writes(deployment, ask):
    seen = writes(deployment, "begin", "end", "count")
    for _ in range(1_000):
        ask("DELETE", f"/actions/{NAME}", claims=CLAIMS)
    assert len(seen) < 25


def test_a_change_of_a_caller_whose_rejections_are_counted_is_found_under_its_target(deployment, ask, trail):
    made = scheduled(ask).json["id"]
    for _ in range(SAMPLE + 3):
        ask("DELETE", f"/actions/{NAME}")
    seen = writes(deployment, "begin", "end", "count")
    assert ask("DELETE", f"/actions/{made}").status == 200
    assert seen == ["count", "end"]  # as many writes as any change
    found = {item["operation"]: item["status"] for item in trail(action=made)}
    assert found == {"cancel": 200, "schedule": 201}


def test_a_counted_callers_change_is_stored_before_it_is_made(deployment, ask, trail):
    ask("POST", "/jobs", body=OWN)
    for _ in range(SAMPLE):
        ask("DELETE", f"/actions/{NAME}")
    deployment.trail.hooks["count"] = unavailable
    assert ask("POST", "/jobs/own-report/pause").status == 503
    assert not deployment.ask("GET", "/jobs/own-report", claims=STAFF).json["paused"]
    deployment.trail.hooks = {"end": unavailable}
    assert ask("POST", "/jobs/own-report/pause").status == 204
    (count,) = counts(trail)
    (begun,) = count["result"]["begun"]
    assert (begun["operation"], begun["target"]) == ("pause", "job:own-report")
    deployment.trail.hooks = {}
    for _ in range(3):
        ask("DELETE", f"/actions/{NAME}")
    assert count in counts(trail)  # no later count replaces it


def test_callers_and_hours_are_counted_apart(deployment, ask, trail):
    eve = STAFF | {"sub": "s-2", "email": "eve@acme.example"}
    for claims in (STAFF, eve):
        for _ in range(SAMPLE + 1):
            ask("DELETE", f"/actions/{NAME}", claims=claims)
    assert sorted(item["by"] for item in counts(trail)) == ["ada@acme.example", "eve@acme.example"]
    deployment.clock.wait_until(deployment.clock.now().replace(hour=13))
    ask("DELETE", f"/actions/{NAME}")
    assert (len(trail()), len(counts(trail))) == (2 * SAMPLE + 3, 2)


def test_a_count_that_cannot_be_stored_fails_no_request(deployment, ask):
    for _ in range(SAMPLE):
        ask("DELETE", f"/actions/{NAME}", claims=CLAIMS)
    deployment.trail.hooks["count"] = unavailable
    for _ in range(3):
        assert ask("DELETE", f"/actions/{NAME}", claims=CLAIMS).status == 403
    with pytest.raises(BackendUnavailable):
        deployment.trail.count(None)
