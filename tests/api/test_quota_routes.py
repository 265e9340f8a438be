"""What a tenant may have or cause, and what it uses of that."""

import json

import pytest

from duetime.testing import TurnedClock
from tests.api.conftest import NOW
from tests.api.deployment import ALONE, CLAIMS, Deployment

EVENT = "on_event shop order.paid"
OTHER = CLAIMS | {"custom:tenant_id": "globex"}


def deployment_with(**settings):
    sources = {"shop": "detail.tenant_id"}
    return Deployment(TurnedClock(NOW), roles=ALONE, event_sources=sources, **settings)


def quotas(deployment, claims=CLAIMS, role="read_actions", **more):
    response = deployment.ask("GET", "/quotas", claims=claims | {"cognito:groups": role}, **more)
    assert response.status == 200, response.text
    return response.json["tenant_id"], {
        item["name"]: (item["used"], item["limit"]) for item in response.json["items"]
    }


@pytest.fixture
def deployment():
    return deployment_with(quotas={"acme": "pending=7 jobs=3", "*": "jobs=200"})


def post(deployment, path, body):
    claims = CLAIMS | {"cognito:groups": "manage_jobs" if "jobs" in path else "manage_actions"}
    response = deployment.ask("POST", path, claims=claims, body=json.dumps(body))
    assert response.status == 201, response.text


def test_a_tenant_sees_its_quotas_and_what_it_uses(deployment):
    for name, cadence in (("own-a", "daily 02:30"), ("own-b", EVENT)):
        post(
            deployment,
            "/jobs",
            {"name": name, "type": "remark", "payload": {"text": "a"}, "cadences": [cadence]},
        )
    assert quotas(deployment) == (
        "acme",
        {
            "pending": (0, 7),
            "payload_bytes": (0, 1_000_000_000),
            "jobs": (2, 3),
            "event_rules": (1, 50),
            "requests": (None, 50),
            "events": (None, 600),
        },
    )


def test_scheduled_actions_are_in_the_use_of_the_process_that_scheduled_them(deployment):
    post(deployment, "/actions", {"type": "remark", "payload": {"text": "a"}, "in": 60})
    _, found = quotas(deployment)
    assert found["pending"] == (1, 7)
    assert found["payload_bytes"][0] > 0


def test_a_manager_of_tenants_sees_those_of_another_tenant(deployment):
    tenant, found = quotas(deployment, query={"of_tenant": "globex"}, role="manage_tenants")
    assert (tenant, found["jobs"], found["pending"]) == ("globex", (0, 200), (0, 100_000))
    refused = deployment.ask("GET", "/quotas", "read_actions", query={"of_tenant": "globex"})
    assert (refused.status, refused.code) == (403, "forbidden")


def test_a_tenant_sees_its_own_alone(deployment):
    assert quotas(deployment, claims=OTHER)[1]["jobs"] == (0, 200)


def test_a_deployment_of_one_tenant_has_no_quotas():
    assert quotas(deployment_with()) == ("acme", {})
