"""Weekdays, months, weeks, times of day and lengths of time: conversions between input, numbers and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import time, timedelta
from typing import NamedTuple

from duetime._english import counted
from duetime.cadence.errors import InvalidCadence

WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKS = ("first", "second", "third", "fourth", "fifth", "last")

BLANKS = " \t\r\n"
"""The white space that separates words."""
PLAIN = "an ASCII character"

WEEKDAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_SHORTHANDS = {"weekdays": "mon-fri", "weekday": "mon-fri", "weekend": "sat-sun", "weekends": "sat-sun"}
MOST_RUNS = 10_000
"""The highest count."""
DATE_LENGTH = 10
"""Characters of a date, as in ``2027-01-04``."""
MOST_TIMES = 24
"""Times of day at most of a cadence that lists them."""
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
# Consecutive values that become a range, at least.
_RUN = 3


class _WordKind(NamedTuple):
    """A kind of words.

    Attributes:
        names: the words.
        low: the bit of the first word.
        numbered: how many words also have a number, from 1.
    """

    names: tuple[str, ...]
    low: int
    numbered: int


_WEEKDAY = _WordKind(WEEKDAYS, 0, 0)
_MONTH = _WordKind(MONTHS, 1, 12)
_WEEK = _WordKind(WEEKS, 0, 5)


def is_plain(char: str) -> bool:
    """Return whether a cadence may contain a character: visible ASCII, or one of `BLANKS`."""
    return " " <= char <= "~" or char in BLANKS


def as_text(given: str, example: str) -> str:
    """Return a text as it is.

    Raises:
        InvalidCadence: it is no text.
    """
    if not isinstance(given, str):
        raise InvalidCadence(str(given), f"{str(given)[:20]} is no text", f"write it as in {example!r}")
    return given


def weekdays_mask(given: str | Iterable[str | int], option: str = "days") -> int:
    """Return weekdays as a mask, Sunday as bit 0: ``"mon-fri"``, ``"weekdays"``, ``["mon", "wed"]``.

    Raises:
        InvalidCadence: a word is not a weekday.
    """
    return _mask(given, _WEEKDAY, option, "use mon, tue, wed, thu, fri, sat, sun, or a range such as mon-fri")


def months_mask(given: str | Iterable[str | int], option: str = "months") -> int:
    """Return months as a mask, January as bit 1: ``"jan,jun-aug"``, ``[1, 6]``, ``"nov-feb"``.

    Raises:
        InvalidCadence: a word is no month.
    """
    return _mask(given, _MONTH, option, "use jan to dec or 1-12, or a range such as jun-aug")


def weeks_mask(given: str | Iterable[str | int], option: str = "weeks") -> int:
    """Return weeks of the month as a mask: bits 0 to 4 for the first to the fifth, bit 5 for the last.

    Raises:
        InvalidCadence: a word is no week.
    """
    return _mask(given, _WEEK, option, "use first, second, third, fourth, fifth, last or 1-5")


def weekdays_text(mask: int) -> str:
    """Return the canonical text of a mask of weekdays, Monday first."""
    return ",".join(ranges([day for day in (*range(1, 7), 0) if mask >> day & 1], WEEKDAYS, count=7))


def months_text(mask: int) -> str:
    """Return the canonical text of a mask of months."""
    return ",".join(ranges([n - 1 for n in bits(mask)], MONTHS, count=12))


def weeks_text(mask: int) -> str:
    """Return the canonical text of a mask of weeks."""
    return ",".join(name for n, name in enumerate(WEEKS) if mask >> n & 1)


def weekdays_words(mask: int) -> str:
    """Return weekdays in English, as in ``Monday to Friday``."""
    return _as_english(weekdays_text(mask), dict(zip(WEEKDAYS, WEEKDAY_NAMES, strict=True)))


def months_words(mask: int) -> str:
    """Return months in English, as in ``June to August``."""
    return _as_english(months_text(mask), dict(zip(MONTHS, MONTH_NAMES, strict=True)))


def second_of_day(given: str | time, option: str = "time") -> int:
    """Return a local time of day, in seconds since midnight: ``"09:00"``, ``"09:00:30"`` or a naive ``time``.

    Raises:
        InvalidCadence: it is not a time of day, or has a zone or a fraction.
    """
    if isinstance(given, time):
        if given.tzinfo is not None or given.microsecond:
            raise InvalidCadence(
                str(given),
                f"{option}: a time of day has no zone and no fraction",
                "give hours to seconds, and tz= for the zone",
            )
        return given.hour * 3_600 + given.minute * 60 + given.second
    match = _CLOCK.fullmatch(str(given).strip(BLANKS))
    if match is None:
        raise InvalidCadence(
            str(given), f"{option}: {str(given)[:20]!r} is no time of day", "use 00:00 to 23:59, or 09:00:30"
        )
    hour, minute, second = match.groups(default="0")
    return int(hour) * 3_600 + int(minute) * 60 + int(second)


def seconds_of_day(given: str | time) -> tuple[int, tuple[int, ...]]:
    """Return the first of some local times of day, and the later ones, in seconds since midnight.

    Raises:
        InvalidCadence: one is not a time of day, one is given twice, or there are too many.
    """
    times = [second_of_day(text) for text in (given.split(",") if isinstance(given, str) else [given])]
    if not len({*times}) == len(times) <= MOST_TIMES:
        raise InvalidCadence(
            str(given),
            f"time: it lists {len(times)} times of day, or one of them twice",
            f"list 1-{MOST_TIMES} different ones, or use a cron expression",
        )
    first, *later = sorted(times)
    return first, tuple(later)


def clock_text(second: int) -> str:
    """Return a time of day as ``09:00``, with seconds unless they are zero."""
    text = f"{second // 3_600:02}:{second // 60 % 60:02}"
    return f"{text}:{second % 60:02}" if second % 60 else text


def windows_text(windows: Sequence[tuple[int, int]]) -> str:
    """Return windows as ``09:00-12:00,13:00-17:00``."""
    return ",".join("-".join(map(clock_text, window)) for window in windows)


def before_last(back: int) -> str:
    """Return the n-th day before the last of a month, as in ``day 3 days before the last day``."""
    if back == 0:
        return "last day"
    return f"day {f'{back} days ' if back > 1 else ''}before the last day"


def listed(words: list[str], last: str = "and") -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _as_english(text: str, names: dict[str, str]) -> str:
    return listed([" to ".join(names[word] for word in part.split("-")) for part in text.split(",")])


def _mask(given: str | Iterable[str | int], kind: _WordKind, option: str, remedy: str) -> int:
    if not isinstance(given, Iterable):
        raise InvalidCadence(
            str(given), f"{option}: {str(given)[:20]} is no word, and no list of words", remedy
        )
    items = given.split(",") if isinstance(given, str) else [str(item) for item in given]
    mask = 0
    for item in items:
        text = item.strip(BLANKS).lower()
        first, dash, last = _SHORTHANDS.get(text, text).partition("-")
        start = _number(first, kind)
        end = _number(last, kind) if dash else start
        if start is None or end is None or (kind is _WEEK and end < start):
            shown, is_range = item.strip(BLANKS) or option, None not in (start, end)
            problem = "is a range that runs backwards" if is_range else "is not one of its words"
            raise InvalidCadence(shown, f"{option}: {shown[:20]!r} {problem}", remedy)
        count = len(kind.names)
        for step in range((end - start) % count + 1):
            mask |= 1 << (start - kind.low + step) % count + kind.low
    if not mask:
        raise InvalidCadence(option, f"{option}: nothing is listed", remedy)
    return mask


def _number(word: str, kind: _WordKind) -> int | None:
    """Return the bit of a word or a number; weekdays have no numbers, which differ by scheduler."""
    if word in kind.names:
        return kind.names.index(word) + kind.low
    if word.isascii() and word.isdigit() and len(word) <= 2 and 1 <= int(word) <= kind.numbered:  # noqa: PLR2004 - 10 to 12
        return int(word) - 1 + kind.low
    return None


def bits(mask: int) -> list[int]:
    """Return the numbers of the bits of a mask."""
    return [n for n in range(mask.bit_length()) if mask >> n & 1]


def ranges(values: list[int], names: Sequence[str], *, joint: str = "-", count: int = 0) -> list[str]:
    """Return the names of values, three and more consecutive ones as a range; `count` wraps the values."""
    parts: list[list[int]] = []
    for value in values:
        if parts and value == ((parts[-1][-1] + 1) % count if count else parts[-1][-1] + 1):
            parts[-1].append(value)
        else:
            parts.append([value])
    return [
        text
        for part in parts
        for text in (
            [f"{names[part[0]]}{joint}{names[part[-1]]}"]
            if len(part) >= _RUN
            else [names[value] for value in part]
        )
    ]


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
