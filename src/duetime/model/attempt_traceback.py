"""The stored traceback of a failed attempt: bounded, so that its item stays small. Pure."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import datetime

LARGEST = 4_096
"""Bytes of a stored traceback, compressed; one of ten frames and three exceptions takes about 700."""

_LONGEST = 65_536
"""Characters that are compressed, beside the line about what was left out."""

_MOST_BYTES = 4 * (_LONGEST + 100)
"""The most that is read from an item: that many characters, of four bytes each."""

_HEAD = 1 / 4
"""The share of the beginning in what is left of a longer text: the end has the exception itself."""


@dataclass(frozen=True, slots=True)
class AttemptTraceback:
    """Why an attempt failed, as Python prints it, without secrets.

    Attributes:
        started_at: the start of the attempt, which identifies it.
        text: the exceptions, the first cause first; lines may be left out of its middle.
    """

    started_at: datetime
    text: str

    @classmethod
    def from_bytes(cls, started_at: datetime, compressed: bytes) -> AttemptTraceback:
        """Return what `to_bytes` has compressed.

        Raises:
            ValueError: the bytes are no such text.
        """
        try:
            text = zlib.decompressobj().decompress(compressed, _MOST_BYTES)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        return cls(started_at, text.decode())

    def to_bytes(self) -> bytes:
        """Return the text, compressed to at most `LARGEST` bytes; lines in its middle may be left out."""
        room = min(len(self.text), _LONGEST)
        while True:
            compressed = zlib.compress(_without_middle(self.text, room).encode(errors="replace"), 9)
            if len(compressed) <= LARGEST:
                return compressed
            room = min(room - 1, room * LARGEST // len(compressed))


def _without_middle(text: str, room: int) -> str:
    """Return the text in about `room` characters: without the lines in its middle, if it is longer."""
    if len(text) <= room:
        return text
    head, tail = text[: int(room * _HEAD)], text[len(text) - int(room * (1 - _HEAD)) :]
    head, tail = head[: head.rfind("\n") + 1] or head + "\n", tail[tail.find("\n") + 1 :] or tail
    left_out = len(text) - len(head) - len(tail)
    return f"{head}  … {left_out:,} characters left out …\n{tail}"
