"""Compiles update expressions to functions that compute an item's new attributes; the old ones stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from tests.emulated.expressions.reader import Names, Operand, Path, Reader, value_at
from tests.emulated.expressions.values import Attributes, NotCovered, Value, number, of_kind

Change = Callable[[dict[str, Value], Attributes, Attributes], None]
"""Changes the new attributes, given the old ones and the expression's values."""

Update = Callable[[Attributes, Attributes], dict[str, Any]]


@lru_cache(1_000)
def update_of(text: str, names: Names) -> Update:
    """Compile an update expression.

    Raises:
        NotCovered: it has an unknown part; also later, if a value has an unexpected type.
    """
    reader = Reader(text, names)
    changes = dict[str, Sequence[Change]]()
    while clause := reader.next:
        reader.take()
        if clause not in _CLAUSES or clause in changes:
            raise NotCovered
        changes[clause] = _CLAUSES[clause](reader)
    ordered = [change for clause in _CLAUSES for change in changes.get(clause, ())]

    def update(attributes: Attributes, values: Attributes) -> dict[str, Any]:
        new = dict(attributes)
        for change in ordered:
            change(new, attributes, values)
        return new

    return update


def _sets(reader: Reader) -> Sequence[Change]:
    return reader.listed(lambda: _set(reader))


def _set(reader: Reader) -> Change:
    path = reader.path()
    reader.expect("=")
    compute = _sum(reader)

    def change(new: dict[str, Value], old: Attributes, values: Attributes) -> None:
        value = compute(old, values)
        if value is None:
            raise NotCovered
        _assign(new, path, value)

    return change


def _sum(reader: Reader) -> Operand:
    left, sign = _set_operand(reader), reader.next
    if sign not in {"+", "-"}:
        return left
    reader.take()
    right, factor = _set_operand(reader), 1 if sign == "+" else -1
    return lambda old, values: _added(left(old, values), right(old, values), factor)


def _set_operand(reader: Reader) -> Operand:
    if reader.is_call("IF_NOT_EXISTS"):
        path = reader.path()
        reader.expect(",")
        default = _set_operand(reader)
        reader.expect(")")

        def first_of(old: Attributes, values: Attributes) -> Value | None:
            found = value_at(old, path)
            return default(old, values) if found is None else found

        return first_of
    if reader.is_call("LIST_APPEND"):
        front = _set_operand(reader)
        reader.expect(",")
        back = _set_operand(reader)
        reader.expect(")")
        return lambda old, values: _appended(front(old, values), back(old, values))
    return reader.operand()


def _added(one: Value | None, other: Value | None, factor: int = 1) -> Value:
    if one is None or other is None or (one.type, other.type) != ("N", "N"):
        raise NotCovered
    return number(Decimal(one.value) + factor * Decimal(other.value), one)


def _appended(front: Value | None, back: Value | None) -> Value:
    if front is None or back is None or (front.type, back.type) != ("L", "L"):
        raise NotCovered
    return of_kind("L", [*front.value, *back.value], front)


def _removals(reader: Reader) -> Sequence[Change]:
    # The last index of a list first: each removal moves those behind it.
    paths = sorted(reader.listed(reader.path), key=_last_first)
    return [_removal(path) for path in paths]


def _last_first(path: Path) -> list[tuple[int, str, int]]:
    return [(0, "", -part) if isinstance(part, int) else (1, part, 0) for part in path]


def _removal(path: Path) -> Change:
    def change(new: dict[str, Value], _old: Attributes, _values: Attributes) -> None:
        if len(path) == 1:
            new.pop(str(path[0]), None)
            return
        parent = _copied_parent(new, path)
        if isinstance(path[-1], int) and parent.type == "L":
            del parent.value[path[-1] : path[-1] + 1]
        elif isinstance(path[-1], str) and parent.type == "M":
            parent.value.pop(path[-1], None)
        else:
            raise NotCovered

    return change


def _additions(reader: Reader) -> Sequence[Change]:
    return reader.listed(lambda: _combined(reader, _plus))


def _deletions(reader: Reader) -> Sequence[Change]:
    return reader.listed(lambda: _combined(reader, _minus))


def _combined(reader: Reader, combine: Callable[[Value | None, Value], Value | None]) -> Change:
    path, operand = reader.path(), reader.operand()
    if len(path) != 1:
        raise NotCovered
    name = str(path[0])

    def change(new: dict[str, Value], old: Attributes, values: Attributes) -> None:
        value = operand(old, values)
        if value is None:
            raise NotCovered
        combined = combine(new.get(name), value)
        if combined is None:
            new.pop(name, None)
        else:
            new[name] = combined

    return change


def _plus(old: Value | None, value: Value) -> Value:
    if value.type == "N":
        return _added(number(0, value) if old is None else old, value)
    return _of_set(value, [] if old is None else _members(old, value), value.value)


def _minus(old: Value | None, value: Value) -> Value | None:
    if old is None:
        return None
    left = [member for member in _members(old, value) if member not in value.value]
    return _of_set(value, left) if left else None


def _members(old: Value, value: Value) -> list[str]:
    if (old.type, value.type) != ("SS", "SS"):
        raise NotCovered
    return list(old.value)


def _of_set(value: Value, *members: list[str]) -> Value:
    if value.type != "SS":
        raise NotCovered
    return of_kind("SS", list(dict.fromkeys(member for part in members for member in part)), value)


_CLAUSES: Mapping[str, Callable[[Reader], Sequence[Change]]] = {
    "SET": _sets,
    "ADD": _additions,
    "DELETE": _deletions,
    "REMOVE": _removals,  # last: an index in SET is the one before the removals
}


def _assign(new: dict[str, Value], path: Path, value: Value) -> None:
    if len(path) == 1:
        new[str(path[0])] = value
        return
    parent, last = _copied_parent(new, path), path[-1]
    if isinstance(last, str) and parent.type == "M":
        parent.value[last] = value
    elif isinstance(last, int) and parent.type == "L":
        parent.value[last : last + 1] = [value]
    else:
        raise NotCovered


def _copied_parent(new: dict[str, Value], path: Path) -> Value:
    """Return the container of a path's value, after copying it and all containers above it."""
    first = str(path[0])
    if first not in new:
        raise NotCovered
    node = new[first] = _copied(new[first])
    for part in path[1:-1]:
        children = node.value
        if isinstance(part, int) != (node.type == "L"):
            raise NotCovered
        try:
            child = children[part]
        except (IndexError, KeyError):
            raise NotCovered from None
        node = children[part] = _copied(child)
    return node


def _copied(container: Value) -> Value:
    if container.type == "M":
        return of_kind("M", dict(container.value), container)
    if container.type == "L":
        return of_kind("L", list(container.value), container)
    raise NotCovered
