"""Cadences from text: ``daily 09:00 days=mon-fri tz=Europe/Paris``, or a bare cron expression.

The words are those of the Python functions. Whatever ``Cadence.text`` writes, ``parse`` reads back; it also takes what people
write at a prompt.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from duetime.cadence.errors import InvalidCadence, nearest
from duetime.cadence.source_positions import Part, SourceToken, option_of, placed, tokens_of, word_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from duetime.cadence.cadence import Cadence
    from duetime.cadence.calendars import Calendar

_SCOPE = frozenset({"tz", "default_tz", "dst", "days", "months", "weeks", "window", "calendar"})


class _CadenceKind(NamedTuple):
    """A kind of cadence: the module it lives in, what refusals call the words behind it (None: any), an example, its options."""

    home: str
    words: tuple[str, ...] | None
    example: str
    options: frozenset[str]


_KINDS = {
    "cron": _CadenceKind("crontab", None, "cron 30 2 * * *", _SCOPE | {"day_rule"}),
    "daily": _CadenceKind("_daily", ("time",), "daily 09:00", _SCOPE),
    "every": _CadenceKind("_every", ("length",), "every 10m", _SCOPE | {"anchor"}),
    "interval": _CadenceKind("_interval", ("length",), "interval 7m", (_SCOPE | {"start"}) - {"dst"}),
    "weekly": _CadenceKind(
        "_weekly", ("weekly", "time"), "weekly mon,fri 06:00", _SCOPE | {"every", "anchor"}
    ),
    "monthly": _CadenceKind("months", ("monthly", "time"), "monthly 1,last 00:30", _SCOPE),
    "nth_weekday": _CadenceKind(
        "months", ("nth_weekday", "weekday", "time"), "nth_weekday first mon 06:00", _SCOPE
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


def parse(text: str) -> Cadence:
    """The cadence that a text says; a text that begins with no kind is a cron expression.

    Raises:
        InvalidCadence: it says none; a caret shows where it goes wrong.
    """
    try:
        return _parsed(text)
    except InvalidCadence as refused:
        from duetime.cadence.dialects import told  # noqa: PLC0415 - only a mistake needs it

        raise told(refused, text) from None


def _parsed(text: str) -> Cadence:
    kind, words, options = _split(text)
    parts = [*words, *(option for option in options if option.label != "default_tz")]
    default_tz = [option for option in options if option.label == "default_tz"]
    try:
        cadence = _made(kind, [word.value for word in words], _said(parts))
    except InvalidCadence as refused:
        raise placed(refused, text, parts) from None
    try:
        return cadence.with_default_tz(default_tz[0].value) if default_tz else cadence
    except InvalidCadence as refused:
        raise placed(refused, text, [each._replace(label="tz") for each in default_tz]) from None


def _said(parts: Sequence[Part]) -> dict[str, str]:
    return {part.label: part.value for part in parts if not part.is_word}


def _split(text: str) -> tuple[str, list[Part], list[Part]]:
    """The kind, the words behind it, and the options."""
    tokens = tokens_of(text)
    kind = tokens[0].text.lower().replace("-", "_") if tokens else "cron"
    if kind in _KINDS:
        tokens = tokens[1:]
    elif tokens and tokens[0].text[0].isalpha() and "=" not in tokens[0].text:
        raise InvalidCadence(
            text,
            f"there is no cadence {tokens[0].text[:20]!r}",
            nearest(kind, _KINDS) or f"use one of {', '.join(_KINDS)}, or a cron expression",
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
            f"{kind}: {len(words)} words where {len(known.words)} belong",
            f"write it as in {known.example}",
        )
    labels = known.words or [kind] * len(words)
    options = [option_of(token) for token in tokens if _is_option(token)]
    _check(text, options, kind, known.options)
    return kind, [word_of(*each) for each in zip(labels, words, strict=True)], options


def _is_option(token: SourceToken) -> bool:
    return token.text.partition("=")[0].replace("_", "").isalpha() and "=" in token.text


def _check(text: str, options: Sequence[Part], kind: str, allowed: frozenset[str]) -> None:
    """Refuse options that the kind does not have, and those that are said twice or say nothing."""
    for place, (key, value, _, end, begins) in enumerate(options):
        is_said = any(option.label == key for option in options[:place])
        if key not in allowed or is_said or not value:
            problem = (
                f"{kind}: {key}= is said twice" if is_said else f"{kind}: it takes no {key}={value}"[:60]
            )
            remedy = f"its options are {', '.join(sorted(allowed))}" if allowed else "it takes no options"
            raise InvalidCadence(text, problem, remedy, start=begins, width=end - begins)


def _made(kind: str, words: list[str], options: dict[str, str]) -> Cadence:
    arguments: dict[str, Any] = {key: _READERS.get(key, str)(value) for key, value in options.items()}
    if kind in ("every", "interval"):
        return _timed(kind, words[0], arguments)
    if kind == "cron":
        return _maker(kind)(" ".join(words), **arguments)
    if kind == "on_event":
        return _maker(kind)(*(_json(word, kind) if word[0] == '"' else word for word in words), **arguments)
    return _maker(kind)(*words, **arguments)


def _maker(kind: str) -> Callable[..., Cadence]:
    """The function of that name; its module is imported when the first such cadence is read."""
    maker: Callable[..., Cadence] = getattr(import_module(f"duetime.cadence.{_KINDS[kind].home}"), kind)
    return maker


def _timed(kind: str, length: str, arguments: dict[str, Any]) -> Cadence:
    """An ``every`` or ``interval``, whose length of time is one word."""
    from duetime.cadence.durations import seconds_in  # noqa: PLC0415

    start = arguments.pop("start", None)
    made = _maker(kind)(seconds=seconds_in(length), **arguments)
    return made.starting(start) if start is not None and hasattr(made, "starting") else made


def _calendar(value: str) -> Calendar:
    from duetime.cadence.options import calendar_of  # noqa: PLC0415

    return calendar_of(value)


def _number(value: str) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 6:  # noqa: PLR2004 - more than any count in use
        raise InvalidCadence(value, "every: not a number", "write it as in every=2")
    return int(value)


def _json(value: str, told: str = "match") -> Any:
    import json  # noqa: PLC0415

    try:
        return json.loads(value)
    except ValueError:
        remedy = (
            'write it as in match={"kind":["invoice"]}'
            if told == "match"
            else 'write it as in "a\\u0020name"'
        )
        raise InvalidCadence(value, f"{told}: not JSON", remedy) from None


def _instant(value: str) -> datetime:
    from datetime import datetime  # noqa: PLC0415

    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidCadence(value, "start: not an instant", "write it as in 2026-01-01T00:00:00Z") from None
    if when.utcoffset() is None:
        raise InvalidCadence(value, "start: it names no moment without a zone", "end it with Z")
    return when


_READERS: dict[str, Callable[[str], object]] = {
    "calendar": _calendar,
    "every": _number,
    "match": _json,
    "start": _instant,
}
