"""Attribute values: between the form of requests and that of expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.emulated.expressions.values import NotCovered

Wire = Mapping[str, Any]
"""A value as in requests and responses: ``{"S": "pending"}``."""

_PLAIN = frozenset({"S", "N", "B", "BOOL", "NULL"})
_SETS = frozenset({"SS", "NS", "BS"})


class Attribute:
    """A value that an expression reads; see `tests.emulated.expressions.values.Value`."""

    __slots__ = ("type", "value")

    def __init__(self, kind: str, value: Any) -> None:
        self.type, self.value = kind, value


def read(wire: Wire) -> Attribute:
    """Convert a value of a request.

    Raises:
        NotCovered: it is no value, or an empty set.
    """
    if len(wire) != 1:
        raise NotCovered
    ((kind, value),) = wire.items()
    if kind in _PLAIN:
        return Attribute(kind, value)
    if kind == "M":
        return Attribute(kind, read_all(value))
    if kind == "L":
        return Attribute(kind, [read(part) for part in value])
    if kind in _SETS and value:
        return Attribute(kind, list(dict.fromkeys(value)))
    raise NotCovered


def read_all(wires: Mapping[str, Wire]) -> dict[str, Attribute]:
    """Convert the values of an item or of an expression."""
    return {name: read(wire) for name, wire in wires.items()}


def wire(value: Attribute) -> dict[str, Any]:
    """Convert a value to the form of responses."""
    if value.type == "M":
        return {"M": wire_all(value.value)}
    if value.type == "L":
        return {"L": [wire(part) for part in value.value]}
    return {value.type: value.value}


def wire_all(attributes: Mapping[str, Attribute]) -> dict[str, Any]:
    """Convert the attributes of an item, or the members of a map."""
    return {name: wire(value) for name, value in attributes.items()}
