"""Mask secrets in the texts of failures, and escape control characters. Pure; imports nothing of duetime.

`duetime.errors.truncate` masks every text before it cuts it, so a secret is never cut in its middle. Three
kinds of text are masked:

- the values of a payload's sensitive fields, within `hiding`;
- likely keys and tokens: AWS keys, JWTs, ``Authorization`` headers, passwords in URLs, private keys, tokens
  with a vendor's prefix or duetime's own, and pairs such as ``password=…``;
- what matches the setting `secret_patterns`, within `hiding`.

Each expression takes a time proportional to the text: a repeat is bounded, or nothing can fail after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import NamedTuple

MASKED = "[redacted]"
"""In place of a secret; a masked text stays as it is when it is masked again."""

_LEAST = 3
"""Characters of the shortest value that is masked: a shorter one is in every text."""
_ALONE_BELOW = 6
"""Characters below which a value is masked only where it is a word."""
_PIECE = 4_096
"""Characters of a value that are masked as one; a longer value is masked in pieces."""
_MOST_VALUES = 500
_WINDOW = 16_384
"""Characters beyond a text's limit that are searched, so that a secret at the limit is found."""


class _Hidden:
    """What a block hides; its values are read at the first text."""

    def __init__(self, values: Callable[[], Iterable[object]], patterns: Sequence[str]) -> None:
        self.needles, self.patterns = cache(lambda: _needles(tuple(values()))), patterns


_hidden: ContextVar[_Hidden | None] = ContextVar("what the present run hides", default=None)


@contextmanager
def hiding(values: Callable[[], Iterable[object]], patterns: Iterable[str]) -> Iterator[None]:
    """Mask these values and patterns too, within the block; the values are read at the first text."""
    token = _hidden.set(_Hidden(values, tuple(patterns)))
    try:
        yield
    finally:
        _hidden.reset(token)


def masked(text: str, limit: int | None = None) -> str:
    """Return the text without secrets; with a `limit`, no more of it than that and a margin is searched."""
    hidden = _hidden.get()
    needles = () if hidden is None else hidden.needles()
    if limit is not None:
        text = text[: limit + _WINDOW + max(map(len, needles), default=0)]
    for needle in needles:
        text = _without(text, needle)
    for pattern in () if hidden is None else hidden.patterns:
        text = re.sub(pattern, MASKED, text)
    return _without_tokens(text)


@cache
def _needles(values: tuple[object, ...]) -> tuple[str, ...]:
    """Return every spelling of the values, the longest first."""
    pieces = (piece for value in values[:_MOST_VALUES] for piece in _pieces(str(value)))
    found = {spelling for piece in pieces for spelling in _spellings(piece)}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _pieces(text: str) -> Iterator[str]:
    yield from (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _spellings(text: str) -> Iterator[str]:
    """Yield a value as it is in a text, a `repr`, JSON, a URL, and one of these within another."""
    import json  # noqa: PLC0415 - for the cold start: only sensitive values need these
    from urllib.parse import quote, quote_plus  # noqa: PLC0415

    if len(text) < _LEAST:
        return
    once = {text, repr(text)[1:-1], repr(text.encode(errors="replace"))[2:-1], json.dumps(text)[1:-1]}
    once |= {json.dumps(text, ensure_ascii=False)[1:-1], text.replace('"', '\\"'), text.replace("'", "\\'")}
    encoded = {quote(text, safe="", errors="replace"), quote(text, errors="replace")}
    encoded.add(quote_plus(text, errors="replace"))
    yield from once
    yield from encoded
    yield from (re.sub("%..", lambda found: found[0].lower(), spelling) for spelling in encoded)
    yield from (json.dumps(spelling)[1:-1] for spelling in once)
    yield from (repr(spelling)[1:-1] for spelling in once)


def _without(text: str, needle: str) -> str:
    if needle not in text:
        return text
    if len(needle) >= _ALONE_BELOW:
        return text.replace(needle, MASKED)
    return re.sub(rf"(?<![^\W_]){re.escape(needle)}(?![^\W_])", MASKED, text)


_HAND_OVER = "dt_[A-Za-z0-9_-]{60,}"
"""The token of a hand-over, the only secret that duetime mints; see `duetime.model.hand_over_token`."""
_PREFIXES = {
    **dict.fromkeys(("AKIA", "ASIA"), "[A-Z0-9]{16}"),
    "eyJ": "[A-Za-z0-9_.-]{20,}",
    **dict.fromkeys(("sk_", "rk_", "pk_"), "(?:live|test)_[A-Za-z0-9]{10,}"),
    "sk-": "[A-Za-z0-9_-]{20,}",
    "gh": "[pousr]_[A-Za-z0-9]{30,}",
    "github_pat_": "[A-Za-z0-9_]{20,}",
    "gl": "(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{16,}",
    "xox": "[abeoprs]-[A-Za-z0-9-]{10,}",
    "xapp-": "[A-Za-z0-9-]{10,}",
    "AIza": "[A-Za-z0-9_-]{35}",
    "ya29.": "[A-Za-z0-9_-]{20,}",
    "SG.": "[A-Za-z0-9_.-]{30,}",
    "npm_": "[A-Za-z0-9]{30,}",
    "pypi-": "[A-Za-z0-9_-]{16,}",
    "hf_": "[A-Za-z0-9]{30,}",
    "dop_v1_": "[a-f0-9]{40,}",
    "shp": "(?:at|ca|pa|ss)_[a-fA-F0-9]{30,}",
    "whsec_": "[A-Za-z0-9+/=]{20,}",
}
"""The beginnings of tokens, each with the expression of the rest."""
_KEYS = {
    "pass": "(?:word|wd|phrase)",
    **dict.fromkeys(("api", "access", "private"), "[_-]?key"),
    "credential": "s?",
    "session": "[_-]?id",
    **dict.fromkeys(("pwd", "secret", "token", "signature", "authorization", "cookie"), ""),
}
"""The beginnings of the names of secrets, each with the expression of the rest."""
_PROSE = (
    "a an and at bad cannot denied does empty expected expired false for from has invalid is malformed"
    " missing must no none not null of or required revoked the to too true unexpected unknown unset was wrong"
)
_SCHEMES = "bearer|basic|digest|negotiate|token|aws4-hmac-sha256"


class _Expressions(NamedTuple):
    private_key: re.Pattern[str]
    url: re.Pattern[str]
    cookie: re.Pattern[str]
    scheme: re.Pattern[str]
    pair: re.Pattern[str]
    prefixed: re.Pattern[str]


@cache
def _expressions() -> _Expressions:
    """Compile the expressions at the first failure: a cold start needs none."""
    return _Expressions(
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----"
            r"[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\Z)"
        ),
        re.compile(r"(://[^\s/:@?#\"']{0,256}:)[^\s/@?#\"']{1,256}(?=@)"),
        re.compile(r"(?i)\b(cookie2?:[ \t]{0,4})[^\r\n]{1,4096}"),
        re.compile(rf"(?i)\b((?:{_SCHEMES})[ \t]{{1,4}})([A-Za-z0-9._~+/=-]{{6,4096}})"),
        re.compile(
            rf"(?i)((?:{_any_of(_KEYS)})(?:\\{{0,3}}[\"'])?\s{{0,4}})([:=]>?)(\s{{0,4}})"
            rf"(?:((?:{_SCHEMES})\s{{1,4}}))?"
            r"(?:"
            r"(?P<quote>[\"'])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\n]){1,4096})"
            r"|(?P<escape>\\{1,3}[\"'])(?P<nested>[^\\\"'\n]{1,4096})"
            r"|(?P<bare>[^\s\\\"',;&<>(){}\[\]][^\s\\\"',;&<>(){}\[\]]{0,4095})"
            r")"
        ),
        re.compile(  # not within a word, but after an escape such as %2F
            rf"{_HAND_OVER}|(?:(?<![A-Za-z0-9])|(?<=%[\dA-Fa-f]{{2}})|(?<=\\[abfnrtv0])"
            rf"|(?<=\\x[\dA-Fa-f]{{2}})|(?<=\\u[\dA-Fa-f]{{4}}))(?:{_any_of(_PREFIXES)})"
        ),
    )


def _any_of(starts: Mapping[str, str]) -> str:
    return "|".join(f"{re.escape(start)}{rest}" for start, rest in starts.items())


def _without_tokens(text: str) -> str:
    """Search only texts that have the beginning of a name or a token: most have none."""
    expressions, folded = _expressions(), _folded(text)
    text = expressions.private_key.sub(MASKED, text)
    text = expressions.url.sub(rf"\1{MASKED}", text)
    if "cookie" in folded:
        text = expressions.cookie.sub(rf"\1{MASKED}", text)
    if any(name in folded for name in _KEYS):
        text = expressions.pair.sub(_pair, text)
    if any(scheme in folded for scheme in _SCHEMES.split("|")):
        text = expressions.scheme.sub(_scheme, text)
    if "dt_" in text or any(start in text for start in _PREFIXES):
        text = expressions.prefixed.sub(MASKED, text)
    return text


def _folded(text: str) -> str:
    """Return the text in small letters, as an expression that ignores the case compares them."""
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")


def _scheme(found: re.Match[str]) -> str:
    """Mask credentials after their scheme; a word, as in "basic authentication", is none."""
    return found[0] if found[2].isalpha() and found[2].islower() else found[1] + MASKED


def _pair(found: re.Match[str]) -> str:
    parts = found.groupdict()
    before = found[1] + found[2] + found[3] + (found[4] or "")
    if parts["quoted"] is not None:
        return before + parts["quote"] + MASKED
    if parts["nested"] is not None:
        return before + parts["escape"] + MASKED
    return found[0] if _is_prose(found, parts["bare"]) else before + MASKED


def _is_prose(found: re.Match[str], value: str) -> bool:
    """Return whether a value is a word of a sentence, as in "invalid token: expected a name"."""
    word = value.rstrip(".!?:")
    if word.lower() in {*_PROSE.split(), *_SCHEMES.split("|")}:
        return True
    goes_on = found.string[found.end() : found.end() + 2].strip()[:1].isalpha()
    return found[2] == ":" and bool(found[3]) and not found[4] and word.isalpha() and goes_on


def without_tokens(text: str) -> str:
    """Return a text, such as a handler's own log line, without the tokens of hand-overs."""
    return re.sub(_HAND_OVER, MASKED, text) if "dt_" in text else text


_UNSEEN = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))},
    **{
        code: f"\\u{code:04x}"
        for code in (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    },
    0xFEFF: "\\ufeff",
}
"""Control characters, line separators, and marks that change the direction of the text after them."""
_LINES: Mapping[int, str] = {code: text for code, text in _UNSEEN.items() if chr(code) not in "\n\t"}
_IN_JSON: Mapping[int, str] = {code: f"\\u{code:04x}" for code in _UNSEEN if chr(code) not in "\n\t\r"}


def printable(text: str) -> str:
    """Return a text of several lines with its control characters as escapes."""
    return text.translate(_LINES)


def printable_json(text: str) -> str:
    """Return the same JSON with the control characters that JSON allows as escapes."""
    return text.translate(_IN_JSON)
