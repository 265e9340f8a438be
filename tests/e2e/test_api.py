"""The admin API of a deployed stack: people with ID tokens of its user pool, services that sign."""

import base64
import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from duetime.clock import SystemClock
from duetime.rehearsal.emulator import ACCOUNT, REGION

pytestmark = pytest.mark.e2e

PASSWORD = "correct-Horse-7-battery"
ERRAND = {"type": "run-errand", "payload": {"what": "of the API"}, "in": 3_600}
UNKNOWN = "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: dict[str, str]

    @property
    def json(self):
        return json.loads(self.text)


@dataclass(frozen=True)
class ApiClient:
    """One URL of the API, as the emulator serves it."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    credentials: Credentials | None = None

    def __call__(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = AWSRequest(method, self.url + path, headers=self.headers, data=data)
        if data is not None:
            request.headers["Content-Type"] = "application/json"
        if self.credentials is not None:
            SigV4Auth(self.credentials, "execute-api", REGION).add_auth(request)
        return sent(request.prepare())

    def with_token(self, token):
        return ApiClient(self.url, {"Authorization": token})

    def signed_by(self, credentials):
        return ApiClient(self.url, credentials=credentials)


def sent(prepared):
    request = urllib.request.Request(  # noqa: S310 - the emulator's own address
        prepared.url, prepared.body, dict(prepared.headers), method=prepared.method
    )
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return Answer(answer.status, answer.read().decode(), dict(answer.headers))
    except urllib.error.HTTPError as refusal:
        return Answer(refusal.code, refusal.read().decode(), dict(refusal.headers))


def client_of(bench, output):
    """``https://ID.execute-api.…/prod/api/v1``, at the emulator's address."""
    api_id, _, rest = bench.deployment.outputs[output].removeprefix("https://").partition(".")
    path = rest.partition("/")[2]
    return ApiClient(f"{bench.client('sqs').meta.endpoint_url}/_aws/execute-api/{api_id}/{path}")


@pytest.fixture(scope="module")
def people(bench):
    return client_of(bench, "Api")


@pytest.fixture(scope="module")
def services(bench):
    return client_of(bench, "SignedApi")


@pytest.fixture(scope="module")
def tokens(bench):
    """Makes a user, as an admin of the pool does, and signs in; the tokens."""
    cognito, outputs = bench.client("cognito-idp"), bench.deployment.outputs
    pool = {"UserPoolId": outputs["UserPool"]}

    def sign_in(email, *groups, tenant="acme"):
        attributes = {"email": email, "email_verified": "true", "custom:tenant_id": tenant}
        report = [{"Name": name, "Value": value} for name, value in attributes.items()]
        cognito.admin_create_user(
            **pool,
            Username=email,
            UserAttributes=report,
            TemporaryPassword=PASSWORD,
            MessageAction="SUPPRESS",
        )
        cognito.admin_set_user_password(**pool, Username=email, Password=PASSWORD, Permanent=True)
        for group in groups:
            cognito.admin_add_user_to_group(**pool, Username=email, GroupName=group)
        return cognito.admin_initiate_auth(
            **pool,
            ClientId=outputs["UserPoolClient"],
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": PASSWORD},
        )["AuthenticationResult"]

    return sign_in


@pytest.fixture(scope="module")
def ada(people, tokens):
    """A member of acme."""
    return people.with_token(tokens("ada@acme.example", "members")["IdToken"])


@pytest.fixture(scope="module")
def boss(people, tokens):
    """An admin of acme."""
    return people.with_token(tokens("boss@acme.example", "admins")["IdToken"])


def test_a_member_schedules_finds_and_cancels_in_the_own_tenant_and_name(ada, bench):
    made = ada("POST", "/actions", ERRAND)
    assert made.status == 201, made.text
    assert (made.json["tenant_id"], made.json["created_by"]) == ("acme", "ada@acme.example")
    assert bench.scheduler.get(made.json["id"]).created_by == "ada@acme.example"
    assert ada("GET", f"/actions/{made.json['id']}").json == made.json
    assert ada("DELETE", f"/actions/{made.json['id']}").json["status"] == "cancelled"


def test_the_location_of_an_action_leads_to_it(ada):
    made = ada("POST", "/actions", ERRAND)
    assert made.headers["Location"].endswith(f"/prod/api/v1/actions/{made.json['id']}")


def test_a_type_without_a_worker_is_rejected(ada):
    refused = ada("POST", "/actions", ERRAND | {"type": "no-such"})
    assert (refused.status, refused.json["type"]) == (422, "urn:duetime:problem:unknown-type")


def test_a_viewer_looks_and_changes_nothing(people, tokens):
    viewer = people.with_token(tokens("vic@acme.example", "viewers")["IdToken"])
    assert viewer("GET", "/actions/query").status == 200
    refused = viewer("POST", "/actions", ERRAND)
    assert (refused.status, refused.json["type"]) == (403, "urn:duetime:problem:forbidden")
    assert "actions:manage" in refused.json["detail"]


def test_a_user_without_a_group_has_no_permissions(people, tokens):
    without_roles = people.with_token(tokens("new@acme.example")["IdToken"])
    assert without_roles("GET", "/actions/query").status == 403


def test_another_tenants_action_looks_like_one_that_is_not_there(ada, people, tokens):
    eve = people.with_token(tokens("eve@globex.example", "admins", tenant="globex")["IdToken"])
    made = ada("POST", "/actions", ERRAND).json["id"]
    theirs, none = eve("GET", f"/actions/{made}"), eve("GET", f"/actions/{UNKNOWN}")
    assert (theirs.status, theirs.text.replace(made, UNKNOWN)) == (404, none.text)


def test_an_access_token_is_no_id_token(people, tokens):
    access = tokens("ann@acme.example", "admins")["AccessToken"]
    assert people.with_token(access)("GET", "/me").status == 401


def test_a_missing_or_forged_token_is_rejected(people, tokens):
    header, payload, signature = tokens("fay@acme.example", "viewers")["IdToken"].split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    forged = encoded(claims | {"cognito:groups": ["admins"]})
    assert people("GET", "/me").status == 401
    assert people.with_token(f"{header}.{forged}.{signature}")("GET", "/me").status == 401
    assert people.with_token(f"{encoded({'alg': 'none'})}.{forged}.")("GET", "/me").status == 401


def test_a_token_that_has_expired_is_rejected(people, tokens, directory):
    header, payload, _ = tokens("old@acme.example", "viewers")["IdToken"].split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    key = load_pem_private_key((directory / "state/cognito-rsa-key.pem").read_bytes(), None)

    now = int(SystemClock().now().timestamp())

    def issued(exp):
        signed = f"{header}.{encoded(claims | {'exp': exp})}"
        signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{unpadded(signature)}"

    assert people.with_token(issued(now + 60))("GET", "/me").status == 200
    assert people.with_token(issued(now - 60))("GET", "/me").status == 401


def encoded(document):
    return unpadded(json.dumps(document).encode())


def unpadded(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def test_health_needs_no_sign_in_at_both_urls(people, services):
    for row in (people, services):
        answer = row("GET", "/health")
        assert (answer.status, answer.json["status"]) == (200, "ok")


def test_pages_of_the_console_alone_may_read_answers(people, ada):
    answer = ada("GET", "/me")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://console.example.com"
    arguments = people("OPTIONS", "/actions")
    assert arguments.status in {200, 204}


def assumed(bench, role):
    """The credentials of a role's session; the emulator asks for no role to be there."""
    answer = bench.client("sts").assume_role(
        RoleArn=f"arn:aws:iam::{ACCOUNT}:role/{role}", RoleSessionName="till-4"
    )["Credentials"]
    return Credentials(answer["AccessKeyId"], answer["SecretAccessKey"], answer["SessionToken"])


def test_a_service_that_the_settings_know_signs_and_is_named(bench, services):
    shop = services.signed_by(assumed(bench, "shop"))
    me = shop("GET", "/me").json
    assert (me["tenant_id"], me["actor"], me["roles"]) == ("acme", "shop/till-4", ["operators"])
    made = shop("POST", "/actions", ERRAND)
    assert (made.status, made.json["created_by"]) == (201, "shop/till-4")


def test_a_service_that_the_settings_do_not_know_is_forbidden(bench, services):
    refused = services.signed_by(assumed(bench, "stranger"))("GET", "/me")
    assert (refused.status, refused.json["type"]) == (403, "urn:duetime:problem:forbidden")
    assert "role/stranger" in refused.json["detail"]


def test_a_wrong_signature_or_a_token_in_its_place_is_rejected(bench, services, ada):
    known = assumed(bench, "shop")
    forged = Credentials(known.access_key, "another secret", known.token)
    assert services.signed_by(forged)("GET", "/me").status == 403
    assert services("GET", "/me").status == 403
    assert ApiClient(services.url, ada.headers)("GET", "/me").status == 403


def test_a_grant_at_run_time_applies_and_is_in_the_audit_trail(boss, people, tokens, bench):
    helper = people.with_token(tokens("kim@acme.example", "helpers-of-the-till")["IdToken"])
    assert helper("GET", "/actions/query").status == 403
    granted = boss("PUT", "/grants/helpers-of-the-till", {"permissions": ["actions:manage"]})
    assert (granted.status, granted.json["granted_by"]) == (200, "boss@acme.example")
    bench.eventually(lambda: helper("GET", "/actions/query").status == 200, within=30)
    made = helper("POST", "/actions", ERRAND).json["id"]
    assert helper("DELETE", f"/actions/{made}").status == 200
    trail = boss("GET", "/audit").json["items"]
    report = {(row["operation"], row["target"], row["by"], row["status"]) for row in trail}
    assert ("grant", "grant:helpers-of-the-till", "boss@acme.example", 200) in report
    assert ("cancel", f"action:{made}", "kim@acme.example", 200) in report
    assert not any("of the API" in json.dumps(row) for row in trail)
    assert helper("GET", "/audit").status == 403


@pytest.fixture(scope="module", autouse=True)
def _helpers(bench):
    """A group that the settings give nothing to."""
    boto3.client("cognito-idp").create_group(
        UserPoolId=bench.deployment.outputs["UserPool"], GroupName="helpers-of-the-till"
    )
