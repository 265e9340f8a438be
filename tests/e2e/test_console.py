"""The console of a deployed stack: its page beside the API, and the sign-in by which its page calls that."""

import base64
import hashlib
import json
import re
import urllib.error
import urllib.request
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.e2e.test_api import PASSWORD, Answer, ApiClient, client_of
from tests.e2e.test_api import people as people  # noqa: PLC0414 - fixtures
from tests.e2e.test_api import tokens as tokens  # noqa: PLC0414

pytestmark = pytest.mark.e2e

MAYA = "maya@acme.example"
PROOF = "a-proof-of-43-characters-or-more-that-is-hard-to-guess"


@pytest.fixture(scope="module")
def console(bench):
    """The console's address, as the emulator serves it; what is asked for begins with a slash."""
    return ApiClient(client_of(bench, "Console").url.removesuffix("/"))


@pytest.fixture(scope="module")
def config(console):
    return console("GET", "/config.json").json


@pytest.fixture(scope="module")
def maya(tokens):
    tokens(MAYA, "members")
    return {"username": MAYA, "password": PASSWORD}


@pytest.fixture
def sign_in(bench, config, maya):
    """Signs in as the page has a browser do, by the pool's pages at the emulator.

    The address that one comes back to.
    """
    emulator = bench.client("sqs").meta.endpoint_url
    challenge = base64.urlsafe_b64encode(hashlib.sha256(PROOF.encode()).digest()).rstrip(b"=").decode()

    def come_back(home):
        arguments = {
            "response_type": "code",
            "client_id": config["sign_in"]["client_id"],
            "redirect_uri": home,
            "scope": "openid",
            "state": "s-1",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        form = sent(f"{emulator}/oauth2/authorize?{urlencode(arguments)}")
        return form if form.status != 200 else sent(f"{emulator}/login", arguments | maya)

    return come_back


@pytest.fixture
def redeem(bench, config):
    """What the pool gives for a code."""

    def given(code, home, proof=PROOF):
        arguments = {
            "grant_type": "authorization_code",
            "client_id": config["sign_in"]["client_id"],
            "redirect_uri": home,
            "code": code,
            "code_verifier": proof,
        }
        return sent(f"{bench.client('sqs').meta.endpoint_url}/oauth2/token", arguments)

    return given


class _Stays(urllib.request.HTTPRedirectHandler):
    """Records the redirect, and does not follow it."""

    def redirect_request(self, *_about):
        return None


def sent(url, form=None):
    data = None if form is None else urlencode(form).encode()
    opener = urllib.request.build_opener(_Stays)
    try:
        with opener.open(url, data) as answer:
            return Answer(answer.status, answer.read().decode(), dict(answer.headers))
    except urllib.error.HTTPError as other:
        return Answer(other.code, other.read().decode(), dict(other.headers))


def test_the_page_is_at_the_address_of_the_api_and_runs_its_own_scripts_alone(console, bench, config):
    page = console("GET", "/")
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert f"connect-src 'self' {config['sign_in']['url']};" in policy
    assert bench.deployment.outputs["Api"] == bench.deployment.outputs["Console"] + config["api"]


def test_the_files_that_the_page_names_load(console, bench):
    endpoint = bench.client("sqs").meta.endpoint_url
    names = re.findall(r'(?:src|href)="([^"]+)"', console("GET", "/").text)
    assert len(names) > 1
    assert {sent(f"{endpoint}{name}").status for name in names} == {200}


def test_the_pages_configuration_has_the_client_and_the_sign_in_address(config, bench):
    outputs = bench.deployment.outputs
    region = outputs["UserPool"].partition("_")[0]
    assert config["sign_in"] == {
        "url": outputs["SignIn"],
        "issuer": f"https://cognito-idp.{region}.amazonaws.com/{outputs['UserPool']}",
        "client_id": outputs["UserPoolClient"],
    }
    assert outputs["SignIn"].startswith("https://duetime-")


def test_other_files_are_not_found(console):
    assert console("GET", "/assets/..%2findex.html").status in {403, 404}
    assert console("GET", "/assets/no-such.js").status == 404


def test_sign_in_returns_a_code_that_only_its_verifier_redeems_for_a_token_of_the_api(
    sign_in, redeem, people, bench
):
    home = bench.deployment.outputs["Console"]
    back = sign_in(home)
    assert back.status == 302
    assert back.headers["Location"].startswith(f"{home}?")
    [code] = parse_qs(urlsplit(back.headers["Location"]).query)["code"]
    assert redeem(code, home, proof=PROOF[::-1]).status == 400
    token = json.loads(redeem(code, home).text)["id_token"]
    me = people.with_token(token)("GET", "/me")
    assert (me.status, me.json["tenant_id"], me.json["actor"]) == (200, "acme", MAYA)


def test_sign_in_returns_only_to_the_console(sign_in):
    assert sign_in("https://evil.example/").status == 400
    assert sign_in("https://console.example.com/").status == 302  # the setting console_url
