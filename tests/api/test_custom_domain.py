"""Requests to a custom domain of API Gateway: the event's path begins with the domain's base path."""

import json

import pytest

from tests.api.conftest import EVENTS, OPERATOR


@pytest.fixture(params=["ops", "teams/ops"])
def at_domain(request, call):
    """Sends a sample through a custom domain with a base path."""

    def send(sample, **changes):
        event = json.loads((EVENTS / f"api-{sample}.json").read_text()) | changes
        event["path"] = event["requestContext"]["path"] = f"/{request.param}{event['path']}"
        event["requestContext"]["authorizer"] = {"claims": OPERATOR}
        response = call.send(event)
        return response, request.param

    return send


@pytest.mark.parametrize("sample", ["get-caller", "list-jobs", "health", "query"])
def test_each_route_is_found_under_a_base_path(at_domain, sample):
    response, _base = at_domain(sample)
    assert response.status == 200


def test_a_created_action_is_at_the_address_that_the_client_called(at_domain):
    body = json.dumps({"type": "remark", "payload": {"text": "x"}, "in": 60})
    response, base = at_domain("schedule", body=body)
    assert response.headers["Location"] == f"/{base}/api/v1/actions/{response.json['id']}"


def test_a_created_job_is_at_the_address_that_the_client_called(at_domain):
    body = {"name": "acme-report", "type": "remark", "payload": {"text": "x"}, "cadences": ["every 1h"]}
    response, base = at_domain("register-job", body=json.dumps(body))
    assert response.headers["Location"] == f"/{base}/api/v1/jobs/acme-report"


def test_an_unknown_path_is_named_without_the_base_path(at_domain):
    response, _base = at_domain("get-caller", pathParameters={"proxy": "nowhere"})
    assert response.status == 404
    assert "/api/v1/nowhere" in response.json["detail"]
