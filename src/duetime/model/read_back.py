"""Compare a payload with what is read back from its JSON, and give equal payloads equal JSON. Pure.

Type and ``==`` decide, part by part; a whole number may become a float. Between two datetimes with a zone it
is the instant: Python calls a time of a repeated hour unequal to the same instant at a fixed offset.
"""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time
from functools import partial
from typing import Any

from pydantic import BaseModel, RootModel

_PLAIN = {
    *("model", "model-fields", "model-field", "definitions", "definition-ref", "default", "nullable", "none"),
    *("list", "dict", "str", "int", "float", "bool", "date", "uuid"),
}
"""The kinds of nodes in the schema of a class about whose values ``==`` decides."""


def differences(value: Any, read: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each part in which two values differ, such as ``lines.0.price``.

    A class' own ``==`` decides only about what has no parts: it may leave out a field.
    """
    parts, others = _parts(value), _parts(read)
    if type(value) is type(read) and parts is not None and others is not None and [*parts] == [*others]:
        for name, part in parts.items():
            yield from differences(part, others[name], f"{path}.{name}" if path else str(name))
    elif not _is_same(value, read):
        yield path


def _parts(value: Any) -> Mapping[Any, Any] | None:
    """Return the parts of a value by name or position; None if it is compared as one."""
    if isinstance(value, BaseModel):
        extra, private = value.__pydantic_extra__ or {}, value.__pydantic_private__ or {}
        fields = {name: vars(value)[name] for name in type(value).model_fields if name in vars(value)}
        return fields | extra | private
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple | deque):
        return dict(enumerate(value))
    return {key: value[key] for key in sorted(value, key=repr)} if isinstance(value, dict) else None


def _is_same(value: Any, read: Any) -> bool:
    if isinstance(value, datetime) and isinstance(read, datetime) and value.tzinfo and read.tzinfo:
        return value.astimezone(UTC) == read.astimezone(UTC)
    if isinstance(value, time) and value.tzinfo and not getattr(read, "tzinfo", None):
        return False  # a named zone without a date, which the text lacks and ``==`` ignores
    try:
        return {type(value), type(read)} in ({type(value)}, {int, float}) and bool(value == read)
    except Exception:  # noqa: BLE001 - of the ``==`` of anyone's class
        return False


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield each node of a class' schema in pydantic's core."""
    if isinstance(schema, dict) and isinstance(schema.get("type"), str):
        yield schema
    parts = schema.values() if isinstance(schema, dict) else schema
    for part in parts if isinstance(schema, dict | list | tuple) else ():
        yield from nodes(part)


def traits(model: type[BaseModel]) -> tuple[bool, bool]:
    """Return whether a value of the class may hold a set, and whether ``==`` decides about all its values.

    A validator may make a set, and a class within it may have an ``==`` of its own.
    """
    found = list(nodes(model.__pydantic_core_schema__))
    kinds = {node["type"] for node in found}
    may_hold_sets = any(kind in {"set", "frozenset"} or kind.startswith("function-") for kind in kinds)
    return may_hold_sets, kinds <= _PLAIN and all(
        node.get("cls", BaseModel).__eq__ is BaseModel.__eq__ for node in found
    )


def with_sorted_sets(value: Any, written: Any) -> Any:
    """Return the parsed JSON of a value with its sets sorted: processes iterate sets in different orders."""
    if isinstance(value, RootModel):
        return with_sorted_sets(value.root, written)
    if isinstance(written, list) and isinstance(value, set | frozenset | list | tuple | deque):
        if len(value) != len(written):
            return written
        items = [with_sorted_sets(*pair) for pair in zip(value, written, strict=True)]
        return (
            sorted(items, key=partial(json.dumps, sort_keys=True))
            if isinstance(value, set | frozenset)
            else items
        )
    if not isinstance(written, dict):
        return written
    if isinstance(value, Mapping):
        parts = dict(zip(written, value.values(), strict=False))
    else:
        parts = {name: getattr(value, name, None) for name in written}
    return {name: with_sorted_sets(parts.get(name), part) for name, part in written.items()}
