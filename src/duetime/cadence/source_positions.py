"""Where in a cadence's text a refusal belongs: its parts with their places, and which of them a refused argument was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from duetime.cadence.errors import InvalidCadence, NeverFires, UnknownZone

_ITEMS = {"window": ("[^-]+",), "calendar": ("[^;]+", "[^;:,]+")}
"""What a window and a calendar are made of; all else is a list."""


class SourceToken(NamedTuple):
    """A word as it was written, and where it begins and ends."""

    text: str
    start: int
    end: int


class Part(NamedTuple):
    """A word, or an option's value, as an argument that refusals name."""

    label: str
    value: str
    start: int
    end: int
    begins: int
    """Where the option begins with its name; of a word, as `start`."""

    @property
    def is_word(self) -> bool:
        """Whether it is no option."""
        return self.begins == self.start


def split_words(text: str) -> list[SourceToken]:
    """The words of a text, in order."""
    return [SourceToken(each.group(), each.start(), each.end()) for each in re.finditer(r"\S+", text)]


def option_from(token: SourceToken) -> Part:
    """A token that is an option, ``key=value``."""
    key, _, value = token.text.partition("=")
    return Part(key, value, token.end - len(value), token.end, token.start)


def word_from(label: str, token: SourceToken) -> Part:
    """A token that is a word, which refusals call so."""
    return Part(label, token.text, token.start, token.end, token.start)


def locate_error(refused: InvalidCadence, whole: str, parts: Sequence[Part]) -> InvalidCadence:
    """The same refusal, pointing into the whole text; at all of it where no part alone is at fault."""
    start, end = _place(refused, parts) or (0, len(whole))
    return type(refused)(whole, refused.problem, refused.remedy, start=start, width=end - start)


def _place(refused: InvalidCadence, parts: Sequence[Part]) -> tuple[int, int] | None:
    label, words = _label(refused, parts), [part for part in parts if part.is_word]
    if part := next((part for part in parts if part.label == label), None):
        return _within(part, refused.text)
    if words and _same(refused.text, " ".join(word.value for word in words)):
        return _across(words, refused.start, refused.start + refused.width)
    if part := next((part for part in parts if _same(part.value, refused.text)), None):
        return part.start, part.end
    is_of_the_word = len(words) == 1 and not isinstance(refused, NeverFires)
    return (words[0].start, words[0].end) if is_of_the_word else None


def _label(refused: InvalidCadence, parts: Sequence[Part]) -> str:
    """Which argument a refusal names: it begins with it, or with its cadence's own name."""
    if isinstance(refused, UnknownZone):
        return "tz"
    first, _, rest = refused.problem.partition(":")
    if first != "on_event":
        return first
    known = {part.label for part in parts}
    return next((match for match in re.findall(r"\w+", rest) if match in known), "")


def _within(part: Part, text: str) -> tuple[int, int]:
    """The item of a part that was refused, or all of the part."""
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
    """Where a span of the words lies, given as if they stood one space apart."""
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
