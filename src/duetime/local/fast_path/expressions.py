"""Compiles the expressions of DynamoDB to functions of an item's attributes and the expression's values.

The grammar: `the developer guide's pages on condition and update expressions
<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html>`_.
moto has validated the expression before, so every violation only means `NotCovered`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

from moto.dynamodb.models.dynamo_type import DynamoType

from duetime.local.fast_path.values import Attributes, NotCovered, comparable, same

T = TypeVar("T")

Path: TypeAlias = tuple[str | int, ...]
"""The names and list indexes that lead to a value: ``attempts[0].f`` is ``("attempts", 0, "f")``."""

Names: TypeAlias = tuple[tuple[str, str], ...]
"""The placeholders of attribute names with the names."""

Operand = Callable[[Attributes, Attributes], DynamoType | None]
"""Computes a value from an item's attributes and the expression's values; None if the item lacks it."""

Condition = Callable[[Attributes, Attributes], bool]

_TOKEN = re.compile(r"\s*([#:]?[A-Za-z_]\w*|\d+|<=|>=|<>|[=<>()+\-,.\[\]])", re.ASCII)
_ORDERS: Mapping[str, Callable[..., bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ORDERED = frozenset({"S", "N"})


def tokens_of(text: str) -> list[str]:
    """Split an expression.

    Raises:
        NotCovered: it has an unknown character.
    """
    tokens, place, text = list[str](), 0, text.strip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise NotCovered
        tokens.append(found[1])
        place = found.end()
    return tokens


def value_at(attributes: Attributes, path: Path) -> DynamoType | None:
    """Return the value at a path, or None."""
    found = attributes.get(path[0])  # type: ignore[arg-type]  # the first part is a name
    for part in path[1:]:
        if found is None:
            return None
        if isinstance(part, int):
            found = found.value[part] if found.type == "L" and part < len(found.value) else None
        else:
            found = found.value.get(part) if found.type == "M" else None
    return found


class Reader:
    """Reads the tokens of one expression in order.

    Args:
        text: the expression.
        names: the placeholders of attribute names.
    """

    def __init__(self, text: str, names: Names) -> None:
        self._tokens, self._names, self._place = tokens_of(text), dict(names), 0

    @property
    def next(self) -> str:
        """The next token in capitals; empty at the end."""
        return self._tokens[self._place].upper() if self._place < len(self._tokens) else ""

    def take(self) -> str:
        """Return the next token and go on."""
        if self._place >= len(self._tokens):
            raise NotCovered
        self._place += 1
        return self._tokens[self._place - 1]

    def skip(self, token: str) -> bool:
        """Go on if the next token is `token`; return whether it was."""
        is_next = self.next == token
        self._place += is_next
        return is_next

    def expect(self, token: str) -> None:
        """Go on behind `token`."""
        if not self.skip(token):
            raise NotCovered

    def is_call(self, name: str) -> bool:
        """Return whether a call of the function `name` follows; go on behind its parenthesis."""
        if self.next != name or self._tokens[self._place + 1 : self._place + 2] != ["("]:
            return False
        self._place += 2
        return True

    def listed(self, read: Callable[[], T]) -> list[T]:
        """Read one or more things between commas."""
        found = [read()]
        while self.skip(","):
            found.append(read())
        return found

    def path(self) -> Path:
        """Read a path."""
        parts: list[str | int] = [self._name()]
        while True:
            if self.skip("."):
                parts.append(self._name())
            elif self.skip("["):
                parts.append(int(self.take()))
                self.expect("]")
            else:
                return tuple(parts)

    def operand(self) -> Operand:
        """Read a value's placeholder or a path."""
        if self.next.startswith(":"):
            name = self.take()
            return lambda _, values: values[name]
        path = self.path()
        if len(path) == 1:
            first = path[0]
            return lambda attributes, _: attributes.get(first)  # type: ignore[arg-type]
        return lambda attributes, _: value_at(attributes, path)

    def _name(self) -> str:
        token = self.take()
        if token.startswith("#"):
            return self._names[token]
        if not token[0].isalpha() and token[0] != "_":
            raise NotCovered
        return token


@lru_cache(1_000)
def condition_of(text: str, names: Names) -> Condition:
    """Compile a condition or a filter.

    Raises:
        NotCovered: it has a part that the fast path does not know, such as ``size``.
    """
    reader = Reader(text, names)
    condition = _either(reader)
    if reader.next:
        raise NotCovered
    return condition


def _either(reader: Reader) -> Condition:
    parts = [_both(reader)]
    while reader.skip("OR"):
        parts.append(_both(reader))
    if len(parts) == 1:
        return parts[0]
    return lambda attributes, values: any(part(attributes, values) for part in parts)


def _both(reader: Reader) -> Condition:
    parts = [_single(reader)]
    while reader.skip("AND"):
        parts.append(_single(reader))
    if len(parts) == 1:
        return parts[0]
    return lambda attributes, values: all(part(attributes, values) for part in parts)


def _single(reader: Reader) -> Condition:
    if reader.skip("NOT"):
        inner = _single(reader)
        return lambda attributes, values: not inner(attributes, values)
    if reader.skip("("):
        inner = _either(reader)
        reader.expect(")")
        return inner
    for name, build in _FUNCTIONS.items():
        if reader.is_call(name):
            return build(reader)
    return _comparison(reader)


def _comparison(reader: Reader) -> Condition:
    left, sign = reader.operand(), reader.take().upper()
    if sign == "BETWEEN":
        first = reader.operand()
        reader.expect("AND")
        return _all_of(_ordered(">=", left, first), _ordered("<=", left, reader.operand()))
    if sign == "IN":
        reader.expect("(")
        members = [_equal(left, member) for member in reader.listed(reader.operand)]
        reader.expect(")")
        return lambda attributes, values: any(member(attributes, values) for member in members)
    right = reader.operand()
    if sign == "=":
        return _equal(left, right)
    if sign == "<>":
        equal = _equal(left, right)
        return lambda attributes, values: not equal(attributes, values)
    if sign not in _ORDERS:
        raise NotCovered
    return _ordered(sign, left, right)


def _all_of(*parts: Condition) -> Condition:
    return lambda attributes, values: all(part(attributes, values) for part in parts)


def _equal(left: Operand, right: Operand) -> Condition:
    def compare(attributes: Attributes, values: Attributes) -> bool:
        one, other = left(attributes, values), right(attributes, values)
        if one is None and other is None:
            raise NotCovered
        return one is not None and other is not None and same(one, other)

    return compare


def _ordered(sign: str, left: Operand, right: Operand) -> Condition:
    compares = _ORDERS[sign]

    def compare(attributes: Attributes, values: Attributes) -> bool:
        one, other = left(attributes, values), right(attributes, values)
        if one is None or other is None:
            return False
        if one.type != other.type or one.type not in _ORDERED:
            raise NotCovered
        return compares(comparable(one), comparable(other))

    return compare


def _exists(reader: Reader) -> Condition:
    path = reader.path()
    reader.expect(")")
    return lambda attributes, _: value_at(attributes, path) is not None


def _is_absent(reader: Reader) -> Condition:
    exists = _exists(reader)
    return lambda attributes, values: not exists(attributes, values)


def _two(reader: Reader) -> tuple[Operand, Operand]:
    left = reader.operand()
    reader.expect(",")
    right = reader.operand()
    reader.expect(")")
    return left, right


def _begins_with(reader: Reader) -> Condition:
    left, right = _two(reader)

    def begins(attributes: Attributes, values: Attributes) -> bool:
        one, other = left(attributes, values), right(attributes, values)
        if one is None:
            return False
        if other is None or (one.type, other.type) != ("S", "S"):
            raise NotCovered
        return str(one.value).startswith(other.value)

    return begins


def _contains(reader: Reader) -> Condition:
    left, right = _two(reader)

    def contains(attributes: Attributes, values: Attributes) -> bool:
        one, other = left(attributes, values), right(attributes, values)
        if one is None:
            return False
        if other is None or other.type != "S" or one.type not in {"S", "SS"}:
            raise NotCovered
        return other.value in one.value

    return contains


def _is_of_type(reader: Reader) -> Condition:
    left, right = _two(reader)

    def is_of_type(attributes: Attributes, values: Attributes) -> bool:
        one, other = left(attributes, values), right(attributes, values)
        return one is not None and other is not None and one.type == other.value

    return is_of_type


_FUNCTIONS: Mapping[str, Callable[[Reader], Condition]] = {
    "ATTRIBUTE_EXISTS": _exists,
    "ATTRIBUTE_NOT_EXISTS": _is_absent,
    "BEGINS_WITH": _begins_with,
    "CONTAINS": _contains,
    "ATTRIBUTE_TYPE": _is_of_type,
}


@lru_cache(100)
def projected_names(projection: str, names: Names) -> Sequence[str]:
    """Return the attributes of a projection.

    Raises:
        NotCovered: it projects a part of an attribute.
    """
    reader = Reader(projection, names)
    paths = reader.listed(reader.path)
    if reader.next or any(len(path) != 1 for path in paths):
        raise NotCovered
    return [str(path[0]) for path in paths]
