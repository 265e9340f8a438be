"""The key condition of a query: one partition, and a range of the sort key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.emulated.expressions.reader import Names, Path, Reader
from tests.emulated.expressions.values import NotCovered, Value


@dataclass(frozen=True, slots=True)
class Bound:
    """An end of a range of sort keys.

    Attributes:
        excludes: whether the range excludes `text` itself.
    """

    text: str
    excludes: bool = False


@dataclass(frozen=True, slots=True)
class _Term:
    path: Path
    sign: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A compiled key condition.

    Attributes:
        first: compares the partition key by ``=``.
        second: compares the sort key, if there is such a term.
    """

    first: _Term
    second: _Term | None

    def partition(self, names: Sequence[str], values: Mapping[str, Value]) -> Any:
        """Return the value of the partition key.

        Raises:
            NotCovered: the terms name other attributes than `names`, or compare no texts.
        """
        if self.first.path != (names[0],) or (self.second and self.second.path != (names[1],)):
            raise NotCovered
        if any(value.type != "S" or not value.value for value in values.values()):
            raise NotCovered
        return values[self.first.values[0]]

    def bounds(self, values: Mapping[str, Value]) -> tuple[Bound | None, Bound | None]:
        """Return the first and the last sort key; None for an open end."""
        if self.second is None:
            return None, None
        sign, texts = self.second.sign, [str(values[name].value) for name in self.second.values]
        if sign == "BETWEEN" and texts[0] > texts[1]:
            raise NotCovered
        if sign == "BEGINS_WITH":
            return Bound(texts[0]), Bound(texts[0] + "\U0010ffff")
        has_first, has_last = sign in {">", ">=", "=", "BETWEEN"}, sign in {"<", "<=", "=", "BETWEEN"}
        return (
            Bound(texts[0], excludes=sign == ">") if has_first else None,
            Bound(texts[-1], excludes=sign == "<") if has_last else None,
        )


@lru_cache(100)
def key_range_of(text: str, names: Names) -> KeyRange:
    """Compile a key condition whose partition comes first.

    Raises:
        NotCovered: it has another form.
    """
    reader = Reader(text, names)
    first = _term(reader)
    second = _term(reader) if reader.skip("AND") else None
    if reader.next or first.sign != "=":
        raise NotCovered
    return KeyRange(first, second)


def _term(reader: Reader) -> _Term:
    if reader.is_call("BEGINS_WITH"):
        path = reader.path()
        reader.expect(",")
        value = _value(reader)
        reader.expect(")")
        return _Term(path, "BEGINS_WITH", (value,))
    path, sign = reader.path(), reader.take().upper()
    if sign == "BETWEEN":
        first = _value(reader)
        reader.expect("AND")
        return _Term(path, sign, (first, _value(reader)))
    if sign not in {"=", "<", "<=", ">", ">="}:
        raise NotCovered
    return _Term(path, sign, (_value(reader),))


def _value(reader: Reader) -> str:
    name = reader.take()
    if not name.startswith(":"):
        raise NotCovered
    return name
