"""Which scheduler is asked, and as whom: options, then a profile, then the environment."""

import json
from threading import Lock

import pytest

TOKEN = "e30.e30.signature"


class Seen:
    """What servers were sent."""

    def __init__(self):
        self._lock, self.headers, self.queries, self.paths = Lock(), [], [], []

    def __call__(self, _method, path, query, headers, _body):
        with self._lock:
            self.paths.append(path)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.queries.append(query)
        return 200, "application/json", json.dumps({"items": [], "next_cursor": None})


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    """A machine where nothing is said beside what the test says."""
    for name in ("URL", "TOKEN", "SIGN", "PROFILE", "API_PREFIX"):
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
def seen():
    return Seen()


@pytest.fixture
def served(serve, seen):
    return serve(seen)


@pytest.fixture
def config(tmp_path):
    def write(text):
        (tmp_path / "config.toml").write_text(text)

    return write


@pytest.fixture
def ask(duetime):
    """Lists actions; nothing is said of a URL but by the words."""

    def run(*words):
        return duetime.bare("actions", "list", *words)

    return run


def test_a_token_of_the_environment_is_sent(ask, served, seen, monkeypatch):
    monkeypatch.setenv("DUETIME_TOKEN", TOKEN)
    assert ask("--url", served) == (0, "no actions\n", "")
    assert seen.headers[-1]["authorization"] == TOKEN


def test_a_token_of_the_command_line_comes_before_that_of_the_environment(ask, served, seen, monkeypatch):
    monkeypatch.setenv("DUETIME_TOKEN", "another")
    ask("--url", served, "--token", TOKEN)
    assert seen.headers[-1]["authorization"] == TOKEN


def test_without_a_token_nothing_is_said_of_who_asks(ask, served, seen):
    ask("--url", served)
    assert "authorization" not in seen.headers[-1]


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_request_is_signed_with_the_credentials_of_aws(ask, served, seen, monkeypatch, by):
    if by == "environment":
        monkeypatch.setenv("DUETIME_SIGN", "1")
    status, _, told = ask("--url", served, "--region", "eu-west-1", *(["--sign"] if by == "option" else []))
    assert (status, told) == (0, "")
    written = seen.headers[-1]["authorization"]
    assert written.startswith("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/")
    assert "/eu-west-1/execute-api/aws4_request" in written
    assert "secret" not in written


def test_what_is_signed_is_quoted_as_aws_reads_it(ask, served, seen):
    ask("--url", served, "--sign", "--region", "eu-west-1", "--correlation-id", "a b")
    assert seen.queries[-1]["correlation_id"] == "a b"


def test_no_region_and_no_credentials_are_told_with_the_fix(ask, served, monkeypatch):
    status, _, told = ask("--url", served, "--sign")
    assert status == 1
    assert "pass --region, or set AWS_REGION" in told
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    status, _, told = ask("--url", served, "--sign", "--region", "eu-west-1")
    assert status == 1
    assert "sign in to AWS" in told


def test_an_address_of_api_gateway_is_signed_for_unless_there_is_a_token():
    from duetime.cli.connection import connect  # noqa: PLC0415 - a client is made, and asks nobody
    from duetime.cli.main import parser  # noqa: PLC0415

    url = "https://a1b2c3.execute-api.eu-west-1.amazonaws.com/prod"
    unsaid = connect(parser().parse_args(["actions", "list", "--url", url]))
    assert (unsaid.signs, unsaid.token) == (True, None)
    said = connect(parser().parse_args(["actions", "list", "--url", url, "--token", TOKEN]))
    assert (said.signs, said.token) == (False, TOKEN)


@pytest.mark.parametrize("words", [("--token", TOKEN), ("--sign",)])
def test_no_secret_goes_unencrypted(ask, words):
    status, _, told = ask("--url", "http://scheduler.example", *words)
    assert status == 2
    assert "goes to https:// alone" in told
    assert TOKEN not in told


def test_a_token_follows_no_redirect(ask, serve, seen, served):
    class Moved:
        def __call__(self, *_asked):
            return 302, "text/plain", ""

    url = serve(Moved())
    status, _, told = ask("--url", url, "--token", TOKEN)
    assert status == 1
    assert "answers 302" in told
    assert seen.headers == []


def test_a_token_and_a_signature_exclude_each_other(ask, served):
    status, _, told = ask("--url", served, "--sign", "--token", TOKEN)
    assert (status, told) == (2, "duetime: use --token or --sign, not both\n")


@pytest.mark.parametrize(
    ("status", "words", "fix"),
    [
        (401, ("--token", TOKEN), "sign in again, and set the new ID token"),
        (401, ("--sign", "--region", "eu-west-1"), "sign in to AWS again"),
        (429, (), "wait a second, and repeat it"),
    ],
)
def test_what_api_gateway_refuses_is_told_with_the_fix(ask, serve, status, words, fix):
    problem = {"type": "urn:duetime:problem:refused", "title": "No", "status": status, "detail": "Not so"}
    url = serve(lambda *_: (status, "application/problem+json", json.dumps(problem)))
    ended, _, told = ask("--url", url, *words)
    assert ended == 1
    assert told.startswith(f"duetime: Not so: {fix}")
    assert TOKEN not in told


def test_a_profile_says_where_and_as_whom(ask, served, seen, config):
    config(f'[profiles.dev]\nurl = "{served}"\ntenant = "globex"\nsign = true\nregion = "eu-west-1"\n')
    assert ask("--profile", "dev") == (0, "no actions\n", "")
    assert seen.headers[-1]["x-duetime-tenant"] == "globex"
    assert seen.headers[-1]["authorization"].startswith("AWS4-HMAC-SHA256 ")


def test_a_prefix_that_the_deployment_chose_is_said_by_the_profile_or_the_environment(
    ask, served, seen, config, monkeypatch
):
    config(f'[profiles.dev]\nurl = "{served}/stage/admin/v2"\nprefix = "/admin/v2"\n')
    assert ask("--profile", "dev")[0] == 0
    monkeypatch.setenv("DUETIME_API_PREFIX", "/clock")
    assert ask("--url", served)[0] == 0
    assert seen.paths == ["/stage/admin/v2/scheduling/query", "/clock/scheduling/query"]


def test_a_profile_of_the_environment_gives_way_to_a_url_that_is_typed(ask, served, config, monkeypatch):
    config('[profiles.dev]\nurl = "http://127.0.0.1:1"\n')
    monkeypatch.setenv("DUETIME_PROFILE", "dev")
    assert ask()[0] == 1
    assert ask("--url", served)[0] == 0


def test_a_profile_comes_before_the_url_of_the_environment(ask, served, config, monkeypatch):
    config(f'[profiles.dev]\nurl = "{served}"\n')
    monkeypatch.setenv("DUETIME_URL", "http://127.0.0.1:1")
    assert ask()[0] == 1
    assert ask("--profile", "dev")[0] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[profiles.prod]\nurl = "x"\n[profiles.test]\nurl = "y"',
            "has no profile 'dev'; it has: prod, test",
        ),
        ("", "it has: none"),
        ("[profiles", "is no TOML"),
        ('[profiles.dev]\nurl = "x"\ntoken = "t"', "may have url, sign, region, tenant, user, prefix"),
        ('[profiles.dev]\nurl = "x"\nsign = "yes"', "sign is true or false"),
        ("[profiles.dev]\nsign = true", "needs a url"),
    ],
)
def test_a_profile_that_cannot_be_had_is_bad_usage(ask, config, text, told):
    config(text)
    status, _, line = ask("--profile", "dev")
    assert status == 2
    assert told in line
    assert line.count("\n") == 1


def test_a_profile_without_a_file_is_bad_usage(ask):
    status, _, line = ask("--profile", "dev")
    assert status == 2
    assert "cannot be read: No such file or directory" in line


def test_a_switch_that_cannot_be_read_is_told(ask, served, monkeypatch):
    monkeypatch.setenv("DUETIME_SIGN", "perhaps")
    status, _, line = ask("--url", served)
    assert status == 1
    assert "DUETIME_SIGN is 'perhaps'" in line


def test_the_next_page_is_pasted_with_the_profile_and_without_the_token(duetime, config):
    config(f'[profiles.dev]\nurl = "{duetime.url}"\n')
    for _ in range(2):
        duetime.json("schedule", "remark", "--in", "1d")
    _, printed, _ = duetime.bare("actions", "list", "--limit", "1", "--profile", "dev", "--token", TOKEN)
    *_, more = printed.splitlines()
    assert more.endswith("--profile dev")
    assert TOKEN not in more


def test_the_url_that_the_stack_tells_is_the_one_to_say(duetime):
    assert duetime("actions", "list", url=f"{duetime.url}/api/v1/") == (0, "no actions\n", "")
