"""Cadences from text: ``daily 09:00 days=mon-fri tz=Europe/Paris``, or a bare cron expression.

The words are those of the Python functions. :func:`read_text` reads each ``Cadence.text``, and spellings that
people type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from duetime._english import counted
from duetime.cadence.cadence import Cadence
from duetime.cadence.calendars import Calendar
from duetime.cadence.errors import InvalidCadence, did_you_mean
from duetime.cadence.source_positions import (
    Part,
    SourceToken,
    locate_error,
    option_from,
    split_words,
)
from duetime.cadence.words import PLAIN, is_plain

_COMMON = frozenset(
    {"tz", "default_tz", "dst", "days", "months", "weeks", "window", "calendar"}
    | {"start", "end", "count", "except_at", "spread"}
)
_OF_DAYS = _COMMON | {"offset"}


class _CadenceKind(NamedTuple):
    """A kind of cadence.

    Attributes:
        module: holds the function of this name.
        words: what errors call the words after the kind; None for any number of words.
        example: a valid text.
        options: the names of its options.
    """

    module: str
    words: tuple[str, ...] | None
    example: str
    options: frozenset[str]


_KINDS = {
    "cron": _CadenceKind("crontab", None, "cron 30 2 * * *", _OF_DAYS | {"day_rule"}),
    "daily": _CadenceKind("_daily", ("time",), "daily 09:00", _OF_DAYS),
    "every": _CadenceKind("_every", ("length",), "every 10m", _COMMON | {"anchor", "at"}),
    "interval": _CadenceKind("_interval", ("length",), "interval 7m", _COMMON - {"dst"}),
    "weekly": _CadenceKind(
        "_weekly", ("weekly", "time"), "weekly mon,fri 06:00", _OF_DAYS | {"every", "anchor"}
    ),
    "monthly": _CadenceKind(
        "months", ("monthly", "time"), "monthly 1,last 00:30", _OF_DAYS | {"every", "anchor"}
    ),
    "nth_weekday": _CadenceKind(
        "months", ("nth_weekday", "weekday", "time"), "nth_weekday first mon 06:00", _OF_DAYS
    ),
    "business_day": _CadenceKind(
        "business_days",
        ("business_day", "time"),
        "business_day 3,last 09:00",
        _OF_DAYS | {"every", "anchor"},
    ),
    "yearly": _CadenceKind(
        "_yearly", ("yearly", "time"), "yearly 01-01,06-30 09:00", _OF_DAYS | {"every", "anchor"}
    ),
    "once": _CadenceKind("_once", ("once",), "once 2027-06-01T09:00", frozenset({"tz", "default_tz", "dst"})),
    "on_event": _CadenceKind(
        "triggers",
        ("source", "type"),
        "on_event orders OrderPlaced",
        frozenset({"match", "tenant", "no_tenant", "default_tz"}),
    ),
    "manual": _CadenceKind("triggers", (), "manual", frozenset({"default_tz"})),
}


def read_text(text: str) -> Cadence:
    """Return the cadence of a text; a text that begins with no kind is a cron expression.

    Raises:
        InvalidCadence: the text is no cadence; a caret marks the mistake.
    """
    kind, words, options = _split(text)
    parts = [*words, *(option for option in options if option.label != "default_tz")]
    default_tz = [option for option in options if option.label == "default_tz"]
    try:
        cadence = _build(
            kind,
            [word.value for word in words],
            {part.label: part.value for part in parts if not part.is_word},
        )
    except InvalidCadence as error:
        raise locate_error(error, text, parts) from None
    try:
        return cadence.with_default_tz(default_tz[0].value) if default_tz else cadence
    except InvalidCadence as error:
        raise locate_error(error, text, [option._replace(label="tz") for option in default_tz]) from None


def _split(text: str) -> tuple[str, list[Part], list[Part]]:
    tokens = split_words(text)
    _check_separators(text, tokens)
    kind = tokens[0].text.lower().replace("-", "_") if tokens else "cron"
    if kind in _KINDS:
        tokens = tokens[1:]
    elif tokens and tokens[0].text[0].isalpha() and "=" not in tokens[0].text:
        raise InvalidCadence(
            text,
            f"there is no cadence {tokens[0].text[:20]!r}",
            did_you_mean(kind, _KINDS) or f"use one of {', '.join(_KINDS)}, or a cron expression",
            start=tokens[0].start,
            width=len(tokens[0].text),
        )
    else:
        kind = "cron"
    known = _KINDS[kind]
    if kind == "once" and len(tokens) > 1 and "=" not in tokens[1].text:
        day, time = tokens[:2]
        tokens[:2] = [SourceToken(f"{day.text}T{time.text}", day.start, time.end)]
    words = [token for token in tokens if not _is_option(token)]
    if known.words is not None and len(known.words) != len(words):
        raise InvalidCadence(
            text,
            f"{kind} takes {counted(len(known.words), 'word')}, not {len(words)}",
            f"write it as in {known.example}",
        )
    labels = known.words or [kind] * len(words)
    options = [option_from(token) for token in tokens if _is_option(token)]
    _check_options(text, options, kind, known.options)
    return kind, [Part(label, *word, word.start) for label, word in zip(labels, words, strict=True)], options


def _check_separators(text: str, tokens: Sequence[SourceToken]) -> None:
    """Reject other white space than spaces and line ends, such as a no-break space from a web page."""
    is_word = [False] * len(text)
    for token in tokens:
        is_word[token.start : token.end] = [True] * (token.end - token.start)
    for at, char in enumerate(text):
        if not is_word[at] and not is_plain(char):
            problem = f"{char!r} is not {PLAIN}"
            raise InvalidCadence(text, problem, "separate words by spaces", start=at, width=1)


def _is_option(token: SourceToken) -> bool:
    return token.text.partition("=")[0].replace("_", "").isalpha() and "=" in token.text


def _check_options(text: str, options: Sequence[Part], kind: str, allowed: frozenset[str]) -> None:
    for index, (key, value, _, end, begins) in enumerate(options):
        is_repeated = any(option.label == key for option in options[:index])
        if key not in allowed or is_repeated or not value:
            problem = (
                f"{kind}: {key}= is given twice" if is_repeated else f"{kind}: it takes no {key}={value}"[:60]
            )
            remedy = f"its options are {', '.join(sorted(allowed))}" if allowed else "it takes no options"
            raise InvalidCadence(text, problem, remedy, start=begins, width=end - begins)


def _build(kind: str, words: list[str], options: dict[str, str]) -> Cadence:
    arguments: dict[str, Any] = {key: _READERS.get(key, str)(value) for key, value in options.items()}
    if kind == "cron":
        from duetime.cadence.crontab import Cron  # noqa: PLC0415 - imported when first used, like every kind

        return Cron.from_expression(" ".join(words), **arguments)
    declare: Callable[..., Cadence] = getattr(import_module(f"duetime.cadence.{_KINDS[kind].module}"), kind)
    function = getattr(declare, "__wrapped__", declare)  # a stored text may no longer be declarable
    if kind in ("every", "interval"):
        return _build_spaced(function, words[0], arguments)
    if kind == "on_event":
        words = [_json(word, kind) if word[0] == '"' else word for word in words]
    return function(*words, **arguments)


def _build_spaced(function: Callable[..., Any], length: str, arguments: dict[str, Any]) -> Cadence:
    """Return an ``every`` or ``interval``, whose length of time is one word."""
    from duetime.cadence.durations import seconds_in  # noqa: PLC0415

    cadence: Cadence = function(seconds=seconds_in(length), **arguments)
    return cadence


def _calendar(value: str) -> Calendar:
    from duetime.cadence.options import parse_calendar  # noqa: PLC0415

    return parse_calendar(value)


def _number(value: str, option: str = "every") -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 6:  # noqa: PLR2004 - more than any count in use
        raise InvalidCadence(value, f"{option}: not a number", f"write it as in {option}=2")
    return int(value)


def _json(value: str, option: str = "match") -> Any:
    import json  # noqa: PLC0415

    try:
        return json.loads(value, object_pairs_hook=_unique)
    except ValueError:
        example = 'match={"kind":["invoice"]}' if option == "match" else '"a\\u0020name"'
        problem = f"{option}: not JSON, or with a key twice"
        raise InvalidCadence(value, problem, f"write it as in {example}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError
    return found


_READERS: dict[str, Callable[[str], object]] = {
    "calendar": _calendar,
    "count": lambda value: _number(value, "count"),
    "every": _number,
    "match": _json,
}
