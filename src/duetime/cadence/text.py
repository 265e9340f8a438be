"""Cadences from text: ``daily 09:00 days=mon-fri tz=Europe/Paris``, or a bare cron expression.

The words are those of the Python functions. Whatever ``Cadence.text`` writes, ``parse`` reads back; it also takes what people
write at a prompt.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from duetime.cadence.errors import InvalidCadence

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from duetime.cadence.cadence import Cadence
    from duetime.cadence.calendars import Calendar

_SCOPE = frozenset({"tz", "default_tz", "dst", "days", "months", "weeks", "window", "calendar"})


class _Kind(NamedTuple):
    """A kind of cadence: the module it lives in, how many words follow it (None: any), an example, and its options."""

    home: str
    words: int | None
    example: str
    options: frozenset[str]


_KINDS = {
    "cron": _Kind("crontab", None, "cron 30 2 * * *", _SCOPE | {"day_rule"}),
    "daily": _Kind("at_a_time", 1, "daily 09:00", _SCOPE),
    "every": _Kind("spaced", 1, "every 10m", _SCOPE | {"anchor"}),
    "interval": _Kind("elapsed", 1, "interval 7m", (_SCOPE | {"start"}) - {"dst"}),
    "weekly": _Kind("weeks", 2, "weekly mon,fri 06:00", _SCOPE | {"every", "anchor"}),
    "monthly": _Kind("months", 2, "monthly 1,last 00:30", _SCOPE),
    "nth_weekday": _Kind("months", 3, "nth_weekday first mon 06:00", _SCOPE),
    "once": _Kind("single", 1, "once 2027-06-01T09:00", frozenset({"tz", "default_tz", "dst"})),
    "on_event": _Kind(
        "triggers",
        2,
        "on_event orders OrderPlaced",
        frozenset({"match", "tenant", "no_tenant", "default_tz"}),
    ),
    "manual": _Kind("triggers", 0, "manual", frozenset({"default_tz"})),
}


def parse(text: str) -> Cadence:
    """The cadence that a text says; a text that begins with no kind is a cron expression.

    Raises:
        InvalidCadence: it says none; a caret shows where it goes wrong.
    """
    kind, words, options = _split(text)
    default_tz = options.pop("default_tz", None)
    try:
        cadence = _made(kind, words, options)
        return cadence if default_tz is None else cadence.with_default_tz(default_tz)
    except InvalidCadence as refused:
        raise refused.within(text) from None


def _split(text: str) -> tuple[str, list[str], dict[str, str]]:
    """The kind, the words behind it, and the options."""
    tokens = text.split()
    kind = tokens[0].lower().replace("-", "_") if tokens else "cron"
    if kind in _KINDS:
        tokens = tokens[1:]
    elif tokens and tokens[0][0].isalpha() and "=" not in tokens[0]:
        raise InvalidCadence(
            text,
            f"there is no cadence {tokens[0][:20]!r}",
            f"use one of {', '.join(_KINDS)}, or a cron expression",
            width=len(tokens[0]),
        )
    else:
        kind = "cron"
    known = _KINDS[kind]
    if kind == "once" and len(tokens) > 1 and "=" not in tokens[1]:
        tokens[:2] = ["T".join(tokens[:2])]
    words = [token for token in tokens if not _is_option(token)]
    if known.words not in (None, len(words)):
        raise InvalidCadence(
            text, f"{kind}: {len(words)} words where {known.words} belong", f"write it as in {known.example}"
        )
    return kind, words, _options(text, [token for token in tokens if _is_option(token)], kind, known.options)


def _is_option(token: str) -> bool:
    return token.partition("=")[0].replace("_", "").isalpha() and "=" in token


def _options(text: str, tokens: list[str], kind: str, allowed: frozenset[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for token in tokens:
        key, _, value = token.partition("=")
        if key not in allowed or key in options or not value:
            problem = (
                f"{kind}: {key}= is said twice" if key in options else f"{kind}: it takes no {token[:40]}"
            )
            remedy = f"its options are {', '.join(sorted(allowed))}" if allowed else "it takes no options"
            raise InvalidCadence(text, problem, remedy, start=text.index(token), width=len(token))
        options[key] = value
    return options


def _made(kind: str, words: list[str], options: dict[str, str]) -> Cadence:
    arguments: dict[str, Any] = {key: _READERS.get(key, str)(value) for key, value in options.items()}
    if kind in ("every", "interval"):
        return _timed(kind, words[0], arguments)
    if kind == "cron":
        return _maker(kind)(" ".join(words), **arguments)
    if kind == "on_event":
        return _maker(kind)(*(_json(word) if word[0] == '"' else word for word in words), **arguments)
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


def _json(value: str) -> Any:
    import json  # noqa: PLC0415

    try:
        return json.loads(value)
    except ValueError:
        raise InvalidCadence(value, "match: not JSON", 'write it as in match={"kind":["invoice"]}') from None


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
