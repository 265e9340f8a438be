"""The marks of a pass in the form in which they are stored: equal ones of a band share one."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from duetime.settings import MOST_DUE_SHARDS

_SHARDS = frozenset(map(str, range(MOST_DUE_SHARDS)))


def pack(marks: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the marks to write, and the shards that share them.

    Args:
        marks: by name. Names of one band end in the number of a shard: ``300/7``.

    Returns:
        One mark for each group of equal ones, under the name of its first shard; and by that name, the
        numbers of the other shards: ``1-15``, ``1-6 8-15``.
    """
    written, alike = dict[str, str](), dict[str, str]()
    groups = defaultdict[tuple[str, str], list[int]](list)
    for name, mark in marks.items():
        band, _, shard = name.rpartition("/")
        if band and shard in _SHARDS:
            groups[band, mark].append(int(shard))
        else:
            written[name] = mark
    for (band, mark), shards in groups.items():
        first, *others = sorted(shards)
        written[f"{band}/{first}"] = mark
        if others:
            alike[f"{band}/{first}"] = " ".join(_spans(others))
    return written, alike


def unpack(written: Mapping[str, str], alike: Mapping[str, str]) -> dict[str, str]:
    """Return all marks by name.

    Raises:
        ValueError: a number is none of a due shard.
        LookupError: shards share a mark that was not written.
    """
    marks = dict(written)
    for name, spans in alike.items():
        band = name.rpartition("/")[0]
        for span in spans.split():
            first, _, last = span.partition("-")
            if not {first, last or first} <= _SHARDS:
                raise ValueError(f"{span!r} are no due shards")
            for shard in range(int(first), int(last or first) + 1):
                marks[f"{band}/{shard}"] = written[name]
    return marks


def _spans(numbers: Sequence[int]) -> Iterator[str]:
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        first, *others = (number for _, number in run)
        yield f"{first}-{others[-1]}" if others else f"{first}"


def to_text(marks: Mapping[str, str]) -> str:
    """Return the marks as they are stored; those of the other shards are under the empty name."""
    written, alike = pack(marks)
    return json.dumps({**written, "": alike} if alike else written)


def from_text(text: str) -> dict[str, str]:
    """Return the stored marks.

    Raises:
        ValueError: duetime did not write them.
        LookupError: as for `unpack`.
    """
    written = json.loads(text)
    alike = written.pop("", {})
    return unpack({name: str(mark) for name, mark in written.items()}, alike)
