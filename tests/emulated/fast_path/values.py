"""Attribute values: between the form of requests and the form in which moto stores them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType

from tests.emulated.expressions.values import NotCovered

Attributes = Mapping[str, DynamoType]
Wire = Mapping[str, Any]
"""A value as in requests and responses: ``{"S": "pending"}``."""

_NUMBER = re.compile(r"-?\d{1,20}(\.\d{1,6})?", re.ASCII)
_PLAIN = frozenset({"S", "BOOL"})
_SETS = frozenset({"SS", "NS"})


def stored(wire: Wire) -> DynamoType:
    """Convert a value of a request to moto's form.

    Raises:
        NotCovered: it is binary, null, an empty set or a rare number.
    """
    if type(wire) is not dict or len(wire) != 1:
        raise NotCovered
    ((kind, value),) = wire.items()
    if kind in _PLAIN:
        return _made(kind, value)
    read = _READERS.get(kind)
    if read is None:
        raise NotCovered
    return _made(kind, read(value))


def stored_all(wires: Mapping[str, Wire]) -> dict[str, DynamoType]:
    """Convert the values of an item or of an expression."""
    return {name: stored(wire) for name, wire in wires.items()}


def wire(value: DynamoType) -> dict[str, Any]:
    """Convert a stored value to the form of responses; containers are copied.

    Raises:
        NotCovered: it is binary.
    """
    kind = value.type
    if kind in {"S", "N", "BOOL", "NULL"}:
        return {kind: value.value}
    if kind == "M":
        return {kind: wire_all(value.value)}
    if kind == "L":
        return {kind: [wire(part) for part in value.value]}
    if kind in _SETS:
        return {kind: list(value.value)}
    raise NotCovered


def wire_all(attributes: Attributes) -> dict[str, Any]:
    """Convert the attributes of an item, or the members of a map."""
    return {name: wire(value) for name, value in attributes.items()}


def unique() -> str:
    """Return a random identifier. Unlike ``uuid4``, it does not let another thread run."""
    return f"{random.getrandbits(128):032x}"


def _made(kind: str, value: Any) -> DynamoType:
    made = DynamoType.__new__(DynamoType)  # its own constructor converts nested values again
    made.type, made.value = kind, value
    return made


def _read_number(value: Any) -> str:
    if not (isinstance(value, str) and _NUMBER.fullmatch(value)):
        raise NotCovered
    return value


def _read_set(value: Any) -> list[str]:
    if not value or len(set(value)) != len(value):
        raise NotCovered
    return list(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "N": _read_number,
    "L": lambda value: [stored(part) for part in value],
    "M": stored_all,
    "SS": _read_set,
    "NS": lambda value: _read_set([_read_number(part) for part in value]),
}
