"""Compiles conditions and filters to functions of an item's attributes and the expression's values.

The grammar: `the developer guide's page on operators and functions
<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html>`_.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tests.emulated.expressions.reader import Names, Operand, Reader, value_at
from tests.emulated.expressions.values import Attributes, NotCovered, Value, comparable, of_kind, same

Condition = Callable[[Attributes, Attributes], bool]

_ORDERS: Mapping[str, Callable[..., bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ORDERED = frozenset({"S", "N"})
_SIZED = frozenset({"S", "SS", "NS", "L", "M"})


@lru_cache(1_000)
def condition_of(text: str, names: Names) -> Condition:
    """Compile a condition or a filter.

    Raises:
        NotCovered: it has an unknown part.
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
    left, sign = _operand(reader), reader.take().upper()
    if sign == "BETWEEN":
        first = _operand(reader)
        reader.expect("AND")
        return _all_of(_ordered(">=", left, first), _ordered("<=", left, _operand(reader)))
    if sign == "IN":
        reader.expect("(")
        members = [_equal(left, member) for member in reader.listed(lambda: _operand(reader))]
        reader.expect(")")
        return lambda attributes, values: any(member(attributes, values) for member in members)
    right = _operand(reader)
    if sign == "=":
        return _equal(left, right)
    if sign == "<>":
        equal = _equal(left, right)
        return lambda attributes, values: not equal(attributes, values)
    if sign not in _ORDERS:
        raise NotCovered
    return _ordered(sign, left, right)


def _operand(reader: Reader) -> Operand:
    if not reader.is_call("SIZE"):
        return reader.operand()
    path = reader.path()
    reader.expect(")")

    def size(attributes: Attributes, _values: Attributes) -> Value | None:
        found = value_at(attributes, path)
        if found is None:
            return None
        if found.type not in _SIZED:
            raise NotCovered
        counted = found.value.encode() if found.type == "S" else found.value
        return of_kind("N", str(len(counted)), found)

    return size


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
    return _text_test(reader, frozenset({"S"}), lambda found, start: str(found).startswith(start))


def _contains(reader: Reader) -> Condition:
    return _text_test(reader, frozenset({"S", "SS"}), lambda found, part: part in found)


def _text_test(reader: Reader, kinds: frozenset[str], test: Callable[[Any, str], bool]) -> Condition:
    """Compile a call that tests a value of one of `kinds` with a text."""
    left, right = _two(reader)

    def is_true(attributes: Attributes, values: Attributes) -> bool:
        one, other = left(attributes, values), right(attributes, values)
        if one is None:
            return False
        if other is None or other.type != "S" or one.type not in kinds:
            raise NotCovered
        return test(one.value, other.value)

    return is_true


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
