"""Fixtures: a caller who requests changes, and the audit trail of them."""

from datetime import timedelta

import pytest

from tests.api.deployment import CLAIMS, GUARDED, Deployment

SECRET = "4111-1111"
ADDRESS = "203.0.113.7"
STAFF = CLAIMS | {"cognito:groups": "admins,others"}
READ_BY_POST = {"/jobs/draft"}
"""Paths whose POST changes nothing."""
CHANGES = [(method, path) for method, path, _ in GUARDED if method != "GET" and path not in READ_BY_POST]
OWN = {"name": "own-report", "type": "remark", "payload": {"text": SECRET}}


@pytest.fixture
def deployment(clock):
    return Deployment(clock)


@pytest.fixture
def ask(deployment):
    def send(method, path, **changes):
        fields = {"claims": STAFF, "body": None, **changes}
        deployment.clock.wait_until(deployment.clock.now() + timedelta(seconds=1))
        return deployment.ask(method, path, **fields)

    return send


@pytest.fixture
def trail(deployment):
    """The trail's entries of acme, latest first, from its route."""

    def entries(**query):
        response = deployment.ask("GET", "/audit", claims=STAFF, query={"limit": "100", **query})
        assert response.status == 200, response.text
        return response.json["items"]

    return entries


def scheduled(ask, **more):
    body = {"type": "remark", "payload": {"text": SECRET}, "in": 60, **more}
    return ask("POST", "/actions", body=body)
