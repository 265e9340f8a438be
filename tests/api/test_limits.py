"""Operators of the deployment list, set and reset the rate limits of types, without a deploy."""

import json
from datetime import timedelta

import pytest

from duetime import Payload, Rate
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, jobs_app
from tests.api.deployment import ALONE, CLAIMS, Deployment

OPS = CLAIMS | {"sub": "o-1", "email": "ops@deployment.example"}
TEN = {"count": 10, "seconds": 60, "burst": 1}


class Mail(Payload):
    to: str = "ada"


def mail_app():
    app = jobs_app()

    @app.action(rate=Rate(10, "minute", key=lambda mail: mail.to))
    def send_mail(mail: Mail) -> None:
        pass

    return app


@pytest.fixture
def deployment():
    return Deployment(TurnedClock(NOW), app=mail_app, roles=ALONE)


@pytest.fixture
def ops(deployment):
    claims = OPS | {"cognito:groups": "system"}
    return lambda method, path, **body: deployment.ask(
        method, path, claims=claims, body=json.dumps(body) if body else None
    )


def limits(ops):
    return {item["name"]: item for item in ops("GET", "/limits").json["items"]}


def test_the_declared_limits_are_listed(ops):
    assert limits(ops) | {"remark": None} == {
        "remark": None,
        "mail": {
            "name": "mail",
            "scope": "key",
            "limit": TEN,
            "declared": TEN,
            "set_by": None,
            "set_at": None,
        },
    }


def test_a_set_limit_holds_until_a_reset(ops, deployment):
    answer = ops("PUT", "/limits/mail", count=20, per="second", burst=5)
    assert answer.status == 200, answer.text
    expected = {
        "name": "mail",
        "scope": "key",
        "limit": {"count": 20, "seconds": 1, "burst": 5},
        "declared": TEN,
        "set_by": "ops@deployment.example",
        "set_at": "2026-03-01T12:00:00Z",
    }
    assert answer.json == expected
    assert limits(ops)["mail"] == expected
    assert [limit.limit.count for limit in deployment.cloud.limits.list()] == [20]
    assert ops("DELETE", "/limits/mail").json["items"][0]["limit"] == TEN
    assert not deployment.cloud.limits.list()


def test_a_period_may_be_in_seconds(ops):
    assert ops("PUT", "/limits/mail", count=20, per=90).json["limit"]["seconds"] == 90


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"count": 0, "per": "minute"}, "rate is 0; allowed is a whole number"),
        ({"count": -1, "per": "minute"}, "rate is -1; allowed is a whole number"),
        ({"count": 4_001, "per": "second"}, "the highest that can be enforced is 4000 a second"),
        ({"count": 10, "per": "minute", "burst": 0}, "burst is 0; allowed"),
        ({"count": 10, "per": 0.5}, "per is"),
        ({"count": 10, "per": 1e30}, "is no period"),
        ({"count": 10, "per": "week"}, "second"),
        ({"count": True, "per": "minute"}, "count must be a whole number"),
        ({"count": 10}, "per"),
    ],
)
def test_a_limit_that_cannot_be_enforced_is_rejected(ops, body, problem):
    answer = ops("PUT", "/limits/mail", **body)
    assert answer.status == 422, answer.text
    assert problem in answer.text
    assert limits(ops)["mail"]["set_by"] is None


def test_a_type_without_a_rate_has_no_limit_to_set(ops):
    answer = ops("PUT", "/limits/apply-plan-change", count=10, per="minute")
    assert answer.status == 422
    assert "no type 'apply-plan-change' declares a rate; those that do: mail, remark" in answer.text


def test_a_tenants_admin_may_neither_see_nor_set_limits(deployment):
    body = json.dumps({"count": 1, "per": "day"})
    for method, path in (("GET", "/limits"), ("PUT", "/limits/mail"), ("DELETE", "/limits/mail")):
        assert deployment.ask(method, path, "manage_tenants", body=body).status == 403


def test_a_change_is_in_the_audit_trail(ops, deployment):
    ops("PUT", "/limits/mail", count=20, per="second")
    deployment.clock.wait_until(deployment.clock.now() + timedelta(seconds=1))
    ops("DELETE", "/limits/mail")
    entries = deployment.trail.list("acme", None, limit=9, cursor=None).entries
    assert [(entry.operation, entry.target.kind, entry.target.name) for entry in entries] == [
        ("reset", "limit", "mail"),
        ("set", "limit", "mail"),
    ]


def test_a_rate_key_over_http(deployment):
    body = {"type": "mail", "payload": {"to": "ada"}, "in": 60}
    ask = lambda **more: deployment.ask("POST", "/actions", "manage_actions", body=json.dumps(body | more))  # noqa: E731
    assert ask().json["rate_key"] == "ada"
    assert ask(rate_key="shared").json["rate_key"] == "shared"
    rejected = ask(rate_key="a#b")
    assert (rejected.status, rejected.json["type"]) == (422, "urn:duetime:problem:invalid-argument")
    rejected = ask(type="remark", payload={}, rate_key="ada")
    assert rejected.status == 422
    assert "the type declares no rate with a key" in rejected.json["detail"]
