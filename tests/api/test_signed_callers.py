"""The settings map the ARN of a signing service to its tenant and roles."""

import json

import pytest

from duetime.api.authenticator import Authenticator
from duetime.settings import Settings
from tests.api.conftest import EVENTS
from tests.backends import MemoryGrants

ROLE = "arn:aws:iam::123456789012:role/shop-checkout"
USER = "arn:aws:iam::123456789012:user/deployer"


@pytest.fixture
def settings():
    return Settings(identities={ROLE: "acme members", USER: "globex viewers"})


@pytest.fixture
def signed(call):
    """Schedule with the event of a signed request; the test gives identity and claims."""

    def ask(authorizer=None, **identity):
        event = json.loads((EVENTS / "api-signed.json").read_text())
        event["requestContext"]["identity"] |= identity
        if authorizer is not None:
            event["requestContext"]["authorizer"] = authorizer
        body = {"type": "remark", "payload": {}, "in": 60, "tenant_id": "globex", "actor": "eve"}
        return call.send(event | {"body": json.dumps(body)})

    return ask


def test_a_session_of_a_known_role_acts_for_its_tenant_under_its_own_name(signed):
    made = signed()
    assert made.status == 201, made.text
    assert (made.json["tenant_id"], made.json["created_by"]) == ("acme", "shop-checkout/till-4")


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:sts::123456789012:assumed-role/shop-checkout2/till-4",
        "arn:aws:sts::999999999999:assumed-role/shop-checkout/till-4",
        "arn:aws:sts::123456789012:federated-user/shop-checkout",
        "arn:aws:iam::123456789012:root",
        "arn:aws:iam::123456789012:user/shop-checkout",
        "shop-checkout",
    ],
)
def test_a_caller_missing_from_the_settings_is_forbidden(signed, arn):
    refused = signed(userArn=arn)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "identities do not know" in refused.json["detail"]


@pytest.mark.parametrize("arn", [None, "", 7, ["arn"]])
def test_an_unsigned_request_is_forbidden(signed, arn):
    refused = signed(userArn=arn)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "neither an ID token" in refused.json["detail"]


def test_roles_of_a_service_are_those_of_its_identity(signed):
    refused = signed(userArn=USER)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "actions:manage" in refused.json["detail"]


def test_claims_of_a_token_win_over_the_signing_identity(signed):
    response = signed(authorizer={"claims": {"custom:tenant_id": "globex", "sub": "s-1"}})
    assert (response.status, response.code) == (403, "forbidden")  # of globex, in no group


def test_an_access_token_is_no_id_token(signed):
    claims = {"token_use": "access", "sub": "s-1", "custom:tenant_id": "acme", "cognito:groups": "admins"}
    refused = signed(authorizer={"claims": claims})
    assert refused.status == 403
    assert "ID token" in refused.json["detail"]


def test_a_star_is_every_other_signer_that_iam_lets_call():
    settings = Settings(identities={"*": "default operators", ROLE: "acme members"})
    authenticator = Authenticator(MemoryGrants(), settings)
    other = authenticator.caller_of(signed_by("arn:aws:iam::123456789012:user/ada"))
    assert (other.tenant_id, other.actor, other.roles) == ("default", "ada", {"operators"})
    assert authenticator.caller_of(signed_by(ROLE)).tenant_id == "acme"


def signed_by(arn):
    return {"requestContext": {"authorizer": {}, "identity": {"userArn": arn}}}
