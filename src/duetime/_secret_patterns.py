"""Check the setting `secret_patterns`: each pattern must be valid, and fast for every text.

A pattern is a sequence of characters and classes, such as ``CUST-[0-9]{8}``. It has no group, no alternative,
no look-around and no unbounded repeat. The product of the choices of its repeats is bounded, and so is the
number of steps that a search takes at each character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

MOST_PATTERNS = 10
_LONGEST, _LEAST, _MOST_CHOICES = 256, 3, 100
_ATOM = re.compile(
    r"(?:\\[dDwWsSbB.\-/\\^$|?*+()\[\]{}]|\[\^?(?:\\.|[^\]\\\[])+\]|[^\\\[\](){}*+?|^$])"
    r"(?:\{(?P<low>\d{1,3})(?:,(?P<high>\d{1,3}))?\}|(?P<option>\?))?"
)


def problems_of(patterns: Mapping[str, str]) -> Iterator[str]:
    """Yield the problem of each pattern that is invalid, or could be slow or hide every text."""
    if len(patterns) > MOST_PATTERNS:
        yield f"secret_patterns has {len(patterns)} patterns; at most {MOST_PATTERNS} are allowed"
    for name, pattern in patterns.items():
        if problem := _problem(pattern):
            yield f"secret_patterns[{name!r}] is {pattern!r}: {problem}"


def _problem(pattern: object) -> str:
    if not isinstance(pattern, str) or len(pattern) > _LONGEST:
        return f"use text of at most {_LONGEST} characters"
    repeats = _repeats(pattern.removeprefix("(?i)"))
    if repeats is None:
        return "use characters, classes and bounded repeats alone, as in CUST-[0-9]{8} or key_[a-z]{8,40}"
    try:
        re.compile(pattern)
    except re.error as error:
        return f"it is no regular expression: {error}"
    return _slow(repeats)


def _repeats(text: str) -> list[tuple[int, int]] | None:
    """Return the bounds of each atom's repeat; None if the text has other parts."""
    at, found = 0, list[tuple[int, int]]()
    while at < len(text):
        atom = _ATOM.match(text, at)
        if atom is None:
            return None
        low = int(atom["low"] or (0 if atom["option"] else 1))
        found.append((low, int(atom["high"] or (1 if atom["option"] else low))))
        at = atom.end()
    return found


def _slow(repeats: list[tuple[int, int]]) -> str:
    choices = 1
    for low, high in repeats:
        choices *= max(high - low + 1, 1)
    if sum(low for low, _ in repeats) < _LEAST:
        return f"it must match at least {_LEAST} characters"
    if choices > _MOST_CHOICES or sum(high for _, high in repeats) > _LONGEST:
        return (
            f"its repeats have {choices:,} combinations; at most {_MOST_CHOICES} are allowed,"
            f" and {_LONGEST} characters in all: give narrower bounds"
        )
    return ""
