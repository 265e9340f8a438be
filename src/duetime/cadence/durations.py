"""Lengths of time as one word, such as ``1h30m``."""

from __future__ import annotations

import re
from datetime import timedelta

from duetime._english import counted
from duetime.cadence.errors import InvalidCadence

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_WORDS = {"d": "day", "h": "hour", "m": "minute", "s": "second"}
_TEXT = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", re.ASCII)
# A hundred years.
_LONGEST = 36_525 * 86_400


def duration_of(kind: str, **lengths: float | None) -> int:
    """Return the seconds of keyword arguments such as ``minutes=10``; None stands for a missing argument.

    Raises:
        InvalidCadence: no length, a fraction of a second, less than a second, or more than a hundred years.
    """
    parts = {unit: value for unit, value in lengths.items() if value is not None}
    if any(isinstance(value, bool) for value in parts.values()):
        raise _error(
            kind,
            f"{kind}({', '.join(f'{unit}={value}' for unit, value in parts.items())})",
            "is no length of time",
        )
    shown = f"{kind}({', '.join(f'{unit}={value}' for unit, value in parts.items())})"
    try:
        total = timedelta(**parts).total_seconds()
    except (TypeError, OverflowError, ValueError):
        raise _error(kind, shown, "is no length of time") from None
    if total <= 0:
        raise _error(kind, shown, "takes no time, so it would never stop firing")
    if total != int(total):
        raise _error(kind, shown, "has a fraction of a second")
    if total > _LONGEST:
        raise _error(kind, shown, "is longer than a hundred years")
    return int(total)


def duration_text(seconds: int) -> str:
    """Return the shortest spelling: ``1h30m`` for 90 minutes."""
    text = ""
    for unit, size in _UNITS.items():
        count, seconds = divmod(seconds, size)
        text += f"{count}{unit}" * bool(count)
    return text


def duration_words(seconds: int) -> str:
    """Return English words after ``every``: ``1 hour 30 minutes``; a single 1 is left out, as in ``hour``."""
    words = span_words(timedelta(seconds=seconds))
    return words if words.count(" ") > 1 else words.removeprefix("1 ")


def span_words(span: timedelta) -> str:
    """Return a positive span in English words, to the second: ``1 hour 30 minutes``, or ``0 seconds``."""
    seconds, words = round(span.total_seconds()), []
    for unit, size in _UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            words.append(counted(count, _WORDS[unit]))
    return " ".join(words) or "0 seconds"


def seconds_in(text: str) -> int:
    """Return the seconds of a text such as ``1h30m``.

    Raises:
        InvalidCadence: the text is no length of time.
    """
    match = _TEXT.fullmatch(text)
    if match is None or not text or len(text) > 20:  # noqa: PLR2004 - a hundred years has fewer digits
        raise InvalidCadence(text, f"{text[:20]!r} is no length of time", "write it as in 10m, 1h30m or 45s")
    total = sum(int(count or 0) * size for count, size in zip(match.groups(), _UNITS.values(), strict=True))
    if not total:
        raise InvalidCadence(
            text, f"{text} takes no time, so it would never stop firing", "write it as in 10m"
        )
    return total


def _error(kind: str, shown: str, problem: str) -> InvalidCadence:
    start = len(kind) + 1
    width = len(shown) - start - 1
    remedy = "give at least one second, in whole seconds, as in minutes=10"
    return InvalidCadence(
        shown, f"{kind}: {shown[start:-1] or 'nothing'} {problem}", remedy, start=start, width=width
    )
