"""Texts of failures show no secret, and stay as they are if they have none."""

import json
from itertools import product
from time import process_time
from urllib.parse import quote

import pytest

from duetime._masking import MASKED, hiding, masked, printable, printable_json
from duetime.errors import MESSAGE_LIMIT, SettingsError, truncate
from duetime.model.redaction import sensitive_values
from duetime.settings import Settings

SECRET = "hunter2Xq"
PAIRS = (
    "password={}",
    "password: {}",
    "DB_PASSWORD='{}'",
    '{{"password": "{}"}}',
    '{{\\"api_key\\": \\"{}\\"}}',
    "token=>{}, next",
    "x-api-key: {}",
    "pa\u017f\u017fword={}",  # an expression that ignores the case admits these letters
    "s\u0131gnature={}",
    "aws_secret_access_key = {}",
    "Authorization: Bearer {}",
    "{{'authorization': 'Basic {}'}}",
    "Cookie: a=b; sid={}",
    "postgres://shop:{}@db:5432/orders",
    "https://example.com/a?token={}&page=2",
    "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\\n{}",
)
TOKENS = (
    "AKIA" + "A1" * 8,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "ghp_" + "a1" * 18,
    "xoxb-" + "12345-abcde",
    "sk_" + "live_" + "a1" * 8,
    "glpat-" + "a1" * 10,
    "AIza" + "a1B-_" * 7,
    *("ASIA" + "A1" * 8, "rk_" + "test_" + "a1" * 8, "sk-" + "a1" * 10, "github_pat_" + "a1" * 10),
    *("xapp-" + "a1" * 8, "ya29." + "a1" * 10, "SG." + "a1" * 15, "npm_" + "a1" * 15, "pypi-" + "a1" * 8),
    *("hf_" + "a1" * 15, "dop_v1_" + "a1" * 20, "shpat_" + "a1" * 15, "whsec_" + "a1" * 10),
)
HARMLESS = (
    "the order o-17 was not found",
    "01939f4c-8d2a-7c3b-9f10-2a6b8c4d5e6f is executed, attempt 3 of 5, 12.5 ms late",
    "billing-nightly.1.20260301T031500Z failed at 2026-03-01T03:15:00.000000Z",
    "SyntaxError: invalid token: expected a name; unexpected token '}' at 7",
    "password is required; the token has expired; secret: not found",
    "basic authentication failed; bearer tokens are accepted",
    "/srv/app/tokens/reader.py:17, C:\\Users\\ada\\secret.txt",
    "connect to db.internal:5432 failed: [Errno 111] Connection refused; see http://127.0.0.1:8080/jobs",
    "arn:aws:iam::123456789012:role/till, sha256:9f86d081884c7d659a2feaa0c55ad015",
    "max_tokens=4096, 3 credentials found, ada@acme.example, 4,096 of 10,000 rows (41%)",
    "KeyError: 'order_id'; {'status': 402, 'retry': True}",
    "é ü 漢字 🙂",
)


def test_a_password_or_token_is_masked_by_its_place():
    for text in PAIRS:
        shown = masked(f"refused: {text.format(SECRET)}")
        assert SECRET not in shown, text
        assert shown.startswith("refused: ")
        assert MASKED in shown
        assert masked(shown) == shown


def test_a_token_is_masked_by_its_form():
    for token in TOKENS:
        assert masked(f"got ({token}) back") == f"got ({MASKED}) back"


def test_a_token_is_masked_after_an_escape_too():
    writers = (repr, json.dumps, lambda text: quote(text, safe=""))
    before = ("a/", "a\n", "a\t", "a\x1b", "a\u2028", "a=")
    for token, write, start in product([*TOKENS, "dt_" + "aB3-_" * 15], writers, before):
        shown = masked(write(start + token))
        assert MASKED in shown, write(start + token)
        assert token not in shown


def test_a_text_without_a_secret_stays_as_it_is():
    for text in HARMLESS:
        assert masked(text) == truncate(text) == text


@pytest.mark.parametrize(
    "value", ["Ada Löwe", "a\"b'c\\d\n", "ada+x@acme.example", "1234", 4111111111111111, "漢字の名"]
)
def test_a_sensitive_value_is_masked_however_it_is_written(value):
    text = str(value)
    spellings = (
        text,
        repr(text),
        repr({"v": value}),
        json.dumps(value),
        json.dumps(value, ensure_ascii=False),
        json.dumps(json.dumps({"v": value})),
        quote(text, safe=""),
        repr(text.encode()),
    )
    for spelling in spellings:
        with hiding(lambda: [value], ()):
            shown = masked(f"bad value <{spelling}>!")
        assert MASKED in shown, spelling
        assert text not in shown
        assert shown.startswith("bad value <")


def test_a_short_value_is_masked_as_a_word_alone():
    with hiding(lambda: ["123", "x", True], ()):
        assert masked("cvv 123 of 91234, x") == f"cvv {MASKED} of 91234, x"
    assert masked("cvv 123") == "cvv 123"


def test_the_values_at_the_sensitive_paths_are_masked_and_all_values_if_a_path_is_not_plain():
    payload = {
        "order": "o-1",
        "cards": [{"number": "4111", "holder": "Ada"}, {"number": 42}],
        "by": {"a": {"number": 7}},
    }
    assert [*sensitive_values(payload, ("cards.number", "by.number"))] == ["4111", 42, 7]
    assert [*sensitive_values({"old": {"a": ["s1", None, True]}, "n": 5}, ("email",))] == ["s1", 5]


@pytest.mark.parametrize("secret", ["AKIA" + "A1" * 8, "value of a field " * 40, "v" * 9_000])
def test_a_secret_at_the_limit_is_masked_before_the_cut(secret):
    for place in range(MESSAGE_LIMIT - 30, MESSAGE_LIMIT + 5):
        with hiding(lambda: [secret], ()):
            shown = truncate("." * place + " " + secret + " end")
        assert secret[:6] not in shown
        assert len(shown) <= MESSAGE_LIMIT


def test_a_text_that_matches_a_pattern_of_the_settings_is_masked():
    settings = Settings(secret_patterns={"customer": "CUST-[0-9]{4,8}"})
    assert Settings.from_env(settings.to_env()).secret_patterns == settings.secret_patterns
    with hiding(lambda: (), settings.secret_patterns.values()):
        assert masked("no CUST-12345, CUST-1") == f"no {MASKED}, CUST-1"


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "a*", "(a|a)b", "[a", "a{2}", "a{1,90}b{1,90}", "x(?=y)z", r"(.)\1abc", "", "a{300}", 5],
)
def test_a_pattern_that_is_invalid_or_may_be_slow_is_rejected(pattern):
    with pytest.raises(SettingsError, match="secret_patterns"):
        Settings(secret_patterns={"mine": pattern})


def test_eleven_patterns_are_rejected():
    with pytest.raises(SettingsError, match="at most 10"):
        Settings(secret_patterns={str(number): "abc" for number in range(11)})


ADVERSARIAL = (
    "eyJ",
    "eyJ-",
    "password",
    "password=",
    "password: a ",
    "://a:",
    "://",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    'token="\\',
    "bearer ",
    "cookie:",
    "sk-",
    "AKIA",
    "a" * 50,
    " \t",
)


def spent(text):
    times = []
    for _ in range(3):
        begun = process_time()
        masked(text)
        times.append(process_time() - begun)
    return min(times)


@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_the_time_grows_with_the_length_of_the_text_alone(unit):
    small, large = unit * (20_000 // len(unit)), unit * (320_000 // len(unit))
    assert spent(large) < 16 * 6 * spent(small) + 0.05


def test_control_characters_are_escapes_in_lines_and_in_json():
    text = "a\x1b[31m\x9b\u202e\u2066\u2028\x7f\ttab\n"
    assert printable(text) == "a\\x1b[31m\\x9b\\u202e\\u2066\\u2028\\x7f\ttab\n"
    written = printable_json(json.dumps([text], ensure_ascii=False, indent=1))
    assert json.loads(written) == [text]
    assert not set(written) & set("\x1b\x9b\u202e\u2066\u2028\x7f")
