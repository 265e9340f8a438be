"""Attribute values: what an expression compares and computes."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Protocol, TypeAlias, TypeVar


class Value(Protocol):
    """A value of an attribute; moto's ``DynamoType`` is one.

    Attributes:
        type: such as ``S``.
        value: a text for ``S`` and ``N``, values for ``L`` and ``M``, texts for sets.
    """

    type: str
    value: Any


V = TypeVar("V", bound=Value)

Attributes: TypeAlias = Mapping[str, Any]
"""The values of an item or of an expression, by name."""

_PLAIN = frozenset({"S", "BOOL", "B", "NULL"})
_SETS = frozenset({"SS", "NS", "BS"})


class NotCovered(Exception):
    """An expression has a part that this module does not know, or a value has an unexpected type."""


def same(one: Value, other: Value) -> bool:
    """Return whether both are of one type and equal; the order of a set does not matter."""
    return one.type == other.type and (one.value is other.value or comparable(one) == comparable(other))


def comparable(value: Value) -> Any:
    """Return a Python value that compares as DynamoDB compares values of this type."""
    kind = value.type
    if kind in _PLAIN:
        return value.value
    if kind == "N":
        return Decimal(value.value)
    if kind in _SETS:
        return frozenset(map(Decimal, value.value) if kind == "NS" else value.value)
    if kind == "L":
        return [(part.type, comparable(part)) for part in value.value]
    if kind == "M":
        return {name: (part.type, comparable(part)) for name, part in value.value.items()}
    raise NotCovered


def number(value: Decimal | int, like: V) -> V:
    """Return a number of the class of `like`, without zeros behind its last decimal."""
    return of_kind("N", f"{Decimal(value).normalize():f}", like)


def of_kind(kind: str, value: Any, like: V) -> V:
    """Return a value of a type, of the class of `like`; no constructor converts it."""
    made = object.__new__(like.__class__)
    made.type, made.value = kind, value
    return made
