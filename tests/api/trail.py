"""Somebody who asks for changes, and the trail that they leave."""

from datetime import timedelta

import pytest

from tests.api.office import CLAIMS, GUARDED, Office

SECRET = "4111-1111"
ADDRESS = "203.0.113.7"
STAFF = CLAIMS | {"cognito:groups": "admins,others"}
CHANGES = [(method, path) for method, path, _ in GUARDED if method != "GET"]
OWN = {"name": "own-report", "type": "remark", "payload": {"text": SECRET}}


@pytest.fixture
def office(clock):
    return Office(clock)


@pytest.fixture
def ask(office):
    def send(method, path, **changes):
        fields = {"claims": STAFF, "body": None, **changes}
        office.clock.wait_until(office.clock.now() + timedelta(seconds=1))
        return office.ask(method, path, **fields)

    return send


@pytest.fixture
def trail(office):
    """The trail's entries of acme, the latest first, as its route tells them."""

    def entries(**query):
        answer = office.ask("GET", "/audit", claims=STAFF, query={"limit": "100", **query})
        assert answer.status == 200, answer.text
        return answer.json["items"]

    return entries


def scheduled(ask, **more):
    body = {"type": "remark", "payload": {"text": SECRET}, "in": 60, **more}
    return ask("POST", "/scheduling", body=body)
