"""Which scheduler the commands call, and as which caller: options, then a profile, then the environment."""

import json
from threading import Lock

import pytest

TOKEN = "e30.e30.signature"


class Requests:
    """Records the requests that servers received."""

    def __init__(self):
        self._lock, self.headers, self.queries, self.paths = Lock(), [], [], []

    def __call__(self, _method, path, query, headers, _body):
        with self._lock:
            self.paths.append(path)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.queries.append(query)
        return 200, "application/json", json.dumps({"items": [], "next_cursor": None})


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """An environment without any configuration but the test's."""
    for name in ("URL", "TOKEN", "SIGN", "PROFILE", "API_PREFIX", "TIMEOUT"):
        monkeypatch.delenv(f"DUETIME_{name}", raising=False)
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DUETIME_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.fixture
def requests():
    return Requests()


@pytest.fixture
def served(serve, requests):
    return serve(requests)


@pytest.fixture
def config(tmp_path):
    def write(text):
        (tmp_path / "config.toml").write_text(text)

    return write


@pytest.fixture
def list_actions(duetime):
    """Return a function that lists actions with the given options only."""

    def run(*words):
        return duetime.bare("actions", "list", *words)

    return run


def test_the_token_of_the_environment_is_sent(list_actions, served, requests, monkeypatch):
    monkeypatch.setenv("DUETIME_TOKEN", TOKEN)
    assert list_actions("--url", served) == (0, "no actions\n", "")
    assert requests.headers[-1]["authorization"] == TOKEN


def test_the_token_option_overrides_the_environment(list_actions, served, requests, monkeypatch):
    monkeypatch.setenv("DUETIME_TOKEN", "another")
    list_actions("--url", served, "--token", TOKEN)
    assert requests.headers[-1]["authorization"] == TOKEN


def test_a_request_without_a_token_has_no_authorization_header(list_actions, served, requests):
    list_actions("--url", served)
    assert "authorization" not in requests.headers[-1]


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_request_is_signed_with_the_credentials_of_aws(list_actions, served, requests, monkeypatch, by):
    if by == "environment":
        monkeypatch.setenv("DUETIME_SIGN", "1")
    status, _, errors = list_actions(
        "--url", served, "--region", "eu-west-1", *(["--sign"] if by == "option" else [])
    )
    assert (status, errors) == (0, "")
    written = requests.headers[-1]["authorization"]
    assert written.startswith("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/")
    assert "/eu-west-1/execute-api/aws4_request" in written
    assert "secret" not in written


def test_the_signature_covers_the_query_as_aws_quotes_it(list_actions, served, requests):
    list_actions("--url", served, "--sign", "--region", "eu-west-1", "--correlation-id", "a b")
    assert requests.queries[-1]["correlation_id"] == "a b"


def test_missing_region_and_credentials_are_errors_with_a_fix(list_actions, served, monkeypatch):
    status, _, errors = list_actions("--url", served, "--sign")
    assert status == 1
    assert "pass --region, or set AWS_REGION" in errors
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    status, _, errors = list_actions("--url", served, "--sign", "--region", "eu-west-1")
    assert status == 1
    assert "sign in to AWS" in errors


def test_requests_to_api_gateway_are_signed_unless_there_is_a_token():
    from duetime.cli.client import client_of  # noqa: PLC0415 - a client is made, and sends nothing
    from duetime.cli.main import parser  # noqa: PLC0415

    url = "https://a1b2c3.execute-api.eu-west-1.amazonaws.com/prod"
    without_token = client_of(parser().parse_args(["actions", "list", "--url", url]))
    assert (without_token.signs, without_token.token) == (True, None)
    with_token = client_of(parser().parse_args(["actions", "list", "--url", url, "--token", TOKEN]))
    assert (with_token.signs, with_token.token) == (False, TOKEN)


@pytest.mark.parametrize("words", [("--token", TOKEN), ("--sign",)])
def test_secrets_need_https(list_actions, words):
    status, _, errors = list_actions("--url", "http://scheduler.example", *words)
    assert status == 2
    assert "are sent to https:// only" in errors
    assert TOKEN not in errors


def test_a_token_is_not_sent_to_a_redirect(list_actions, serve, requests, served):
    url = serve(lambda *_request: (302, "text/plain", ""))
    status, _, errors = list_actions("--url", url, "--token", TOKEN)
    assert status == 1
    assert "answers 302" in errors
    assert requests.headers == []


def test_a_token_and_a_signature_exclude_each_other(list_actions, served):
    status, _, errors = list_actions("--url", served, "--sign", "--token", TOKEN)
    assert (status, errors) == (2, "duetime: use --token or --sign, not both\n")


@pytest.mark.parametrize(
    ("status", "words", "fix"),
    [
        (401, ("--token", TOKEN), "sign in again, and set the new ID token"),
        (401, ("--sign", "--region", "eu-west-1"), "sign in to AWS again"),
        (429, (), "wait a second, and repeat it"),
    ],
)
def test_a_rejection_by_api_gateway_is_printed_with_a_fix(list_actions, serve, status, words, fix):
    problem = {"type": "urn:duetime:problem:refused", "title": "No", "status": status, "detail": "Not so"}
    url = serve(lambda *_: (status, "application/problem+json", json.dumps(problem)))
    ended, _, errors = list_actions("--url", url, *words)
    assert ended == 1
    assert errors.startswith(f"duetime: Not so: {fix}")
    assert TOKEN not in errors


def test_a_profile_sets_the_url_and_the_caller(list_actions, served, requests, config):
    config(f'[profiles.dev]\nurl = "{served}"\ntenant = "globex"\nsign = true\nregion = "eu-west-1"\n')
    assert list_actions("--profile", "dev") == (0, "no actions\n", "")
    assert requests.headers[-1]["x-duetime-tenant"] == "globex"
    assert requests.headers[-1]["authorization"].startswith("AWS4-HMAC-SHA256 ")


def test_the_profile_or_the_environment_sets_the_api_prefix(
    list_actions, served, requests, config, monkeypatch
):
    config(f'[profiles.dev]\nurl = "{served}/stage/admin/v2"\nprefix = "/admin/v2"\n')
    assert list_actions("--profile", "dev")[0] == 0
    monkeypatch.setenv("DUETIME_API_PREFIX", "/clock")
    assert list_actions("--url", served)[0] == 0
    assert requests.paths == ["/stage/admin/v2/actions/query", "/clock/actions/query"]


def test_the_url_option_overrides_the_profile_of_the_environment(list_actions, served, config, monkeypatch):
    config('[profiles.dev]\nurl = "http://127.0.0.1:1"\n')
    monkeypatch.setenv("DUETIME_PROFILE", "dev")
    assert list_actions()[0] == 1
    assert list_actions("--url", served)[0] == 0


def test_a_profile_overrides_the_url_of_the_environment(list_actions, served, config, monkeypatch):
    config(f'[profiles.dev]\nurl = "{served}"\n')
    monkeypatch.setenv("DUETIME_URL", "http://127.0.0.1:1")
    assert list_actions()[0] == 1
    assert list_actions("--profile", "dev")[0] == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[profiles.prod]\nurl = "x"\n[profiles.test]\nurl = "y"',
            "has no profile 'dev'; it has: prod, test",
        ),
        ("", "it has: none"),
        ("[profiles", "is not TOML"),
        ('[profiles.dev]\nurl = "x"\ntoken = "t"', "may have url, sign, region, tenant, user, prefix"),
        ('[profiles.dev]\nurll = "x"', "has no key 'urll'; did you mean 'url'?"),
        ('profile = "dev"', "has no key 'profile'; did you mean 'profiles'?"),
        ('urll = "x"\n[profiles.dev]\nurl = "x"', "has no key 'urll'; it may have profiles"),
        ('[profiles.dev]\nurl = "x"\nsign = "yes"', "sign is true or false"),
        ("[profiles.dev]\nsign = true", "needs a url"),
    ],
)
def test_an_invalid_profile_is_bad_usage(list_actions, config, text, expected):
    config(text)
    status, _, line = list_actions("--profile", "dev")
    assert status == 2
    assert expected in line
    assert line.count("\n") == 1


def test_a_profile_without_a_configuration_file_is_bad_usage(list_actions):
    status, _, line = list_actions("--profile", "dev")
    assert status == 2
    assert "cannot be read: No such file or directory" in line


def test_an_invalid_boolean_in_the_environment_is_an_error(list_actions, served, monkeypatch):
    monkeypatch.setenv("DUETIME_SIGN", "perhaps")
    status, _, line = list_actions("--url", served)
    assert status == 1
    assert "DUETIME_SIGN is 'perhaps'" in line


def test_the_command_for_the_next_page_has_the_profile_and_no_token(duetime, config):
    config(f'[profiles.dev]\nurl = "{duetime.url}"\n')
    for _ in range(2):
        duetime.json("schedule", "remark", "--in", "1d")
    _, printed, _ = duetime.bare("actions", "list", "--limit", "1", "--profile", "dev", "--token", TOKEN)
    *_, more = printed.splitlines()
    assert more.endswith("--profile dev")
    assert TOKEN not in more


def test_the_url_of_the_stack_output_works(duetime):
    assert duetime("actions", "list", url=f"{duetime.url}/api/v1/") == (0, "no actions\n", "")
