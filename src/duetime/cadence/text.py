"""Cadences from text: ``daily 09:00 days=mon-fri tz=Europe/Paris``, or a bare cron expression.

The words are those of the Python functions. :func:`read_text` reads each ``Cadence.text``, and spellings that
people type. Its errors have the position of the mistake: the text is split into parts, and one is invalid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from duetime._english import counted
from duetime.cadence.cadence import Cadence
from duetime.cadence.calendars import Calendar
from duetime.cadence.errors import InvalidCadence, NeverFires, UnknownZone, did_you_mean
from duetime.cadence.words import PLAIN, is_plain, seconds_in

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
    "every": _CadenceKind("_spaced", ("length",), "every 10m", _COMMON | {"anchor", "at"}),
    "interval": _CadenceKind("_spaced", ("length",), "interval 7m", _COMMON - {"dst"}),
    "weekly": _CadenceKind(
        "weeks_and_months", ("weekly", "time"), "weekly mon,fri 06:00", _OF_DAYS | {"every", "anchor"}
    ),
    "monthly": _CadenceKind(
        "weeks_and_months", ("monthly", "time"), "monthly 1,last 00:30", _OF_DAYS | {"every", "anchor"}
    ),
    "nth_weekday": _CadenceKind(
        "weeks_and_months", ("nth_weekday", "weekday", "time"), "nth_weekday first mon 06:00", _OF_DAYS
    ),
    "business_day": _CadenceKind(
        "weeks_and_months",
        ("business_day", "time"),
        "business_day 3,last 09:00",
        _OF_DAYS | {"every", "anchor"},
    ),
    "yearly": _CadenceKind(
        "weeks_and_months", ("yearly", "time"), "yearly 01-01,06-30 09:00", _OF_DAYS | {"every", "anchor"}
    ),
    "once": _CadenceKind(
        "_daily", ("once",), "once 2027-06-01T09:00", frozenset({"tz", "default_tz", "dst"})
    ),
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


def read_translated(written: str, original: str, language: str) -> Cadence:
    """Return the cadence that is written for a text of another language, as its user would declare it.

    Raises:
        InvalidCadence: no cadence can express the text; the error has the original.
    """
    try:
        cadence = read_text(written)
        cadence.check_can_run()
    except InvalidCadence as error:
        raise InvalidCadence(original, f"{language}: {error.problem}", error.remedy) from None
    return cadence


def _split(text: str) -> tuple[str, list[Part], list[Part]]:
    tokens = split_words(text)
    _check_separators(text)
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


def _check_separators(text: str) -> None:
    """Reject other white space than spaces and line ends, such as a no-break space from a web page."""
    for blank in re.finditer(r"\s", text):
        if not is_plain(blank[0]):
            raise InvalidCadence(
                text, f"{blank[0]!r} is not {PLAIN}", "separate words by spaces", start=blank.start(), width=1
            )


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
    # A stored text may no longer be declarable.
    function: Callable[..., Cadence] = getattr(declare, "__wrapped__", declare)
    if kind in ("every", "interval"):
        return function(seconds=seconds_in(words[0]), **arguments)
    if kind == "on_event":
        words = [_json(word, kind) if word[0] == '"' else word for word in words]
    return function(*words, **arguments)


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
        raise InvalidCadence(
            value, f"{option}: not JSON, or with a key twice", f"write it as in {example}"
        ) from None


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


# Patterns of the items of windows and calendars; other options are lists.
_ITEMS = {"window": ("[^,]+", "[^-,]+"), "calendar": ("[^;]+", "[^;:,]+")}


class SourceToken(NamedTuple):
    """A word of the text, and where it begins and ends."""

    text: str
    start: int
    end: int


class Part(NamedTuple):
    """A word, or an option's value.

    Attributes:
        label: its name in errors.
        value: its text.
        start: where the value begins.
        end: where the value ends.
        begins: where the option's name begins; for a word, as `start`.
    """

    label: str
    value: str
    start: int
    end: int
    begins: int

    @property
    def is_word(self) -> bool:
        """Whether it is a word, not an option."""
        return self.begins == self.start


def split_words(text: str) -> list[SourceToken]:
    """Return the words of a text, in order."""
    return [SourceToken(word.group(), word.start(), word.end()) for word in re.finditer(r"\S+", text)]


def option_from(token: SourceToken) -> Part:
    """Return the part of an option, ``key=value``."""
    key, _, value = token.text.partition("=")
    return Part(key, value, token.end - len(value), token.end, token.start)


def locate_error(error: InvalidCadence, text: str, parts: Sequence[Part]) -> InvalidCadence:
    """Return the error with the position of the mistake in the text; all of it if no single part is wrong."""
    start, end = _position(error, parts) or (0, len(text))
    return type(error)(text, error.problem, error.remedy, start=start, width=end - start)


def _position(error: InvalidCadence, parts: Sequence[Part]) -> tuple[int, int] | None:
    label, words = _label(error, parts), [part for part in parts if part.is_word]
    if part := next((part for part in parts if part.label == label), None):
        return _within(part, error.text)
    if words and _same(error.text, " ".join(word.value for word in words)):
        return _across(words, error.start, error.start + error.width)
    if part := next((part for part in parts if _same(part.value, error.text)), None):
        return part.start, part.end
    return (words[0].start, words[0].end) if (len(words) == 1 and not isinstance(error, NeverFires)) else None


def _label(error: InvalidCadence, parts: Sequence[Part]) -> str:
    """Return the argument that an error names at its beginning, or after ``on_event``."""
    if isinstance(error, UnknownZone):
        return "tz"
    first, _, rest = error.problem.partition(":")
    if first != "on_event":
        return first
    return next((match for match in re.findall(r"\w+", rest) if match in {part.label for part in parts}), "")


def _within(part: Part, text: str) -> tuple[int, int]:
    """Return the position of the invalid item of a part, or of all of the part."""
    if text.lower().startswith(f"{part.label}="):
        return part.begins, part.end
    for item in _items(part):
        if _same(item.group(), text):
            return part.start + item.start(), part.start + item.end()
    return part.start, part.end


def _items(part: Part) -> Iterator[re.Match[str]]:
    if len(part.value) == part.end - part.start:
        for pattern in _ITEMS.get(part.label, ("[^,]+",)):
            yield from re.finditer(pattern, part.value)


def _across(words: Sequence[Part], first: int, last: int) -> tuple[int, int]:
    """Return the position of a range of the words, which is counted with single spaces between them."""
    start, end, offset = words[0].start, words[-1].end, 0
    for word in words:
        if offset <= first < offset + len(word.value):
            start = word.start + first - offset
        if offset < last <= offset + len(word.value):
            end = word.start + last - offset
        offset += len(word.value) + 1
    return start, end


def _same(one: str, other: str) -> bool:
    return one.strip().lower() == other.strip().lower()
