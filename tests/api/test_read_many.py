"""Several reads in one request: each is served as it would be alone."""

import json
from datetime import timedelta
from urllib.parse import quote

import pytest

from duetime.api import reads
from duetime.testing import TurnedClock
from tests.api.charges import SECRET, Charges
from tests.api.conftest import NOW
from tests.api.deployment import CLAIMS, GUARDED, Deployment, at
from tests.cases import for_each

ROLES = {"clerks": "actions:manage jobs:manage", "viewers": "jobs:read"}


@pytest.fixture
def deployment():
    return Deployment(TurnedClock(NOW), roles=ROLES)


def read(deployment, *paths, group="clerks", tenant="acme", **changes):
    claims = CLAIMS | {"cognito:groups": group, "custom:tenant_id": tenant}
    several = {"read": list(paths)}
    last = {"queryStringParameters": {"read": paths[-1]} if paths else None}
    changes = {"multiValueQueryStringParameters": several, **last, **changes}
    return deployment.ask("GET", "/reads", claims=claims, body=None, **changes)


def items(deployment, *paths, **who):
    response = read(deployment, *paths, **who)
    assert response.status == 200, response.text
    found = response.json["items"]
    assert [item["read"] for item in found] == list(paths)
    return found


def alone(deployment, path, group="clerks"):
    path, _, query = path.partition("?")
    pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
    return deployment.ask("GET", path, group, query=dict(pairs) if pairs else None)


def schedule(deployment, **more):
    body = {"type": "remark", "payload": {}, "in": 60} | more
    claims = CLAIMS | {"cognito:groups": "clerks"}
    return deployment.ask("POST", "/actions", claims=claims, body=body).json["id"]


def test_each_read_has_the_response_that_it_would_have_alone(deployment):
    action = f"/actions/{schedule(deployment)}"
    paths = [
        "/me",
        action,
        "/jobs?limit=10",
        "/actions/query?limit=1",
        "/actions/unknown",
        "/nothing",
        "/jobs/x",
    ]
    for path, item in zip(paths, items(deployment, *paths), strict=True):
        response = alone(deployment, path)
        assert (item["status"], item["body"]) == (response.status, response.json), path
        assert item["headers"] == {
            name: response.headers[name] for name in response.headers if name == "ETag"
        }
    assert items(deployment, action)[0]["headers"].keys() == {"ETag"}


@for_each(("method", "path"), [item[:2] for item in GUARDED if item[0] == "GET"])
def test_a_read_needs_the_permission_of_its_route(deployment, method, path):
    (item,) = items(deployment, at(path), group="strangers")
    assert (item["status"], item["body"]["type"]) == (403, "urn:duetime:problem:forbidden")
    assert item["body"] == deployment.ask(method, at(path), "strangers").json


def test_one_rejected_read_leaves_the_others_as_they_are(deployment):
    schedule(deployment)
    found = items(deployment, "/jobs", "/actions/query", "/jobs?nonsense=1", "/jobs", group="viewers")
    assert [item["status"] for item in found] == [200, 403, 422, 200]


def test_a_read_sees_the_own_tenant_alone(deployment):
    path = f"/actions/{schedule(deployment)}"
    other = items(deployment, path, "/actions/query", "/actions/query?tenant_id=acme", tenant="globex")
    assert [item["status"] for item in other] == [404, 200, 200]
    assert [item["body"].get("items") for item in other] == [None, [], []]


def test_sensitive_values_are_hidden_from_those_who_may_not_see_them():
    charges = Charges()
    path = "/actions/" + charges.schedule({"email": SECRET})["id"]
    for group, is_shown in (("clerks", False), ("readers", True)):
        response = charges.ask("GET", "/reads", group, query={"read": path})
        assert (SECRET in response.text) is is_shown


def test_a_value_in_a_read_is_percent_decoded_once(deployment):
    schedule(deployment, correlation_id="a&b=c d%")
    schedule(deployment, correlation_id="other")
    (item,) = items(deployment, f"/actions/query?correlation_id={quote('a&b=c d%')}")
    assert [row["correlation_id"] for row in item["body"]["items"]] == ["a&b=c d%"]


def test_pages_of_a_list_follow_each_other_by_their_cursors(deployment):
    expected = {schedule(deployment) for _ in range(3)}
    seen, cursor = [], ""
    while cursor is not None:
        (item,) = items(deployment, f"/actions/query?limit=2{cursor and f'&cursor={quote(cursor)}'}")
        seen += [row["id"] for row in item["body"]["items"]]
        cursor = item["body"]["next_cursor"]
    assert (len(seen), {*seen}) == (3, expected)
    alone_cursor = alone(deployment, "/actions/query?limit=2").json["next_cursor"]
    (item,) = items(deployment, f"/actions/query?limit=2&cursor={quote(alone_cursor)}")
    assert item["status"] == 200


def test_a_read_within_reads_and_other_addresses_are_rejected(deployment):
    for path in ("/reads", "/reads?read=/me", "/reads/", "/%72eads", "//evil.example/jobs", "jobs",
                 "https://evil.example/", "/jobs#x"):  # fmt: skip
        response = read(deployment, "/me", path)
        assert response.status == 422, path
        assert response.json["errors"][0]["where"] == "read[1]"


def test_only_gets_are_read(deployment):
    action = schedule(deployment)
    found = items(deployment, f"/actions/{action}/redrive", f"/actions/{action}", "/actions/cancel")
    assert [item["status"] for item in found] == [405, 200, 405]
    assert found[1]["body"]["status"] == "pending"


@pytest.mark.parametrize("count", [0, 13])
def test_there_is_one_read_at_least_and_twelve_at_most(deployment, count):
    assert read(deployment, *["/me"] * count).status == 422
    assert read(deployment, *["/me"] * 12).status == 200


def test_bodies_beyond_the_limit_are_to_be_read_alone(deployment, monkeypatch):
    small, large = (len(json.dumps(alone(deployment, path).text)) for path in ("/me", "/openapi.json"))
    monkeypatch.setattr(reads, "MOST_BYTES", 2 * small + large - 1)
    found = items(deployment, "/me", "/openapi.json", "/openapi.json", "/me")
    assert [item["status"] for item in found] == [200, 200, 413, 413]
    monkeypatch.setattr(reads, "MOST_BYTES", 2 * small)
    found = items(deployment, "/me", "/openapi.json", "/me", "/me")
    assert [item["status"] for item in found] == [200, 413, 200, 413]
    assert found[1]["body"]["type"] == "urn:duetime:problem:reads-too-large"
    assert "bytes; send this read alone" in found[1]["body"]["detail"]
    monkeypatch.setattr(reads, "MOST_BYTES", 1)
    assert items(deployment, "/me")[0]["status"] == 200


def test_reads_that_would_begin_late_are_to_be_sent_alone(deployment, monkeypatch):
    monkeypatch.setattr(reads, "LONGEST", timedelta(0))
    found = items(deployment, "/me", "/jobs", "/me")
    assert [item["status"] for item in found] == [200, 413, 413]
    assert "seconds; send this read alone" in found[1]["body"]["detail"]


def test_each_read_counts_towards_the_quota_of_requests():
    clock = TurnedClock(NOW)
    deployment = Deployment(clock, roles=ROLES, quotas={"acme": "requests=5"})
    found = items(deployment, *["/me"] * 6)
    assert [item["status"] for item in found] == [200] * 4 + [429] * 2
    assert found[-1]["headers"] == {"Retry-After": "1"}
    clock.wait_until(NOW + timedelta(seconds=1))
    assert items(deployment, "/me")[0]["status"] == 200


def test_a_condition_of_the_request_is_not_that_of_its_reads(deployment):
    (item,) = items(deployment, "/openapi.json", headers={"If-None-Match": "*"})
    assert (item["status"], item["body"]["openapi"]) == (200, "3.1.0")


def test_without_a_tenant_nothing_is_read(deployment):
    response = deployment.ask("GET", "/reads", claims={"sub": "1"}, query={"read": "/openapi.json"})
    assert response.status == 403
