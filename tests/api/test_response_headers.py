"""Every response forbids caching, and only pages of the console's origin may read it."""

import pytest

from duetime.api.app import with_headers
from tests.api.conftest import Client

CONSOLE = "https://console.example.com"
REJECTED = [{"claims": {}}, {"body": "{"}, {"path": "/api/v1/nowhere"}]


@pytest.fixture
def client(call):
    return Client(with_headers(call.handler, CONSOLE))


def test_a_response_is_not_stored_by_caches(client):
    response = client("schedule", body={"type": "remark", "payload": {}, "in": 60})
    assert response.status == 201
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Location"]


def test_pages_of_the_console_read_a_response_and_its_location(client):
    response = client("schedule", body={"type": "remark", "payload": {}, "in": 60})
    assert response.headers["Access-Control-Allow-Origin"] == CONSOLE
    assert "Location" in response.headers["Access-Control-Expose-Headers"]
    assert response.headers["Vary"] == "Origin"


@pytest.mark.parametrize("changes", REJECTED)
def test_a_problem_has_the_same_headers(client, changes):
    response = client("schedule", **changes)
    assert response.status >= 400
    assert response.code
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Access-Control-Allow-Origin"] == CONSOLE


def test_another_origin_is_never_allowed(client):
    response = client("schedule", headers={"Origin": "https://evil.example"})
    assert response.headers["Access-Control-Allow-Origin"] == CONSOLE


def test_without_a_console_no_origin_is_allowed(call):
    response = Client(with_headers(call.handler, ""))("health")
    assert response.headers["Cache-Control"] == "no-store"
    assert not [name for name in response.headers if name.startswith("Access-Control")]


def test_only_the_document_is_cached_and_not_sent_again(client):
    first = client("get-document")
    assert first.headers["Cache-Control"] == "public, max-age=300, must-revalidate"
    assert first.headers["Access-Control-Allow-Origin"] == CONSOLE
    again = client("get-document", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.text, again.headers["ETag"]) == (304, "", first.headers["ETag"])
    changed = client("get-document", headers={"If-None-Match": 'W/"0"'})
    assert (changed.status, changed.text) == (200, first.text)
