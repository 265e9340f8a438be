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
from functools import cache, partial
from typing import Any

from pydantic import BaseModel, RootModel

_MISSING = object()
_WITHOUT_PARTS = {str, int, float, bool, type(None)}


def differences(value: Any, read: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each part in which two values differ, such as ``lines.0.price``.

    A class' own ``==`` decides only about what has no parts: it may leave out a field.
    """
    has_parts = type(value) is type(read) and type(value) not in _WITHOUT_PARTS
    parts, others = (_parts(value), _parts(read)) if has_parts else (None, None)
    if parts is None or others is None:
        if not _is_same(value, read):
            yield path
    else:
        for key in parts | others:
            name = f"{path}.{key[1]}" if path else str(key[1])
            yield from differences(parts.get(key, _MISSING), others.get(key, _MISSING), name)


def _parts(value: Any) -> dict[tuple[type, Any], Any] | None:
    """Return the parts of a value by name or position, with its type; None if it is compared as one.

    Those of a model are also attributes that nothing declares; a cached property is none.
    """
    if isinstance(value, BaseModel):
        model, fields = type(value), type(value).__pydantic_fields__
        parts: dict[Any, Any] = {
            name: part for name, part in vars(value).items() if name in fields or not hasattr(model, name)
        }
        parts |= (value.__pydantic_extra__ or {}) | (value.__pydantic_private__ or {})
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    elif isinstance(value, list | tuple | deque):
        parts = dict(enumerate(value))
    elif isinstance(value, dict):
        parts = value
    else:
        return None
    return {(type(name), name): part for name, part in parts.items()}


def _is_same(value: Any, read: Any) -> bool:
    if type(value) is not type(read):
        return type(value) is int and type(read) is float and bool(value == read)
    if isinstance(value, datetime) and value.tzinfo and read.tzinfo:
        return bool(value.astimezone(UTC) == read.astimezone(UTC))
    if isinstance(value, datetime | time) and (value.fold, not value.tzinfo) != (read.fold, not read.tzinfo):
        return False  # ``==`` ignores the second pass of an hour, and the zone of a time
    try:
        if isinstance(value, set | frozenset) and value == read:
            found = {item: item for item in read}
            return not any(differences([*value], [found[item] for item in value]))
        return bool(value == read)
    except Exception:  # noqa: BLE001 - of the ``==`` of anyone's class
        return False


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield each node of a class' schema in pydantic's core."""
    if isinstance(schema, dict) and isinstance(schema.get("type"), str):
        yield schema
    parts = schema.values() if isinstance(schema, dict) else schema
    for part in parts if isinstance(schema, dict | list | tuple) else ():
        yield from nodes(part)


@cache
def may_hold_sets(model: type[BaseModel]) -> bool:
    """Return whether a value of a class may hold a set, which a validator may make."""
    kinds = {node["type"] for node in nodes(model.__pydantic_core_schema__)}
    return any(kind in {"set", "frozenset"} or kind.startswith("function-") for kind in kinds)


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
