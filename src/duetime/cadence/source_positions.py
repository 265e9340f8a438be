"""The position of a mistake in a cadence's text: the parts of the text, and the invalid part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from duetime.cadence.errors import InvalidCadence, NeverFires, UnknownZone

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
    is_of_the_word = len(words) == 1 and not isinstance(error, NeverFires)
    return (words[0].start, words[0].end) if is_of_the_word else None


def _label(error: InvalidCadence, parts: Sequence[Part]) -> str:
    """Return the argument that an error names at its beginning, or after ``on_event``."""
    if isinstance(error, UnknownZone):
        return "tz"
    first, _, rest = error.problem.partition(":")
    if first != "on_event":
        return first
    known = {part.label for part in parts}
    return next((match for match in re.findall(r"\w+", rest) if match in known), "")


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
