"""The former paths of actions and jobs answer as the present ones, and name their successor."""

import re

import pytest

from duetime.api.openapi.document import every_route
from duetime.api.renamed_paths import FORMER, successor_of
from tests.api.conftest import sample_event

HEADERS = {"Deprecation", "Link"}
ROUTES = [route for route in every_route() if f"/{route.path.split('/')[1]}" in FORMER]


def former(path):
    first, slash, rest = path.removeprefix("/").partition("/")
    return f"{FORMER[f'/{first}']}{slash}{rest}"


def sent(call, method, path, body=None):
    event = sample_event("cancel", httpMethod=method, path=f"/api/v1{path}", body=body)
    event["requestContext"]["path"] = f"/prod{event['path']}"
    return call.send(event)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation_id)
def test_each_route_answers_at_its_former_path_as_at_its_present_one(call, route):
    path = re.sub("<[^>]+>", "unknown-one", route.path)
    here, there = (sent(call, route.method, where) for where in (path, former(path)))
    assert (there.status, there.text) == (here.status, here.text)
    assert re.fullmatch(r"@\d+", there.headers["Deprecation"])
    assert there.headers["Link"] == f'</prod/api/v1{path}>; rel="successor-version"'
    assert not HEADERS & here.headers.keys()


def test_a_created_action_is_at_the_former_path_for_a_client_that_called_it(call):
    order = {"type": "remark", "payload": {"text": "x"}, "in": 60}
    there = sent(call, "POST", "/scheduling", order)
    assert there.headers["Location"] == f"/prod/api/v1/scheduling/{there.json['id']}"
    assert sent(call, "GET", f"/scheduling/{there.json['id']}").json == there.json
    here = sent(call, "POST", "/actions", order)
    assert here.headers["Location"] == f"/prod/api/v1/actions/{here.json['id']}"


@pytest.mark.parametrize("changes", [{"claims": {}}, {"body": "{"}])
def test_a_rejected_request_to_a_former_path_names_the_successor_too(call, changes):
    response = call("schedule", path="/api/v1/scheduling", **changes)
    assert response.status >= 400
    assert response.headers.keys() >= HEADERS


@pytest.mark.parametrize("path", ["/api/v1/schedulings", "/api/v1/me", "/scheduling", "/api/v1"])
def test_only_the_first_segment_under_the_prefix_is_renamed(path):
    assert successor_of(path, "/api/v1") is None


def test_a_path_of_a_client_cannot_break_out_of_the_header(call):
    response = sent(call, "GET", "/scheduling/x>; rel=evil\r\nSet-Cookie: a")
    assert re.fullmatch(r'<[^<>\s]+>; rel="successor-version"', response.headers["Link"])
