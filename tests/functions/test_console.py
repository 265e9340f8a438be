"""The console's function answers events of API Gateway."""

import json

import pytest

from duetime.console import BUILT
from duetime.environment import ConsoleEnvironment
from duetime.errors import SettingsError
from duetime.lambdas.console import make_handler
from tests.functions.conftest import Context, sample

PAGES = "https://acme.auth.eu-west-1.amazoncognito.com"
POOL = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Abc"
ENVIRONMENT = ConsoleEnvironment(
    api_prefix="/api/v1", sign_in_url=PAGES, sign_in_issuer=POOL, sign_in_client="4h1cl1ent"
)
PAGE = '<!doctype html><title>duetime</title><script src="assets/app-1a2b.js"></script>'
IMMUTABLE = "public, max-age=31536000, immutable"


@pytest.fixture
def console(tmp_path):
    """Return a function that requests a resource of the API and returns the answer."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "assets/app-1a2b.js").write_text("export {};")
    handler = make_handler(ENVIRONMENT, tmp_path)

    def request(resource="/", *, path=None, headers=None, **parameters):
        event = sample("console") | {"resource": resource, "pathParameters": parameters or None}
        event["headers"] = {**event["headers"], **(headers or {})}
        event["requestContext"]["path"] = path or "/prod" + resource.format(**parameters)
        return handler(event, Context())

    return request


def test_the_page_runs_only_its_own_scripts(console):
    answer = console()
    assert (answer["statusCode"], answer["body"]) == (200, PAGE.replace("assets/", "/prod/assets/"))
    assert answer["headers"]["Content-Type"].startswith("text/html")
    assert answer["headers"]["Cache-Control"] == "no-cache"
    policy = answer["headers"]["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self';" in policy
    assert f"connect-src 'self' {PAGES};" in policy


def test_the_page_reads_the_addresses_of_the_api_and_the_sign_in(console):
    answer = console("/config.json")
    assert json.loads(answer["body"]) == {
        "api": "api/v1",
        "sign_in": {"url": PAGES, "issuer": POOL, "client_id": "4h1cl1ent"},
        "links": [],
        "runbook": None,
    }


def test_browsers_cache_an_asset_because_its_name_contains_its_hash(console):
    answer = console("/assets/{file}", file="app-1a2b.js")
    assert (answer["statusCode"], answer["body"]) == (200, "export {};")
    assert answer["headers"]["Cache-Control"] == IMMUTABLE


@pytest.mark.parametrize(("resource", "file"), [("/", {}), ("/assets/{file}", {"file": "app-1a2b.js"})])
def test_a_client_that_has_a_file_does_not_receive_it_again(console, resource, file):
    answer = console(resource, **file)
    tag = answer["headers"]["ETag"]
    for sent in (tag, f'"x", {tag}', "*"):
        again = console(resource, headers={"if-none-match": sent}, **file)
        assert (again["statusCode"], again["body"], again["headers"]) == (304, "", answer["headers"])
    assert console(resource, headers={"If-None-Match": '"x"'}, **file) == answer


@pytest.mark.parametrize("name", ["app-0000.js", "..", "../index.html", "", "%2e%2e", "a/b.js"])
def test_other_paths_are_not_found(console, name):
    assert console("/assets/{file}", path="/prod/assets/x", file=name)["statusCode"] == 404


def test_the_page_without_its_slash_is_the_same_page(console):
    assert console(path="/prod") == console(path="/prod/")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("/", "/assets/app-1a2b.js"),
        ("/ops", "/ops/assets/app-1a2b.js"),
        ("/teams/ops/", "/teams/ops/assets/app-1a2b.js"),
        ("//evil.example", "/evil.example/assets/app-1a2b.js"),
        ('/"><b>', "/&quot;&gt;&lt;b&gt;/assets/app-1a2b.js"),
    ],
)
def test_the_pages_links_begin_with_the_path_of_the_stage_or_of_a_custom_domain(console, path, source):
    assert f'<script src="{source}">' in console(path=path)["body"]


def test_the_entry_point_needs_only_the_consoles_environment(function, monkeypatch):
    with pytest.raises(SettingsError, match=r"DUETIME_SIGN_IN_URL is missing"):
        function("console")
    for name, value in ENVIRONMENT.to_env().items():
        monkeypatch.setenv(name, value)
    answer = function("console")(sample("console"), Context())
    assert answer["statusCode"] == (200 if (BUILT / "index.html").is_file() else 404)
    monkeypatch.setenv("DUETIME_RUNBOKO", "https://acme.example")
    with pytest.raises(SettingsError, match=r"DUETIME_RUNBOKO .* did you mean DUETIME_RUNBOOK\?"):
        function("console")
